//go:build linux || darwin || freebsd || netbsd || openbsd

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

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
