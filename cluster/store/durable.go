package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// settled are the folders of a store whose own names are known to be on the disk.
type settled struct{ folders sync.Map }

// settle returns when the name of a file is as safe from a power failure as the file system makes it, with
// those of the folders of the store that it is in. The file's bytes must be synced before it has its name.
func (s *settled) settle(store, path string) error {
	dir := filepath.Dir(path)
	if err := syncFolder(dir); err != nil {
		return err
	}
	if _, known := s.folders.Load(dir); known {
		return nil
	}
	if dir == store {
		_ = syncFolder(filepath.Dir(dir)) // which needn't be ours to open
	} else if err := s.settle(store, dir); err != nil {
		return err
	}
	s.folders.Store(dir, true)
	return nil
}

// syncFolder syncs a folder, where the system has such a thing.
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
