package matrixio

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gramengine/gram/tiles/atomicfile"
)

// File is a file in the making, behind a buffer: it has a temporary name until it is complete,
// unless it is a stream ([IsStream]), to which bytes go as they come. Who has created it defers its
// Abort, which does nothing after [File.Commit].
type File struct {
	target
	buffer          *bufio.Writer
	bytes, unsynced int64
}

// syncBytes is how much may wait for the disk. The system would gather a whole matrix in memory,
// and the last Sync would then keep the program for longer than ^C may take.
const syncBytes = 64 << 20

// target is what is written to below the buffer.
type target interface {
	io.Writer
	Sync() error
	Commit() error
	Abort()
	Err() error
}

// Create begins the file path, as [atomicfile.Create] does, or opens a stream. A FIFO keeps it
// waiting until somebody reads.
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

// Room returns the bytes that are free for a file, or false for a stream or if that isn't known.
func Room(path string) (free int64, ok bool) {
	if IsStream(path) {
		return 0, false
	}
	return atomicfile.Free(filepath.Dir(path))
}

// Make writes a whole file, as [Create] and [File.Commit] do, and returns its size in bytes.
func Make(path string, write func(w io.Writer) error) (int64, error) {
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

// Save is Make for what writes itself.
func Save(path string, from io.WriterTo) error {
	_, err := Make(path, func(w io.Writer) error {
		if _, err := from.WriteTo(w); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return err
}

// Write implements io.Writer. After [File.Commit] or Abort it is an error.
func (f *File) Write(p []byte) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	n, err := f.buffer.Write(p)
	f.bytes += int64(n)
	f.unsynced += int64(n)
	if err == nil && f.unsynced >= syncBytes {
		f.unsynced = 0
		err = f.Sync()
	}
	return n, err
}

// Commit brings everything to the disk, gives the file its name and returns its size in bytes. On
// an error nothing is left behind. After Commit or Abort it is an error.
func (f *File) Commit() (int64, error) {
	err := f.buffer.Flush()
	if err == nil {
		err = f.target.Commit()
	}
	if err != nil {
		f.Abort()
		return 0, err
	}
	return f.bytes, nil
}

// AbortAll is [atomicfile.AbortAll].
func AbortAll() { atomicfile.AbortAll() }
