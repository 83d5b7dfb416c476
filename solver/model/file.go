package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Save writes the model to a file, as [Model.Write] does. The file has a temporary name in the same
// folder until it is complete; an error or the end of ctx removes it. So whatever happens, what has
// the name path is what was there before or the whole model. A regular file is replaced; anything
// else of that name (a folder, a link, a device) is an error. Nothing waits for the disk: after a
// power failure the file may be damaged, which [Load] finds.
func (m *Model) Save(ctx context.Context, path string) error {
	return save(path, func(w io.Writer) error { return m.Write(ctx, w) })
}

// SaveLIBSVM writes the model to a file in LIBSVM's form, as [Model.WriteLIBSVM] does, otherwise
// like [Model.Save].
func (m *Model) SaveLIBSVM(ctx context.Context, path string, opt LIBSVMOptions) (labels []int32, err error) {
	err = save(path, func(w io.Writer) error {
		labels, err = m.WriteLIBSVM(ctx, w, opt)
		return err
	})
	return labels, err
}

func save(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("model: %s is there and is no regular file", path)
	}
	f, err := temporary(path)
	if err != nil {
		return fmt.Errorf("model: %s can't be written in folder %s: %w", filepath.Base(path), filepath.Dir(path), err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error says more
		}
	}()
	if err := write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Close(); err != nil { // some file systems say here that the disk is full
		return fmt.Errorf("model: %w", err)
	}
	return os.Rename(f.Name(), path)
}

// temporary makes a file beside path, with the permissions that a new file has by default.
func temporary(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(path), rand.Uint32())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		var under *fs.PathError
		if !errors.Is(err, fs.ErrExist) {
			if errors.As(err, &under) {
				err = under.Err // the temporary name means nothing to the user
			}
			return f, err
		}
	}
}

// Load reads a model from a file of either form, which its first word tells; see [Read] and
// [ReadLIBSVM].
func Load(ctx context.Context, path string) (*Model, error) {
	if ctx == nil {
		return nil, errNothingGiven
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	r := bufio.NewReaderSize(f, 64<<10)
	begin, err := r.Peek(longestKeyword + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("model: %w", err)
	}
	if words := bytes.Fields(begin); len(words) > 0 && slices.Contains(keywords, string(words[0])) {
		return ReadLIBSVM(ctx, r, path)
	}
	m, err := read(ctx, r, size)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	return m, nil
}
