package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gramengine/gram/corpus"
)

// Version is the version of all model files.
const Version = "1"

// Format is a form of file for models of type M.
type Format[M any] struct {
	Package string // with which errors begin
	Name    string // the first line is Name + Version

	// Describe names keys and arrays in their order. It is given a copy of the model that is written,
	// or a model of zeros that is read.
	Describe func(*File, *M)

	// Validate checks a model that was read.
	Validate func(*M) error
}

// Write writes a model.
func (f *Format[M]) Write(ctx context.Context, w io.Writer, m *M) error {
	described := *m
	file := &File{writing: true}
	if f.Describe(file, &described); file.err != nil {
		return f.wrap(fmt.Errorf("%w: the model can't be written", file.err))
	}
	out := newWriter(ctx, w, f.Name+Version, file.object())
	for _, p := range file.parts {
		p.write(out)
	}
	if err := out.close(); err != nil {
		return f.wrap(fmt.Errorf("writing: %w", err))
	}
	return nil
}

// Read reads a model that [Format.Write] wrote, to the bit, and checks its checksum and all that
// Validate asks for. It reads to the end of r. Errors wrap [ErrFormat], [ErrVersion],
// [ErrTruncated] or [ErrDamaged], or are those of r and of ctx, within a second.
func (f *Format[M]) Read(ctx context.Context, r io.Reader) (*M, error) {
	m, err := f.ReadSized(ctx, r, -1, nil)
	if err != nil {
		return nil, f.wrap(err)
	}
	return m, nil
}

// ReadSized is [Format.Read] from a reader of size bytes, -1 if unknown. It calls early, if not nil, with the model's
// tokenizer, zero if it has none, as soon as that is known; it may fail after that. Its errors don't name the package.
func (f *Format[M]) ReadSized(
	ctx context.Context, r io.Reader, size int64, early func(corpus.Tokenizer, corpus.Form),
) (*M, error) {
	in := bufio.NewReaderSize(BoundReader{ctx, r}, 64<<10)
	first, err := firstLine(in, f.Name)
	if err != nil {
		return nil, err
	}
	line, err := readLine(in, mostHeader)
	if err != nil {
		return nil, err
	}
	m, file, err := f.describe(line)
	if err != nil {
		return nil, err
	}
	if early != nil {
		early(file.tokenizer, file.form)
	}
	arrays, err := readArrays(ctx, in, size, file.parts, first, line)
	if err != nil {
		return nil, err
	}
	for i, p := range file.parts {
		if err := p.take(arrays[i]); err != nil {
			return nil, damaged("%s: %v", p.name, err)
		}
	}
	if err := f.Validate(m); err != nil {
		return nil, damaged("%s", strings.TrimPrefix(err.Error(), f.Package+": "))
	}
	return m, nil
}

// describe returns the model that a header describes, without its arrays.
func (f *Format[M]) describe(line []byte) (*M, *File, error) {
	m, file := new(M), &File{}
	if err := json.Unmarshal(line, &file.keys); err != nil {
		return nil, nil, damaged("header: %v", err)
	}
	f.Describe(file, m)
	file.unknown()
	if file.err != nil {
		return nil, nil, damaged("header: %v", file.err)
	}
	return m, file, nil
}

// Size returns how many bytes of arrays follow a header, or the error for one that is wrong.
func (f *Format[M]) Size(header []byte) (int64, error) {
	_, file, err := f.describe(header)
	if err != nil {
		return 0, err
	}
	return file.total, nil
}

// wrap puts the name of the package before an error that doesn't begin with it.
func (f *Format[M]) wrap(err error) error {
	if strings.HasPrefix(err.Error(), f.Package+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", f.Package, err)
}
