package atomicfile_test

import (
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/tiles/atomicfile"
)

func TestDoors(t *testing.T) {
	folder := t.TempDir()
	file := func() *atomicfile.File {
		f := musttest.Get(atomicfile.Create(filepath.Join(folder, "x"), ".x-*"))(t)
		t.Cleanup(f.Abort)
		return f
	}
	doortest.Run(t, doortest.Package{
		Good:      []any{file},
		Calls:     [][]any{{atomicfile.Create, "x", ".x-*"}, {atomicfile.Sweep, folder, ".x-*"}},
		Elsewhere: map[string]string{"AbortAll": "TestAbortAll"},
	})
}
