package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/minio/sha256-simd"
)

// ErrDamaged is wrapped by the errors for a file that was changed, isn't complete, or never was of
// the form.
var ErrDamaged = errors.New("not a model, or a damaged one")

// VersionError says that a file is of a version that this program doesn't know.
type VersionError struct{ Found, Expected string }

func (e *VersionError) Error() string {
	return fmt.Sprintf(
		"version %q of the form, expected %q: another version of this program wrote it", e.Found, e.Expected,
	)
}

// Bounds on what is taken from a reader that never ends.
const (
	mostHeader = 256 << 20 // header, in bytes
	MostBytes  = 1 << 49   // the whole file
)

// Section is a part of the file behind the header.
type Section struct {
	Name  string
	Bytes int64
}

// Open opens a file, and returns its size for [Read].
func Open(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	size := int64(-1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return f, size, nil
}

// Header is the JSON object of a file's second line, all of whose keys are known.
type Header[M any] interface {
	// Model returns the model that the header describes, without its arrays.
	Model() (M, error)

	// Sections returns the parts behind the header.
	Sections() ([]Section, error)

	// Take takes the model's arrays, which are as long as the parts say, and checks the model.
	Take(M, *Arrays) error
}

// Read reads a file of a number of bytes, -1 where that isn't known. It calls early, if not nil, with
// the model as the header describes it. It has checked that nothing follows the parts, and the
// checksum, before it takes arrays.
//
// A file that claims to be larger than it is makes Read allocate no more than what is there. Errors:
// a *[VersionError], one that wraps [ErrDamaged], those of r and of ctx.
func Read[M any](
	ctx context.Context, r io.Reader, size int64, form Form, h Header[M], early func(M),
) (read M, err error) {
	in := bufio.NewReaderSize(BoundReader{ctx, r}, 64<<10)
	first, err := firstLine(in, form)
	if err != nil {
		return read, err
	}
	line, err := readLine(in, mostHeader)
	if err != nil {
		return read, err
	}
	var model M
	var parts []Section
	if err = ParseHeader(line, h); err == nil {
		if model, err = h.Model(); err == nil {
			parts, err = h.Sections()
		}
	}
	if err != nil {
		return read, Damaged("header: %v", err)
	}
	if early != nil {
		early(model)
	}
	arrays, err := readArrays(ctx, in, size, parts, first, line)
	if err != nil {
		return read, err
	}
	if err := h.Take(model, arrays); err != nil {
		return read, Damaged("%v", err)
	}
	return model, nil
}

// readArrays reads parts and checksum, which stand behind two lines.
func readArrays(
	ctx context.Context, in io.Reader, size int64, parts []Section, first, line []byte,
) (*Arrays, error) {
	begin := int64(len(first) + len(line))
	total := begin + sha256.Size
	for _, p := range parts {
		total += p.Bytes
	}
	have := begin
	next := func(n int64) (b []byte, err error) {
		if size == total { // so much is known to be there
			b = make([]byte, n)
			n, err := io.ReadFull(in, b)
			b, have = b[:n], have+int64(n)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil // the length says it
			}
			return b, err
		}
		var grown bytes.Buffer
		n, err = grown.ReadFrom(io.LimitReader(in, n))
		have += n
		return grown.Bytes(), err
	}
	sum := sha256.New()
	sum.Write(first)
	sum.Write(line)
	arrays := &Arrays{parts: make([][]byte, len(parts))}
	for i, p := range parts {
		var err error
		if arrays.parts[i], err = next(p.Bytes); err != nil {
			return nil, err
		}
		for piece := range slices.Chunk(arrays.parts[i], 16<<20) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum.Write(piece)
		}
	}
	end, err := io.ReadAll(io.LimitReader(in, sha256.Size+1))
	if err != nil {
		return nil, err
	}
	if have += int64(len(end)); have != total {
		return nil, Damaged("%s: %d bytes, expected %d", where(parts, begin, have), have, total)
	}
	if expected := sum.Sum(nil); !bytes.Equal(end, expected) {
		return nil, Damaged(
			"checksum: found %x, expected %x for what is there: header, arrays or the checksum itself were changed",
			end[:8], expected[:8],
		)
	}
	return arrays, nil
}

// ParseHeader reads a header's line into a struct, all of whose keys it must know.
func ParseHeader(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// where names the part in which a file of so many bytes ends, if it isn't longer.
func where(parts []Section, begin, size int64) string {
	for _, p := range parts {
		if begin += p.Bytes; size < begin {
			return "it ends in its part " + p.Name
		}
	}
	if size < begin+sha256.Size {
		return "it ends in its checksum"
	}
	return "something follows its end"
}

// Damaged returns an error that wraps [ErrDamaged].
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// BoundReader reads no more after the end of ctx, and so little at a time that this is soon found.
type BoundReader struct {
	Ctx context.Context
	R   io.Reader
}

// Read implements io.Reader.
func (b BoundReader) Read(p []byte) (int, error) {
	if err := b.Ctx.Err(); err != nil {
		return 0, err
	}
	return b.R.Read(p[:min(len(p), 1<<20)])
}

// firstLine reads the first line, which has the version.
func firstLine(in *bufio.Reader, form Form) ([]byte, error) {
	begin, err := in.Peek(len(form.Name) + len(form.Version) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	shown := string(begin)
	line, err := readLine(in, len(form.Name)+20)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	found, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), form.Name)
	if err != nil || !ok || found == "" || strings.Trim(found, "0123456789") != "" {
		return nil, Damaged("it begins with %q, expected %q", shown, form.Name+form.Version+"\n")
	}
	if found != form.Version {
		return nil, &VersionError{found, form.Version}
	}
	return line, nil
}

// readLine reads a line of the header with its end.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, Damaged("it ends in its header, after %d bytes of a line", len(line))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > most:
			return nil, Damaged("header: no end of the line in %d bytes", len(line))
		}
	}
}

// Arrays takes values from the parts of a file, each part as a whole before the next.
type Arrays struct {
	b     []byte // what is left of the open part
	parts [][]byte
}

// Bytes takes the next n bytes, which the caller knows to be there.
func (d *Arrays) Bytes(n int64) []byte {
	for len(d.b) == 0 && n > 0 {
		d.b, d.parts = d.parts[0], d.parts[1:]
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

// Array takes the next n values. They stay where they were read if they lie there as the processor
// has them.
func Array[T Number](d *Arrays, n int64) []T {
	var zero T
	b := d.Bytes(n * int64(unsafe.Sizeof(zero)))
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	aligned := uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(zero) == 0
	if n == 0 || !aligned || binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		values = make([]T, n)
		if _, err := binary.Decode(b, binary.LittleEndian, values); err != nil {
			panic(err) // the caller has measured
		}
	}
	return values
}
