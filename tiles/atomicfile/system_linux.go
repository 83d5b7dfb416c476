package atomicfile

import (
	"cmp"
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// FreeSpace returns the free disk space of a folder in bytes, or false if it is unknown.
func FreeSpace(folder string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(cmp.Or(folder, "."), &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(min(s.Bavail, math.MaxInt64/uint64(s.Bsize)) * uint64(s.Bsize)), true
}

// lockFile opens a file with an exclusive lock, which is released when the file is closed. It
// returns nil if the lock isn't available. If wait is true, it waits for the lock.
func lockFile(path string, wait bool) *os.File {
	file, err := os.OpenFile(path, os.O_RDWR, 0) // NFS supports exclusive locks only on writable files
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

// copyOwnership gives a file the owner, group and permissions of another file, as far as permitted.
func copyOwnership(file *os.File, of fs.FileInfo) {
	perm := of.Mode().Perm()
	if was, ok := of.Sys().(*syscall.Stat_t); ok {
		if file.Chown(int(was.Uid), int(was.Gid)) != nil && file.Chown(-1, int(was.Gid)) != nil {
			perm = perm&^0o070 | perm&(perm&0o007<<3)
		}
	}
	_ = file.Chmod(perm)
}
