package corpus

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// zipped returns a zip file of the given members, their contents as they are.
func zipped(t *testing.T, members ...string) string {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(members); i += 2 {
		f := musttest.Get(z.CreateHeader(&zip.FileHeader{Name: members[i]}))(t)
		musttest.Get(f.Write([]byte(members[i+1])))(t)
	}
	musttest.Do(t, z.Close())
	return out.String()
}

// A file reads the same from memory and in place.
func TestNPZInMemory(t *testing.T) {
	const rows, cols = 1000, 1200
	npy := func(descr, shape, values string) string {
		return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n%s",
			fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape), values)
	}
	var offsets, indices, data []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows + 1 {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(i*cols/3))
		for j := 0; j < cols && i < rows; j += 3 {
			indices = binary.LittleEndian.AppendUint16(indices, uint16(j))
			data = append(data, 1+byte(rng.IntN(255)))
		}
	}
	nnz := fmt.Sprint(len(data), ",")
	text := zipped(t, "format.npy", npy("|S3", "", "csr"),
		"shape.npy", npy("<u2", "2,", string(binary.LittleEndian.AppendUint16(
			binary.LittleEndian.AppendUint16(nil, rows), cols))),
		"indptr.npy", npy("<u4", fmt.Sprint(rows+1, ","), string(offsets)),
		"indices.npy", npy("<u2", nnz, string(indices)), "data.npy", npy("|u1", nnz, string(data)))
	path := writeFile(t, "a.npz", text)
	want := readWhole(t, path, Options{})
	got := musttest.Get(ReadFrom(context.Background(), strings.NewReader(text), path, Options{}))(t)
	if want.Documents.NNZ() != int64(len(data)) || got.Digest() != want.Digest() {
		t.Errorf("%d entries, expected %d; from memory the digest is %v, in place %v", want.Documents.NNZ(), len(data),
			got.Digest(), want.Digest())
	}
	for i, v := range data[:400] {
		if _, values := want.Documents.Row(0); values[i] != float32(v) {
			t.Fatalf("value %d of row 0 is %v, expected %d", i, values[i], v)
		}
	}
}

// A list of a million members takes many times its bytes of memory: it is refused before it is read.
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
		if _, err := read(); err == nil || !strings.Contains(err.Error(), "a list of members of more than 1 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
