// Package atomicfile writes files atomically. A file is written under a temporary name and renamed
// when complete. After a crash, the final name refers to the complete new file, or to the old file,
// if any. The same holds after a power failure, except for [File.CommitUnsynced].
//
// On Linux an incomplete file is locked, so that [RemoveStale] can recognise files that killed
// processes left behind.
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

// File is an incomplete file. The caller of [Create] should defer [File.Abort], which does nothing
// after [File.Commit].
type File struct {
	path, pattern string
	existing      fs.FileInfo // info of the file at path; nil if there is none
	file          *os.File
	tempPath      string
	lock          *os.File // lock on the temporary file; nil if locks aren't supported
	closed        bool
}

// Create creates a temporary file in the folder of path. Commit replaces a regular file at path.
// The new file gets the permissions of the old file, and on Linux its owner and group if the
// process may set them. If the group can't be set, the group keeps only permissions that others
// have. Create fails if path exists and isn't a regular file, or after [AbortAll].
//
// pattern is the name of the temporary file. A number replaces the last "*". If pattern is "", the
// name is ".NAME.*.tmp", and Create also removes temporary files that killed processes left behind.
func Create(path, pattern string) (*File, error) {
	made, perm := &File{path: path, pattern: pattern}, fs.FileMode(0o666)
	before, err := os.Lstat(path)
	if err == nil {
		if !before.Mode().IsRegular() {
			return nil, fmt.Errorf("%s exists and is %s, not a regular file", path, describeMode(before.Mode()))
		}
		made.existing, perm = before, 0o600 // others get no access until the file is complete
	}
	folder, name := filepath.Split(path)
	if name == "" {
		return nil, fmt.Errorf("%q is not a file name because it is empty or ends in a slash", path)
	}
	if pattern == "" {
		made.pattern = "." + name + ".*.tmp"
		RemoveStale(folder, made.pattern)
	}
	made.pattern = folder + made.pattern // filepath.Join would change "link/.." to "."
	openFiles.Lock()
	defer openFiles.Unlock()
	if openFiles.ended {
		return nil, fmt.Errorf("cannot create %s because the program is exiting", path)
	}
	if err := made.open(perm); err != nil {
		var under *fs.PathError
		if errors.As(err, &under) {
			err = under.Err // the error omits the temporary name, which the user doesn't know
		}
		return nil, fmt.Errorf("cannot write %s in folder %s: %w", name, filepath.Dir(path), err)
	}
	openFiles.files[made] = true
	return made, nil
}

// splitPattern splits a pattern at its last "*", because folder names may contain "*".
func splitPattern(pattern string) (before, after string) {
	at := strings.LastIndexByte(pattern, '*')
	if at < 0 {
		return pattern, ""
	}
	return pattern[:at], pattern[at+1:]
}

func (f *File) open(perm fs.FileMode) error {
	before, after := splitPattern(f.pattern)
	for {
		path := fmt.Sprint(before, rand.Uint32(), after)
		var file *os.File
		_, err := perform(operation{name: "create", path: path, created: &file}, func([]byte) (_ int, err error) {
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
		lock := lockFile(path, true)
		now, err := os.Lstat(path)
		if own, _ := file.Stat(); err == nil && os.SameFile(own, now) {
			f.file, f.tempPath, f.lock = file, path, lock
			return nil
		}
		lock.Close()
		file.Close() // another process removed the file before it was locked
	}
}

// RemoveStale removes files in a folder that match a pattern of temporary names, unless a process
// is writing them. The folder "" is the working directory. The pattern must not contain a folder.
// RemoveStale does nothing if the system or file system doesn't support locks.
func RemoveStale(folder, pattern string) {
	if folder != "" && !os.IsPathSeparator(folder[len(folder)-1]) {
		folder += string(os.PathSeparator)
	}
	entries, _ := os.ReadDir(cmp.Or(folder, "."))
	before, after := splitPattern(pattern)
	for _, e := range entries {
		number, begins := strings.CutPrefix(e.Name(), before)
		number, ends := strings.CutSuffix(number, after)
		ours := begins && ends && number != "" && strings.Trim(number, "0123456789") == ""
		if !ours || !e.Type().IsRegular() {
			continue
		}
		if lock := lockFile(folder+e.Name(), false); lock != nil {
			_ = remove(folder + e.Name())
			lock.Close()
		}
	}
}

func describeMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a special file"
}

// Write implements io.Writer. It fails after [File.Commit] or [File.Abort].
func (f *File) Write(p []byte) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	return perform(operation{name: "write", file: f.file, data: p, offset: -1}, f.file.Write)
}

// WriteAt implements io.WriterAt. It may be called concurrently for disjoint ranges. It fails after
// [File.Commit] or [File.Abort].
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.Err(); err != nil {
		return 0, err
	}
	return perform(operation{name: "write", file: f.file, data: p, offset: offset}, func(p []byte) (int, error) {
		return f.file.WriteAt(p, offset)
	})
}

// Sync flushes the file to the disk. It fails after [File.Commit] or [File.Abort].
func (f *File) Sync() error {
	if err := f.Err(); err != nil {
		return err
	}
	return syncFile(f.file)
}

// Commit flushes the file, renames it, and flushes the folder. If the file can't be flushed or
// renamed, it is removed. If flushing the folder fails, the file is renamed, but a power failure
// may undo the rename. Commit fails after Commit or [File.Abort].
func (f *File) Commit() error {
	if err := f.commit(true); err != nil {
		return err
	}
	name, _ := filepath.Split(f.path)
	folder, err := os.Open(cmp.Or(name, "."))
	if err != nil {
		return nil // for example, if the folder is writable but not readable
	}
	defer folder.Close()
	err = syncFile(folder)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil // the system doesn't support flushing folders
	}
	if err != nil {
		return fmt.Errorf("%s is complete, but its folder cannot be synced to disk: %w", f.path, err)
	}
	return nil
}

// CommitUnsynced is like Commit, but doesn't flush. It is for files that are validated when read
// and can be recreated. After a power failure the file may be truncated or hold zeros.
func (f *File) CommitUnsynced() error { return f.commit(false) }

func (f *File) commit(sync bool) error {
	if err := f.Err(); err != nil {
		return err
	}
	defer f.Abort() // this removes the temporary file after an error
	if f.existing != nil {
		copyOwnership(f.file, f.existing)
	}
	if sync {
		if err := syncFile(f.file); err != nil {
			return err
		}
	}
	// Some file systems report a full disk only when the file is closed.
	if err := changePath("close", f.tempPath, "", f.file.Close); err != nil {
		return err
	}
	return rename(f.tempPath, f.path)
}

// Abort removes the file. It does nothing after [File.Commit].
func (f *File) Abort() {
	if f.closed {
		return
	}
	f.closed = true
	_ = f.file.Close()
	_ = remove(f.tempPath)
	f.lock.Close()
	openFiles.Lock()
	delete(openFiles.files, f)
	openFiles.Unlock()
}

// Err returns an error if the file has been committed or aborted, else nil.
func (f *File) Err() error {
	if f.closed {
		return fmt.Errorf("%s: %w", f.path, fs.ErrClosed)
	}
	return nil
}

// openFiles holds the files that are neither committed nor aborted.
var openFiles = struct {
	sync.Mutex
	files map[*File]bool
	ended bool // true after AbortAll was called
}{files: map[*File]bool{}}

// AbortAll removes all incomplete files, and makes [Create] fail from then on. Call it before the
// program exits. It may be called from any goroutine.
func AbortAll() {
	openFiles.Lock()
	defer openFiles.Unlock()
	openFiles.ended = true
	for f := range openFiles.files {
		_ = os.Remove(f.tempPath)
	}
}
