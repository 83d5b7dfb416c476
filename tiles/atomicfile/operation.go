package atomicfile

import "os"

// operation is one request to the operating system that changes files: create, write, sync, close,
// rename or remove. All of this package pass through perform, where a campaign makes them fail and writes them down.
type operation struct {
	name     string
	file     *os.File  // what is written or synced
	made     **os.File // what create opens
	path, to string
	data     []byte
	offset   int64 // of data; -1 where the last write ended
}

func syncFile(f *os.File) error {
	_, err := perform(operation{name: "sync", file: f}, func([]byte) (int, error) { return 0, f.Sync() })
	return err
}

// change performs an operation on names.
func change(name, path, to string, do func() error) error {
	_, err := perform(operation{name: name, path: path, to: to}, func([]byte) (int, error) { return 0, do() })
	return err
}

func rename(path, to string) error {
	return change("rename", path, to, func() error { return os.Rename(path, to) })
}

func remove(path string) error {
	return change("remove", path, "", func() error { return os.Remove(path) })
}
