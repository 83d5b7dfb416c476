//go:build unix

package matrixio

import (
	"os"

	"golang.org/x/sys/unix"
)

// Closed reports whether a standard stream was closed when the program began. Go's runtime then opens
// the null device in its place, for reading and writing, so nothing is heard of what is lost. A caller
// that opens it so itself can't be told apart, such as subprocess.DEVNULL of Python; >/dev/null of a
// shell can.
func Closed(file *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(info, null) {
		return false
	}
	how, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	return err == nil && how&unix.O_ACCMODE == unix.O_RDWR
}
