package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Files, folders and generated sources can be read twice, streams can't.
func TestRereadable(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a.tsv")
	musttest.NoError(t, os.WriteFile(file, nil, 0o600))
	for source, want := range map[string]bool{
		file: true, folder: true, "synthetic:docs=5": true, "goroot": true, "-": false, os.DevNull: false,
	} {
		if got := IsRereadable(source); got != want {
			t.Errorf("%s: %t, expected %t", source, got, want)
		}
	}
}
