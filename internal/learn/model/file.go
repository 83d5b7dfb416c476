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
