package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// folderBucket is a bucket in a folder. It doesn't use gocloud.dev, whose check for an existing
// file isn't atomic with writing the file. A symbolic link out of the folder is an error.
type folderBucket struct {
	dir    string
	create bool // true if the first write creates a missing folder
	*syncedFolders
}

// incompleteFolder is the subfolder for incomplete files. Files of killed processes stay there
// until Sweep removes them.
const incompleteFolder = "making"

// openFolder returns the bucket in a folder. If create is set, the first write creates a missing
// folder.
func openFolder(dir string, create bool) (Bucket, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	inside := filepath.Join(dir, incompleteFolder)
	switch info, err := os.Stat(inside); {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is not a folder", inside)
	case err == nil:
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%s or its parent is not a folder", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !create:
		return nil, fmt.Errorf("there is no store in %s (no folder %q); create one with gramcluster plan", dir,
			incompleteFolder)
	}
	return folderBucket{dir, create, &syncedFolders{}}, nil
}

// withRoot calls do with an os.Root of the folder, so that files outside are inaccessible.
func (b folderBucket) withRoot(do func(r *os.Root) error) error {
	r, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer r.Close()
	return do(r)
}

// Create implements Bucket. It writes a temporary file and creates a hard link to it, which is
// atomic and fails if the key exists. File and directory entry are synced to disk.
func (b folderBucket) Create(ctx context.Context, key string, parts [][]byte) error {
	if b.create {
		if err := os.MkdirAll(filepath.Join(b.dir, incompleteFolder), 0o777); err != nil {
			return err
		}
	}
	return b.withRoot(func(r *os.Root) error { return b.createObject(ctx, r, key, parts) })
}

func (b folderBucket) createObject(ctx context.Context, r *os.Root, key string, parts [][]byte) error {
	if _, err := r.Lstat(key); err == nil {
		return fmt.Errorf("%s: %w", key, ErrExists) // checked early, to avoid writing the file
	}
	temporary := path.Join(incompleteFolder, fmt.Sprintf("%016x", rand.Uint64()))
	f, err := r.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer r.Remove(temporary)
	all := net.Buffers(parts)
	for _, p := range all {
		if err = ctx.Err(); err == nil {
			_, err = f.Write(p)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := r.MkdirAll(path.Dir(key), 0o777); err != nil {
		return err
	}
	if err := r.Link(temporary, key); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", key, ErrExists)
	} else if err != nil {
		return err
	}
	if err := b.syncParents(b.dir, filepath.Join(b.dir, filepath.FromSlash(key))); err != nil {
		return fmt.Errorf("%w: %w", errNotSynced, err)
	}
	return nil
}

// errNotSynced reports that an object exists, but may be lost in a power failure.
var errNotSynced = errors.New("the object is not synced to disk")

// Open implements Bucket.
func (b folderBucket) Open(_ context.Context, key string) (io.ReadCloser, int64, error) {
	var f *os.File
	err := b.withRoot(func(r *os.Root) (err error) {
		f, err = r.Open(key)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", f.Name())
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// List implements Bucket.
func (b folderBucket) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	begin := path.Dir(prefix + "x") // deepest folder that contains all keys with the prefix
	list := func(key string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the folder is missing, or was deleted in the meantime
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if key == incompleteFolder {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(key, prefix) && d.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; the store needs regular files", key)
		}
		if !strings.HasPrefix(key, prefix) || !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return yield(key, info.Size())
	}
	r, err := os.OpenRoot(b.dir)
	if b.create && errors.Is(err, fs.ErrNotExist) {
		return nil // nothing has been written yet
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return fs.WalkDir(r.FS(), begin, list)
}

// Delete implements Bucket. It also removes folders that become empty.
func (b folderBucket) Delete(_ context.Context, key string) error {
	return b.withRoot(func(r *os.Root) error {
		if err := r.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(key); dir != "." && r.Remove(dir) == nil; {
			dir = path.Dir(dir)
		}
		return nil
	})
}

// sweep removes files that killed processes left incomplete. No process may write at the same time.
func (b folderBucket) sweep() error {
	return b.withRoot(func(r *os.Root) error {
		left, err := fs.ReadDir(r.FS(), incompleteFolder)
		for _, e := range left {
			if name := e.Name(); len(name) == 16 && strings.Trim(name, "0123456789abcdef") == "" {
				err = errors.Join(err, r.Remove(path.Join(incompleteFolder, name)))
			}
		}
		return err
	})
}

// Close implements Bucket.
func (folderBucket) Close() error { return nil }
