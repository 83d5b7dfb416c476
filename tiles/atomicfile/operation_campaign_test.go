//go:build campaign

package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// An operation that succeeds but is reported as failed leaves no temporary file.
func TestFailsLate(t *testing.T) {
	defer func() { faults.at = 0 }()
	for at := range 20 {
		folder := t.TempDir()
		path := filepath.Join(folder, "a")
		musttest.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
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

// If syncing the file or its folder fails, Commit fails, and the file is the old or the new one.
func TestSyncFails(t *testing.T) {
	defer func() { faults.at = 0 }()
	for later, want := range []string{"old", "new"} {
		path := filepath.Join(t.TempDir(), "a")
		musttest.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
		f := musttest.Get(Create(path, ""))(t)
		defer f.Abort()
		musttest.Get(f.Write([]byte("new")))(t)
		faults.at, faults.how, faults.errno = faults.n+1, "fail", syscall.EIO
		if later == 1 { // after sync, close, rename and remove
			faults.at += 4
		}
		musttest.WantError(f.Commit())(t, fmt.Sprintf("a failure of sync %d", later))
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("after sync %d fails: %q, expected %q", later, got, want)
		}
	}
}
