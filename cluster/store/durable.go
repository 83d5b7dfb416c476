package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// syncedFolders is the set of folders whose entries in their parent folders are synced to disk.
type syncedFolders struct{ folders sync.Map }

// syncParents syncs the directory entries of a file and of its parent folders in the store. The
// contents of the file must already be synced.
func (s *syncedFolders) syncParents(store, path string) error {
	dir := filepath.Dir(path)
	if err := syncFolder(dir); err != nil {
		return err
	}
	if _, known := s.folders.Load(dir); known {
		return nil
	}
	if dir == store {
		_ = syncFolder(filepath.Dir(dir)) // errors are ignored, because the user may lack access to the parent
	} else if err := s.syncParents(store, dir); err != nil {
		return err
	}
	s.folders.Store(dir, true)
	return nil
}

func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
