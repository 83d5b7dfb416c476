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

// Version is the format version of all model files.
const Version = "1"

// Format is a file format for models of type M.
type Format[M any] struct {
	Package string // prefix of error messages
	Name    string // prefix of the first line, which ends with Version

	// Describe describes keys and arrays in file order. The model passed to Describe is a copy of
	// the model to write, or a zero model to read into.
	Describe func(*File, *M)

	// Validate returns an error if a model is invalid. Read calls Validate.
	Validate func(*M) error
}

// Write writes a model. It returns the first error of Describe or w, or an error if ctx is done.
func (f *Format[M]) Write(ctx context.Context, w io.Writer, m *M) error {
	described := *m
	file := &File{writing: true}
	if f.Describe(file, &described); file.err != nil {
		return f.wrap(fmt.Errorf("cannot write the model: %w", file.err))
	}
	out := newWriter(ctx, w, f.Name+Version, file.object())
	for _, p := range file.sections {
		p.write(out)
	}
	if err := out.close(); err != nil {
		return f.wrap(fmt.Errorf("writing: %w", err))
	}
	return nil
}

// Read reads a model that was written by [Format.Write]. It verifies the checksum, calls Validate,
// and reads to the end of r. Errors wrap [ErrFormat], [ErrVersion], [ErrTruncated] or [ErrDamaged],
// or are errors of r. It fails within a second after ctx is done.
func (f *Format[M]) Read(ctx context.Context, r io.Reader) (*M, error) {
	m, err := f.ReadSized(ctx, r, -1, nil)
	if err != nil {
		return nil, f.wrap(err)
	}
	return m, nil
}

// ReadSized is like [Format.Read] for a file of size bytes, or of unknown size if size is -1. If
// early isn't nil, ReadSized calls it as soon as the tokenizer is known, even if reading fails
// later. The tokenizer is zero if the model has none. Errors lack the package prefix.
func (f *Format[M]) ReadSized(
	ctx context.Context, r io.Reader, size int64, early func(corpus.Tokenizer, corpus.FormatOptions),
) (*M, error) {
	in := bufio.NewReaderSize(ContextReader{ctx, r}, 64<<10)
	first, err := readFirstLine(in, f.Name)
	if err != nil {
		return nil, err
	}
	line, err := readLine(in, maxHeaderBytes)
	if err != nil {
		return nil, err
	}
	m, file, err := f.decodeHeader(line)
	if err != nil {
		return nil, err
	}
	if early != nil {
		early(file.tokenizer, file.form)
	}
	arrays, err := readArrays(ctx, in, size, file.sections, first, line)
	if err != nil {
		return nil, err
	}
	for i, p := range file.sections {
		if err := p.read(arrays[i]); err != nil {
			return nil, damagedError("%s: %v", p.name, err)
		}
	}
	if err := f.Validate(m); err != nil {
		return nil, damagedError("%s", strings.TrimPrefix(err.Error(), f.Package+": "))
	}
	return m, nil
}

// decodeHeader returns a model with the values of the header, but without arrays.
func (f *Format[M]) decodeHeader(line []byte) (*M, *File, error) {
	m, file := new(M), &File{}
	if err := json.Unmarshal(line, &file.unreadKeys); err != nil {
		return nil, nil, damagedError("header: %v", err)
	}
	f.Describe(file, m)
	file.rejectUnknownKeys()
	if file.err != nil {
		return nil, nil, damagedError("header: %v", file.err)
	}
	return m, file, nil
}

// ArrayBytes returns the size in bytes of the arrays that follow a header.
func (f *Format[M]) ArrayBytes(header []byte) (int64, error) {
	_, file, err := f.decodeHeader(header)
	if err != nil {
		return 0, err
	}
	return file.arrayBytes, nil
}

func (f *Format[M]) wrap(err error) error {
	if strings.HasPrefix(err.Error(), f.Package+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", f.Package, err)
}
