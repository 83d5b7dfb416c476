package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// Errors that [Read] and [Load] wrap for a file that isn't a model ([ErrFormat]), is of another version, ends too
// early, or is damaged otherwise. ErrTruncated wraps ErrDamaged.
var (
	ErrFormat    = archive.ErrFormat
	ErrVersion   = archive.ErrVersion
	ErrTruncated = archive.ErrTruncated
	ErrDamaged   = archive.ErrDamaged
)

// Write writes the model in the project's own form, in pieces of 256 KiB. It writes nothing of a
// model that [Model.Validate] refuses. Other errors are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return form.Write(ctx, w, m) }

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r: anything after the model is an error.
//
// Memory: the bytes of the file, a little more for each machine, and on a processor that stores the
// highest byte first as much again. A file that claims to be larger than it is makes Read allocate no
// more than what is there.
//
// Errors wrap [ErrFormat], [ErrVersion], [ErrTruncated] or [ErrDamaged] and name the part that is damaged, or are those
// of r, or ctx.Err() within a second of cancellation, unless r blocks.
func Read(ctx context.Context, r io.Reader) (*Model, error) { return form.Read(ctx, r) }

// Save writes the model to a file, as [Model.Write] does. The file has a temporary name in the same
// folder until it is complete; an error or the end of ctx removes it. So path is either what it was
// before or the whole model. A regular file is replaced; anything else of that name (a folder, a
// link, a device) is an error. Save waits for the disk.
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
// them apart. It calls tokenizer, if not nil, with what the model was read by as soon as it is known, so
// that text can be cut while the rest is. It may fail after that. A file in LIBSVM's form is read first:
// its indices say whether they count from 0.
func Load(ctx context.Context, path string, tokenizer func(corpus.Tokenizer, corpus.Form)) (*Model, error) {
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	return ReadEarly(ctx, bufio.NewReaderSize(f, 64<<10), size, path, tokenizer)
}

// ReadEarly is [Load] from what path was opened as, of so many bytes, -1 where that isn't known.
func ReadEarly(
	ctx context.Context, r *bufio.Reader, size int64, path string, tokenizer func(corpus.Tokenizer, corpus.Form),
) (*Model, error) {
	begin, err := r.Peek(longestKeyword + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("model: %w", err)
	}
	if words := bytes.Fields(begin); len(words) > 0 && slices.Contains(keywords, string(words[0])) {
		m, err := ReadLIBSVM(ctx, r, path)
		if err == nil && tokenizer != nil {
			tokenizer(m.Tokenizer, m.Form)
		}
		return m, err
	}
	m, err := form.ReadSized(ctx, r, size, tokenizer)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	return m, nil
}
