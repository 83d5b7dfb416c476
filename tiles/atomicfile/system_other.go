//go:build !linux

package atomicfile

import (
	"io/fs"
	"os"
)

// FreeSpace returns the free disk space of a folder in bytes, or false if it is unknown.
func FreeSpace(string) (bytes int64, ok bool) { return 0, false }

func lockFile(string, bool) *os.File                  { return nil }
func copyOwnership(file *os.File, before fs.FileInfo) { _ = file.Chmod(before.Mode().Perm()) }
