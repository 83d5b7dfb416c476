package matrixio

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gramengine/gram/tiles/atomicfile"
)

// File is a buffered file being written. It has a temporary name until it is complete, unless it is
// a stream ([IsStream]), which is written directly. The creator must defer Abort, which does
// nothing after [File.Commit].
type File struct {
	target
	buffer              *bufio.Writer
	size, unsyncedBytes int64
}

// syncBytes is the maximum number of unsynced bytes. Otherwise the system could cache a whole
// matrix, and the last Sync would delay an interrupt too long.
const syncBytes = 64 << 20

// target is the file or stream below the buffer.
type target interface {
	io.Writer
	Sync() error
	Commit() error
	Abort()
	Err() error
}

// Create creates the file path, see [atomicfile.Create], or opens a stream. It blocks on a FIFO
// until the FIFO has a reader.
func Create(path string) (*File, error) {
	var t target
	var err error
	if IsStream(path) {
		t, err = openStream(path)
	} else {
		t, err = atomicfile.Create(path, "")
	}
	if err != nil {
		return nil, err
	}
	return &File{target: t, buffer: bufio.NewWriterSize(t, 1<<20)}, nil
}

// FreeSpace returns the free disk space for a file in bytes. ok is false if the free space is
// unknown or path is a stream.
func FreeSpace(path string) (free int64, ok bool) {
	if IsStream(path) {
		return 0, false
	}
	return atomicfile.FreeSpace(filepath.Dir(path))
}

// WriteFile writes a whole file, as [Create] and [File.Commit] do, and returns its size in bytes.
func WriteFile(path string, write func(w io.Writer) error) (int64, error) {
	f, err := Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return 0, err
	}
	return f.Commit()
}

// Save is like [WriteFile], but calls from.WriteTo to write the data and doesn't return the size.
func Save(path string, from io.WriterTo) error {
	_, err := WriteFile(path, func(w io.Writer) error {
		if _, err := from.WriteTo(w); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return err
}

// Write implements io.Writer. It fails after [File.Commit] or Abort.
func (f *File) Write(p []byte) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	n, err := f.buffer.Write(p)
	f.size += int64(n)
	f.unsyncedBytes += int64(n)
	if err == nil && f.unsyncedBytes >= syncBytes {
		f.unsyncedBytes = 0
		err = f.Sync()
	}
	return n, err
}

// Commit writes everything to disk, renames the file and returns its size in bytes. If it fails, it
// leaves no file behind. It also fails after Commit or Abort.
func (f *File) Commit() (int64, error) {
	err := f.buffer.Flush()
	if err == nil {
		err = f.target.Commit()
	}
	if err != nil {
		f.Abort()
		return 0, err
	}
	return f.size, nil
}

// AbortAll removes all incomplete files, see [atomicfile.AbortAll].
func AbortAll() { atomicfile.AbortAll() }
