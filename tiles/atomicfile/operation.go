package atomicfile

import "os"

// operation is a system call that changes files: create, write, sync, close, rename or remove.
// Files make these calls through perform, which injects faults in builds with the tag campaign.
// Exceptions: AbortAll removes files directly, and files that aren't committed are closed directly.
type operation struct {
	name          string
	file          *os.File  // file to write or sync
	created       **os.File // result of create
	path, newPath string
	data          []byte
	offset        int64 // offset of data; -1 for the file's current offset
}

func syncFile(f *os.File) error {
	_, err := perform(operation{name: "sync", file: f}, func([]byte) (int, error) { return 0, f.Sync() })
	return err
}

func changePath(name, path, to string, do func() error) error {
	_, err := perform(operation{name: name, path: path, newPath: to}, func([]byte) (int, error) { return 0, do() })
	return err
}

func rename(path, to string) error {
	return changePath("rename", path, to, func() error { return os.Rename(path, to) })
}

func remove(path string) error {
	return changePath("remove", path, "", func() error { return os.Remove(path) })
}
