package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Free returns the free space of a folder's disk in bytes, or false if the system doesn't tell.
func Free(folder string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(cmp.Or(folder, "."), &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(min(s.Bavail, math.MaxInt64/uint64(s.Bsize)) * uint64(s.Bsize)), true
}

// openUnnamed opens the file without a name. It is an error where it couldn't get one later, which
// another file has tried out in the same folder.
func openUnnamed(f *File, perm fs.FileMode) error {
	folder, _ := filepath.Split(f.pattern)
	open := func() (file *os.File, err error) { // which errors call by its later name
		_, err = perform(operation{name: "open", path: f.path, made: &file}, func([]byte) (int, error) {
			fd, err := unix.Open(cmp.Or(folder, "."), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, uint32(perm))
			if err == nil {
				file = os.NewFile(uintptr(fd), f.path)
			}
			return 0, err
		})
		return file, err
	}
	if !making.links[folder] {
		trial, err := open()
		if err != nil {
			return err
		}
		defer trial.Close()
		name := f.temporary()
		if err = linkUnnamed(trial, name); !errors.Is(err, fs.ErrExist) {
			_ = remove(name) // a link that failed may have made it all the same
		}
		if err != nil {
			return err
		}
		making.links[folder] = true
	}
	var err error
	if f.file, err = open(); err == nil {
		_ = syscall.Flock(int(f.file.Fd()), syscall.LOCK_EX) // for the name that it has while it replaces another
	}
	return err
}

// linkUnnamed gives a file without a name one that no file has.
func linkUnnamed(file *os.File, path string) error {
	_, err := perform(operation{name: "link", file: file, path: path}, func([]byte) (int, error) {
		return 0, unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", file.Fd()), unix.AT_FDCWD, path,
			unix.AT_SYMLINK_FOLLOW)
	})
	if err != nil {
		return &os.LinkError{Op: "link", Old: file.Name(), New: path, Err: err}
	}
	return nil
}

// hold opens a file with a lock that no other process or caller has, until the file is closed; nil
// where that can't be. With wait it waits until nobody else has it.
func hold(path string, wait bool) *os.File {
	file, err := os.OpenFile(path, os.O_RDWR, 0) // NFS locks what can be written alone
	if err != nil {
		return nil
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	if syscall.Flock(int(file.Fd()), how) != nil {
		file.Close()
		return nil
	}
	return file
}

// keep gives a file the owner, group and permissions of another, as far as the process may.
func keep(file *os.File, of fs.FileInfo) {
	perm := of.Mode().Perm()
	if was, ok := of.Sys().(*syscall.Stat_t); ok {
		if file.Chown(int(was.Uid), int(was.Gid)) != nil && file.Chown(-1, int(was.Gid)) != nil {
			perm = perm&^0o070 | perm&(perm&0o007<<3)
		}
	}
	_ = file.Chmod(perm)
}
