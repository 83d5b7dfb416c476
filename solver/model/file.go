package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// Save writes the model to a file, as [Model.Write] does. The file has a temporary name in the same
// folder until it is complete; an error or the end of ctx removes it. So path is either what it was
// before or the whole model. A regular file is replaced; anything else of that name (a folder, a
// link, a device) is an error. Save doesn't wait for the disk: after a power failure the file may
// be damaged, which [Load] finds.
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

func save(path string, write func(io.Writer) error) error {
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Load reads a model from a file of either form, see [Read] and [ReadLIBSVM]. The first word tells
// them apart.
func Load(ctx context.Context, path string) (*Model, error) { return LoadEarly(ctx, path, nil) }

// LoadEarly is [Load]. It calls tokenizer, if not nil, with that of the model as soon as it is read, so
// that text can be cut while the rest is. It may fail after that; it doesn't call it for a file in
// LIBSVM's form, whose tokenizer is the default.
func LoadEarly(ctx context.Context, path string, tokenizer func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errNothingGiven
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	begin, err := r.Peek(longestKeyword + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("model: %w", err)
	}
	if words := bytes.Fields(begin); len(words) > 0 && slices.Contains(keywords, string(words[0])) {
		return ReadLIBSVM(ctx, r, path)
	}
	m, err := archive.Read(ctx, r, size, form, &header{}, func(m *Model) {
		if tokenizer != nil {
			tokenizer(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	return m, nil
}
