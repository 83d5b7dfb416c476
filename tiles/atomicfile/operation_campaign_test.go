//go:build campaign

package atomicfile

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A link that is made and reported as failed leaves no temporary name.
func TestLinkFailsLate(t *testing.T) {
	defer func() { faults.at = 0 }()
	for at := range 20 {
		folder := t.TempDir()
		path := filepath.Join(folder, "a")
		if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		faults.at, faults.how, faults.errno = faults.n+1+at, "short", syscall.ENOSPC
		f, err := Create(path, "")
		if err == nil {
			_, _ = f.Write([]byte("new"))
			_ = f.Commit()
			f.Abort()
		}
		if names := entries(t, folder); !slices.Equal(names, []string{"a"}) {
			t.Errorf("operation %d: the folder has %q", at, names)
		}
	}
}
