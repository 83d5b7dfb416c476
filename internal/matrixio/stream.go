package matrixio

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
)

// IsStdout reports whether a path names standard output: "-", or a path such as /dev/stdout.
func IsStdout(path string) bool {
	return slices.Contains([]string{"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, path)
}

// IsStream reports whether a path names standard output, a FIFO or a device, which can't be
// replaced by a complete file.
func IsStream(path string) bool {
	if IsStdout(path) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
}

// IsStdoutClosed reports whether standard output was closed when the program started. Go's runtime
// then opens the null device for reading and writing, so output is lost without an error.
// IsStdoutClosed detects this mode on Linux. It can't distinguish a caller that opens the null
// device in this mode, such as Python's subprocess.DEVNULL. A shell's >/dev/null has another mode.
func IsStdoutClosed(stdout *os.File) bool {
	info, err := stdout.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	flags, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", stdout.Fd()))
	return err == nil && os.SameFile(info, null) && readWritePattern.Match(flags)
}

// readWritePattern matches the flags of a file that is open for reading and writing, in octal; the
// last digit is the mode.
var readWritePattern = regexp.MustCompile(`(?m)^flags:\s+\d*2$`)

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

// Sync does nothing, because the reader consumes a stream's data.
func (s *stream) Sync() error { return nil }

// Commit closes the stream, unless it is standard output.
func (s *stream) Commit() error {
	s.done = true
	if IsStdout(s.path) {
		return nil // other output may follow
	}
	return s.file.Close()
}

// Abort closes the stream. The program's exit status reports the failure.
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
