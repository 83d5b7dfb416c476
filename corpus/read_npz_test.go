package corpus

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// zipped returns a zip file of the given members, uncompressed.
func zipped(t *testing.T, members ...string) string {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(members); i += 2 {
		f := musttest.Get(z.CreateHeader(&zip.FileHeader{Name: members[i]}))(t)
		musttest.Get(f.Write([]byte(members[i+1])))(t)
	}
	musttest.NoError(t, z.Close())
	return out.String()
}

// A list of a million members would take many times its size in memory, so it isn't read.
func TestManyMembersOfNPZ(t *testing.T) {
	var members []string
	for i := range 22000 {
		members = append(members, fmt.Sprintf("%08d", i), "")
	}
	text := zipped(t, members...)
	path := writeFile(t, "a.npz", text)
	for name, read := range map[string]func() (*Corpus, error){
		"file": func() (*Corpus, error) { return Read(context.Background(), path, Options{}) },
		"stream": func() (*Corpus, error) {
			return ReadFrom(context.Background(), strings.NewReader(text), path, Options{})
		},
	} {
		musttest.WantError(read())(t, name, "a zip directory of more than 1 MiB")
	}
}
