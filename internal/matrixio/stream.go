package matrixio

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
)

// IsStdout reports whether a path names standard output: "-", or as Unix calls it.
func IsStdout(path string) bool {
	return slices.Contains([]string{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, path)
}

// IsStream reports whether a path names something to which bytes go as they come, and which nothing
// can replace: standard output, a FIFO or a device.
func IsStream(path string) bool {
	if IsStdout(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
}

// Closed reports whether standard output was closed when the program began. Go's runtime then opens
// the null device in its place, for reading and writing, so that nothing is heard of what is lost;
// Linux says so. A caller that opens it in that way, such as subprocess.DEVNULL of Python, can't be
// told apart; >/dev/null of a shell can.
func Closed(stdout *os.File) bool {
	info, err := stdout.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	flags, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", stdout.Fd()))
	return err == nil && os.SameFile(info, null) && readWrite.Match(flags)
}

// readWrite matches the flags of a file that is open for reading and writing: octal, the last digit
// says what for.
var readWrite = regexp.MustCompile(`(?m)^flags:\s+\d*2$`)

// stream is an open stream.
type stream struct {
	path string
	file *os.File
	done bool
}

func openStream(path string) (*stream, error) {
	if IsStdout(path) {
		return &stream{path: path, file: os.Stdout}, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	return &stream{path: path, file: file}, err
}

func (s *stream) Write(p []byte) (int, error) { return s.file.Write(p) }

// Sync does nothing: what reads a stream takes what there is.
func (s *stream) Sync() error { return nil }

// Commit ends the stream.
func (s *stream) Commit() error {
	s.done = true
	if IsStdout(s.path) {
		return nil // others may write there
	}
	return s.file.Close()
}

// Abort ends the stream where it is. Who reads it sees an end; the exit status says more.
func (s *stream) Abort() {
	if !s.done {
		_ = s.Commit()
	}
}

func (s *stream) Err() error {
	if s.done {
		return fmt.Errorf("%s: %w", s.path, fs.ErrClosed)
	}
	return nil
}
