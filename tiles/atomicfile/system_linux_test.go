package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// If the group of a file can't be set, the group gets only the permissions of others.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for perm, want := range map[fs.FileMode]fs.FileMode{0o640: 0o600, 0o664: 0o644, 0o604: 0o604} {
		musttest.NoError(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, perm)))
		if os.Getuid() == 0 { // root may set owner and group
			if err := os.Chown(path, 1234, 5678); err != nil {
				t.Skip(err)
			}
			want = perm
		}
		f := musttest.Get(Create(path, ""))(t)
		if os.Getuid() != 0 {
			f.existing = foreign{f.existing}
		}
		musttest.NoError(t, f.Commit())
		if got := mode(t, path); got != want {
			t.Errorf("permissions %v become %v, expected %v", perm, got, want)
		}
		info, err := os.Stat(path)
		if owner := fmt.Sprintf("%+v", info.Sys()); err != nil || os.Getuid() == 0 &&
			!(strings.Contains(owner, "Uid:1234") && strings.Contains(owner, "Gid:5678")) {
			t.Errorf("owner %s, expected 1234:5678; error %v", owner, err)
		}
	}
}

// foreign is a file of another owner and group.
type foreign struct{ fs.FileInfo }

func (foreign) Sys() any { return &syscall.Stat_t{Uid: 1234, Gid: 5678} }
