package atomicfile

import (
	"cmp"
	"io/fs"
	"math"
	"os"
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
