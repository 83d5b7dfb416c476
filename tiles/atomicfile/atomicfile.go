// Package atomicfile writes files that have a temporary name until they are complete: whatever
// happens, what has the final name is what was there before or the whole file.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// File is a file in the making. The caller that has created it defers [File.Abort], which does
// nothing after [File.Commit].
type File struct {
	path string
	file *os.File
	done bool
}

// Create begins the file path under a temporary name in the same folder, with the permissions that
// a new file has by default. A regular file of that name is replaced when the new one is complete;
// anything else of that name (a folder, a link, a device) is an error.
//
// pattern is the temporary name, in which a number takes the place of "*". Where it is empty it is
// ".NAME.*.tmp".
func Create(path, pattern string) (*File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is there and is %s, expected a regular file or none", path, kind(info.Mode()))
	}
	folder, name := filepath.Split(path)
	if name == "" {
		return nil, fmt.Errorf("%q names no file, expected a name that doesn't end in a slash", path)
	}
	before, after := "."+name+".", ".tmp"
	if pattern != "" {
		before, after, _ = strings.Cut(pattern, "*")
	}
	making.Lock()
	defer making.Unlock()
	if making.ended {
		return nil, fmt.Errorf("%s isn't begun: the program is about to end", path)
	}
	for {
		temporary := folder + fmt.Sprint(before, rand.Uint32(), after) // as it is: "link/.." isn't "."
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			var under *fs.PathError
			if errors.As(err, &under) {
				err = under.Err // the temporary name means nothing to the user
			}
			return nil, fmt.Errorf("%s can't be written in folder %s: %w", name, filepath.Dir(path), err)
		}
		made := &File{path: path, file: f}
		making.files[made] = true
		return made, nil
	}
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
	if err := f.Err(); err != nil {
		return 0, err
	}
	return f.file.Write(p)
}

// WriteAt implements io.WriterAt. It may be called concurrently, of places that don't overlap. After
// [File.Commit] or [File.Abort] it is an error.
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	return f.file.WriteAt(p, offset)
}

// Sync brings what was written to the disk. After [File.Commit] or [File.Abort] it is an error.
func (f *File) Sync() error {
	if err := f.Err(); err != nil {
		return err
	}
	return f.file.Sync()
}

// Commit gives the file its name. It doesn't wait for the disk; see [File.Sync]. On an error
// nothing is left behind. After Commit or [File.Abort] it is an error.
func (f *File) Commit() error {
	if err := f.Err(); err != nil {
		return err
	}
	defer f.end()
	err := f.file.Close() // some file systems say here that the disk is full
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(f.file.Name()) // the first error says more
	}
	return err
}

// Abort removes what was written. After [File.Commit] it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	defer f.end()
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
}

// Err returns an error after [File.Commit] or [File.Abort].
func (f *File) Err() error {
	if f.done {
		return fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	return nil
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

// AbortAll removes all files in the making, and makes [Create] fail from now on, for a program that
// is about to end. It may be called from any goroutine.
func AbortAll() {
	making.Lock()
	defer making.Unlock()
	making.ended = true
	for f := range making.files {
		_ = os.Remove(f.file.Name())
	}
}
