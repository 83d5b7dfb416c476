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
	"slices"
	"strings"

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

// Read reads a file of a number of bytes, -1 where that isn't known. It calls parse with the header's
// line, which returns the parts behind it. It returns the arrays, and has checked that they are as
// long as the parts say, that nothing follows, and the checksum.
//
// A file that claims to be larger than it is makes Read allocate no more than what is there. Errors:
// a *[VersionError], one that wraps [ErrDamaged], those of r and of parse.
func Read(
	ctx context.Context, r io.Reader, size int64, form Form, parse func(header []byte) ([]Section, error),
) (*Arrays, error) {
	in := bufio.NewReaderSize(BoundReader{ctx, r}, 64<<10)
	first, err := firstLine(in, form)
	if err != nil {
		return nil, err
	}
	line, err := readLine(in, mostHeader)
	if err != nil {
		return nil, err
	}
	parts, err := parse(line)
	if err != nil {
		return nil, err
	}
	var sum int64
	for _, p := range parts {
		sum += p.Bytes
	}
	begin := int64(len(first) + len(line))
	total := begin + sum + sha256.Size
	var rest bytes.Buffer
	if size == total { // so much is known to be there
		rest.Grow(int(total-begin) + bytes.MinRead)
	}
	have, err := rest.ReadFrom(io.LimitReader(in, total-begin+1))
	if err != nil {
		return nil, err
	}
	if have += begin; have != total {
		return nil, Damaged("%s: %d bytes, expected %d", where(parts, begin, have), have, total)
	}
	arrays, found := rest.Bytes()[:sum], rest.Bytes()[sum:]
	sum256 := sha256.New()
	sum256.Write(first)
	sum256.Write(line)
	for piece := range slices.Chunk(arrays, 16<<20) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum256.Write(piece)
	}
	if expected := sum256.Sum(nil); !bytes.Equal(found, expected) {
		return nil, Damaged(
			"checksum: found %x, expected %x for what is there: header, arrays or the checksum itself were changed",
			found[:8], expected[:8],
		)
	}
	return &Arrays{arrays}, nil
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

// Arrays takes values from the start of bytes that are known to hold them.
type Arrays struct{ b []byte }

// Bytes takes the next n bytes.
func (d *Arrays) Bytes(n int64) []byte {
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// Array takes the next n values.
func Array[T Number](d *Arrays, n int64) []T {
	values := make([]T, n)
	used, err := binary.Decode(d.b, binary.LittleEndian, values)
	if err != nil {
		panic(err) // the caller has measured
	}
	d.b = d.b[used:]
	return values
}

// Texts takes n texts of so many bytes together, which share one string.
func (d *Arrays) Texts(n, size int64) ([]string, error) {
	lengths := Array[uint32](d, n)
	text := string(d.Bytes(size))
	texts := make([]string, len(lengths))
	for t, n := range lengths {
		if uint64(n) > uint64(len(text)) {
			return nil, fmt.Errorf("term %d has %d bytes, and %d are left of %d", t, n, len(text), size)
		}
		texts[t], text = text[:n], text[n:]
	}
	if len(text) > 0 {
		return nil, fmt.Errorf("%d of %d bytes belong to no term", len(text), size)
	}
	return texts, nil
}
