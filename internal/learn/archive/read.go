package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/minio/sha256-simd"
)

// Errors of [Format.Read] about a file's contents wrap one of the following errors.
var (
	// ErrFormat reports that the file has a different format.
	ErrFormat = errors.New("wrong file format")
	// ErrVersion reports that another version of the program wrote the file.
	ErrVersion = errors.New("file was written by a different version of this program")
	// ErrDamaged reports a wrong checksum, invalid contents or a truncated file.
	ErrDamaged = errors.New("damaged")
	// ErrTruncated reports that the file ends too early. It wraps ErrDamaged.
	ErrTruncated = fmt.Errorf("%w: truncated", ErrDamaged)
)

// These limits apply to untrusted input.
const (
	maxHeaderBytes = 256 << 20 // maximum size of the header in bytes
	MaxBytes       = 1 << 49   // maximum size of all arrays in bytes
)

// readArrays reads the arrays and verifies the checksum. first and line are the first two lines,
// which the checksum includes.
func readArrays(
	ctx context.Context, in io.Reader, size int64, parts []section, first, line []byte,
) ([][]byte, error) {
	begin := int64(len(first) + len(line))
	total := begin + sha256.Size
	for _, p := range parts {
		total += p.size
	}
	have := begin
	next := func(n int64) (b []byte, err error) {
		if size == total { // the size is correct, so allocate the whole array at once
			b = make([]byte, n)
			n, err := io.ReadFull(in, b)
			b, have = b[:n], have+int64(n)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil // the caller detects truncation by the length of b
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
	arrays := make([][]byte, len(parts))
	for i, p := range parts {
		var err error
		if arrays[i], err = next(p.size); err != nil {
			return nil, err
		}
		for piece := range slices.Chunk(arrays[i], 16<<20) {
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
	switch have += int64(len(end)); {
	case have < total:
		return nil, fmt.Errorf("%w: file ends in its %s, after %d of %d bytes", ErrTruncated, sectionAt(parts, begin, have),
			have, total)
	case have > total:
		return nil, damagedError("trailing data: file must have %d bytes, got %d", total, have)
	}
	if computed := sum.Sum(nil); !bytes.Equal(end, computed) {
		return nil, damagedError(
			"checksum mismatch: file has %x, but its contents have %x",
			end[:8], computed[:8],
		)
	}
	return arrays, nil
}

func sectionAt(parts []section, begin, size int64) string {
	for _, p := range parts {
		if begin += p.size; size < begin {
			return "part " + p.name
		}
	}
	return "checksum"
}

func damagedError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// ContextReader is a reader that fails once Ctx is done. It reads at most 1 MiB at a time, to check
// Ctx often.
type ContextReader struct {
	Ctx context.Context
	R   io.Reader
}

func (b ContextReader) Read(p []byte) (int, error) {
	if err := b.Ctx.Err(); err != nil {
		return 0, err
	}
	return b.R.Read(p[:min(len(p), 1<<20)])
}

func readFirstLine(in *bufio.Reader, name string) ([]byte, error) {
	begin, err := in.Peek(len(name) + len(Version) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	shown := string(begin)
	line, err := readLine(in, len(name)+20)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	found, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), name)
	if err != nil || !ok || found == "" || strings.Trim(found, "0123456789") != "" {
		return nil, fmt.Errorf("%w: file must begin with %q, got %q", ErrFormat, name+Version+"\n", shown)
	}
	if found != Version {
		return nil, fmt.Errorf("format version must be %q, got %q: %w", Version, found, ErrVersion)
	}
	return line, nil
}

// readLine reads a line and its newline. most is the maximum length in bytes of a line that doesn't
// fit into the buffer of in.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: file ends in its header, after %d bytes of a line", ErrTruncated, len(line))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > most:
			return nil, damagedError("header: line is longer than %d bytes", len(line))
		}
	}
}

// DecodeNumbers decodes little-endian numbers. The result shares the memory of b if b is aligned
// and the CPU is little-endian.
func DecodeNumbers[T Number](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	aligned := uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(zero) == 0
	if n == 0 || !aligned || binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		values = make([]T, n)
		if _, err := binary.Decode(b, binary.LittleEndian, values); err != nil {
			panic(err) // impossible, because n is computed from len(b)
		}
	}
	return values
}
