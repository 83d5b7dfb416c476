// Package atomicfile writes files under a temporary name until they are complete: whatever happens,
// a kill or a power failure included, the final name has the old file or the whole new one.
//
// On Linux a file in the making is locked, so that [Sweep] can tell the files of killed processes.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// File is a file in the making. The caller that has created it defers [File.Abort], which does
// nothing after [File.Commit].
type File struct {
	path, pattern string
	before        fs.FileInfo // of what has the name, nil for none
	file          *os.File
	named         string   // the temporary name
	lock          *os.File // on what has that name, nil where there are no locks
	done          bool
}

// Create begins the file path in the same folder. A regular file of that name is replaced when the
// new one is complete, which gets its permissions, and its owner and group as far as the process may
// set them; a group that it can't set has no more permissions than others. Anything else of that
// name (a folder, a link, a device) is an error.
//
// pattern is the temporary name, in which a number takes the place of "*". Where it is empty it is
// ".NAME.*.tmp", and Create removes what killed processes left under such names.
func Create(path, pattern string) (*File, error) {
	made, perm := &File{path: path, pattern: pattern}, fs.FileMode(0o666)
	before, err := os.Lstat(path)
	if err == nil {
		if !before.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is there and is %s, expected a regular file or none", path, kind(before.Mode()))
		}
		made.before, perm = before, 0o600 // until it is complete
	}
	folder, name := filepath.Split(path)
	if name == "" {
		return nil, fmt.Errorf("%q names no file, expected a name that doesn't end in a slash", path)
	}
	if pattern == "" {
		made.pattern = "." + name + ".*.tmp"
		Sweep(folder, made.pattern)
	}
	made.pattern = folder + made.pattern // as it is: "link/.." isn't "."
	making.Lock()
	defer making.Unlock()
	if making.ended {
		return nil, fmt.Errorf("%s isn't begun: the program is about to end", path)
	}
	if err := made.open(perm); err != nil {
		var under *fs.PathError
		if errors.As(err, &under) {
			err = under.Err // the temporary name means nothing to the user
		}
		return nil, fmt.Errorf("%s can't be written in folder %s: %w", name, filepath.Dir(path), err)
	}
	making.files[made] = true
	return made, nil
}

// cut cuts a pattern at its last "*"; names may have others.
func cut(pattern string) (before, after string) {
	at := strings.LastIndexByte(pattern, '*')
	if at < 0 {
		return pattern, ""
	}
	return pattern[:at], pattern[at+1:]
}

// open opens the file under a temporary name, with a lock.
func (f *File) open(perm fs.FileMode) error {
	before, after := cut(f.pattern)
	for {
		path := fmt.Sprint(before, rand.Uint32(), after)
		var file *os.File
		_, err := perform(operation{name: "create", path: path, made: &file}, func([]byte) (_ int, err error) {
			file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
			return 0, err
		})
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			_ = remove(path)
			return err
		}
		lock := hold(path, true)
		now, err := os.Lstat(path)
		if own, _ := file.Stat(); err == nil && os.SameFile(own, now) {
			f.file, f.named, f.lock = file, path, lock
			return nil
		}
		lock.Close()
		file.Close() // another process has swept it before it was locked
	}
}

// Sweep removes files of a folder, "" for the working directory, that have temporary names of a
// pattern, which begins with no folder, and that no process is making. It does nothing where the
// system or the file system has no locks.
func Sweep(folder, pattern string) {
	if folder != "" && !os.IsPathSeparator(folder[len(folder)-1]) {
		folder += string(os.PathSeparator)
	}
	entries, _ := os.ReadDir(cmp.Or(folder, "."))
	before, after := cut(pattern)
	for _, e := range entries {
		number, begins := strings.CutPrefix(e.Name(), before)
		number, ends := strings.CutSuffix(number, after)
		ours := begins && ends && number != "" && strings.Trim(number, "0123456789") == ""
		if !ours || !e.Type().IsRegular() {
			continue
		}
		if lock := hold(folder+e.Name(), false); lock != nil {
			_ = remove(folder + e.Name())
			lock.Close()
		}
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
	return perform(operation{name: "write", file: f.file, data: p, offset: -1}, f.file.Write)
}

// WriteAt implements io.WriterAt. It may be called concurrently, of places that don't overlap. After
// [File.Commit] or [File.Abort] it is an error.
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	return perform(operation{name: "write", file: f.file, data: p, offset: offset}, func(p []byte) (int, error) {
		return f.file.WriteAt(p, offset)
	})
}

// Sync brings what was written to the disk. After [File.Commit] or [File.Abort] it is an error.
func (f *File) Sync() error {
	if err := f.Err(); err != nil {
		return err
	}
	return syncFile(f.file)
}

// Commit brings the file to the disk, gives it its name and brings that to the disk. On an error
// nothing is left behind, unless it is one of bringing the name to the disk: then the new file has its
// name, which a power failure may undo. After Commit or [File.Abort] it is an error.
func (f *File) Commit() error {
	if err := f.commit(true); err != nil {
		return err
	}
	name, _ := filepath.Split(f.path)
	folder, err := os.Open(cmp.Or(name, "."))
	if err != nil {
		return nil // which may be written in but not read
	}
	defer folder.Close()
	err = syncFile(folder)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil // a system that can't sync folders has no say in this
	}
	if err != nil {
		return fmt.Errorf("%s is whole, but its name may not be on the disk: %w", f.path, err)
	}
	return nil
}

// CommitUnsynced is Commit without waiting for the disk, for what is checked when it is read and can
// be made again: after a power failure the file may be short or hold zeros.
func (f *File) CommitUnsynced() error { return f.commit(false) }

func (f *File) commit(sync bool) error {
	if err := f.Err(); err != nil {
		return err
	}
	defer f.Abort() // removes a temporary name that is left
	if f.before != nil {
		keep(f.file, f.before)
	}
	if sync {
		if err := syncFile(f.file); err != nil {
			return err
		}
	}
	// Some file systems say when it is closed that the disk is full.
	if err := change("close", f.named, "", f.file.Close); err != nil {
		return err
	}
	return rename(f.named, f.path)
}

// Abort removes what was written. After [File.Commit] it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	_ = f.file.Close()
	_ = remove(f.named)
	f.lock.Close()
	making.Lock()
	delete(making.files, f)
	making.Unlock()
}

// Err returns an error after [File.Commit] or [File.Abort].
func (f *File) Err() error {
	if f.done {
		return fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	return nil
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
		_ = os.Remove(f.named)
	}
}
