package atomicfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openUnnamed opens the file without a name. It is an error where it couldn't get one later, which
// another file has tried out in the same folder.
func openUnnamed(f *File, perm fs.FileMode) error {
	folder, _ := filepath.Split(f.pattern)
	open := func() (*os.File, error) {
		return os.OpenFile(cmp.Or(folder, "."), unix.O_TMPFILE|os.O_WRONLY, perm)
	}
	if !making.links[folder] {
		trial, err := open()
		if err != nil {
			return err
		}
		defer trial.Close()
		name := f.temporary()
		if err := linkUnnamed(trial, name); err != nil {
			return err
		}
		_ = os.Remove(name)
		making.links[folder] = true
	}
	file, err := open()
	f.file = file
	return err
}

// linkUnnamed gives a file without a name one that no file has.
func linkUnnamed(file *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", file.Fd()), unix.AT_FDCWD, path,
		unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: file.Name(), New: path, Err: err}
	}
	return nil
}
