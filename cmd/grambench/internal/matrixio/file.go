package matrixio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// File is a file in the making: it has a temporary name until it is complete.
type File struct {
	path, temporary string
	file            *os.File
	buffer          *bufio.Writer
	bytes, unsynced int64
	done            bool
}

// syncBytes is how much may wait to be brought to the disk: the system would gather a whole matrix in memory, and the last Sync
// would then keep the program for longer than ^C may take.
const syncBytes = 64 << 20

// Create begins the file path under a temporary name in the same folder. A regular file of that name is replaced when the new one is
// complete, and is left as it is otherwise; anything else of that name (a folder, a link, a device) is an error. The caller defers
// [File.Abort], which does nothing after [File.Commit].
func Create(path string) (*File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is there and is %s, expected a regular file or none", path, kind(info.Mode()))
	}
	making.Lock()
	defer making.Unlock()
	if making.ended {
		return nil, fmt.Errorf("%s isn't begun: the program is about to end", path)
	}
	for {
		temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(path), rand.Uint32()))
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if os.IsExist(err) {
			continue
		}
		if err != nil { // of the temporary name, which means nothing to the user
			var under *fs.PathError
			if errors.As(err, &under) {
				err = under.Err
			}
			return nil, fmt.Errorf("%s can't be written in folder %s: %w", filepath.Base(path), filepath.Dir(path), err)
		}
		made := &File{path: path, temporary: temporary, file: f, buffer: bufio.NewWriterSize(f, 1<<20)}
		making.files[made] = true
		return made, nil
	}
}

// Save writes a whole file, as [Create] and [File.Commit] do.
func Save(path string, from io.WriterTo) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := from.WriteTo(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = f.Commit()
	return err
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a special file"
}

// Write implements io.Writer. After [File.Commit] or [File.Abort] it is an error.
func (f *File) Write(p []byte) (int, error) {
	if f.done {
		return 0, fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	n, err := f.buffer.Write(p)
	f.bytes += int64(n)
	f.unsynced += int64(n)
	if err == nil && f.unsynced >= syncBytes {
		f.unsynced = 0
		err = f.file.Sync()
	}
	return n, err
}

// Commit brings everything to the disk, gives the file its name and returns its size in bytes. On an error nothing is left behind. After Commit or [File.Abort] it
// is an error.
func (f *File) Commit() (int64, error) {
	if f.done {
		return 0, fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	err := f.buffer.Flush()
	if err == nil {
		err = f.file.Sync()
	}
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.temporary, f.path)
	}
	f.end()
	if err != nil {
		os.Remove(f.temporary)
		return 0, err
	}
	// The new name itself is on the disk only when the folder is; a file system that can't sync folders has no say in this.
	if folder, err := os.Open(filepath.Dir(f.path)); err == nil {
		_ = folder.Sync()
		folder.Close()
	}
	return f.bytes, nil
}

// Abort removes what was written. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.end()
	f.file.Close()
	os.Remove(f.temporary)
}

// end takes the file out of those in the making.
func (f *File) end() {
	f.done = true
	making.Lock()
	delete(making.files, f)
	making.Unlock()
}

// making holds the files that are neither committed nor aborted.
var making = struct {
	sync.Mutex
	files map[*File]bool
	ended bool // no file is begun any more
}{files: map[*File]bool{}}

// AbortAll removes the temporary names of all files in the making, and has [Create] fail from now on, for a program that is about to end. It may be called from any
// goroutine.
func AbortAll() {
	making.Lock()
	defer making.Unlock()
	making.ended = true
	for f := range making.files {
		os.Remove(f.temporary)
	}
}
