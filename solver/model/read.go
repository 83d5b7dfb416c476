package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/minio/sha256-simd"
)

// ErrDamaged is wrapped by the errors of [Read] for a file that was changed, or isn't complete, or
// never was what its first line says.
var ErrDamaged = errors.New("damaged model file")

// VersionError says that a file is of a version that this program doesn't know.
type VersionError struct{ Found string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("version %q of the form, expected %q: another version of this program wrote it", e.Found, version)
}

// Bounds on what a reader that never ends can make Read hold before it gives up.
const (
	mostHeader = 256 << 20 // header, in bytes
	mostBytes  = 1 << 49   // the whole file
)

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r: something behind the model is an error.
//
// Memory: the bytes of the file and about as much again for the model. A file that says more of
// itself than is there makes it allocate no more than that: what a reader that isn't a file holds
// is taken as it comes.
//
// Errors: a *[VersionError], one that wraps [ErrDamaged] and says which part is damaged, those of
// r, and ctx.Err() within a second of cancellation, if r doesn't keep it waiting.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errNothingGiven
	}
	m, err := read(ctx, r, -1)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// read reads a file of a number of bytes, -1 where that isn't known.
func read(ctx context.Context, r io.Reader, size int64) (*Model, error) {
	b := &body{ctx: ctx, r: r}
	if err := b.start(); err != nil {
		return nil, err
	}
	line, err := b.line(mostHeader)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(line)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	parts, sum, err := h.sections(mostBytes)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	begin := int64(b.at)
	total := begin + sum + sha256.Size
	if err := b.rest(total, size == total); err != nil {
		return nil, err
	}
	if have := int64(len(b.data)); have != total {
		return nil, damaged("%s: %d bytes, expected %d", where(parts, begin, have), have, total)
	}
	end := total - sha256.Size
	sum256 := sha256.New()
	for piece := range slices.Chunk(b.data[:end], 16<<20) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum256.Write(piece)
	}
	if found, expected := b.data[end:], sum256.Sum(nil); !bytes.Equal(found, expected) {
		return nil, damaged("checksum: found %x, expected %x for what is there: header, arrays or the checksum itself were changed", found[:8], expected[:8])
	}
	return h.decode(b.data[begin:end])
}

// where names the part in which a file of so many bytes ends, if it isn't longer.
func where(parts []section, begin, size int64) string {
	for _, p := range parts {
		if begin += p.bytes; size < begin {
			return "it ends in its part " + p.name
		}
	}
	if size < begin+sha256.Size {
		return "it ends in its checksum"
	}
	return "something follows its end"
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// body is a file in memory, as far as it was read.
type body struct {
	ctx  context.Context
	r    io.Reader
	data []byte
	at   int // begin of what wasn't used yet
	end  bool
}

// more reads some bytes, at most as many as data has room for, and makes room if there is none.
func (b *body) more() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if len(b.data) == cap(b.data) {
		b.data = append(make([]byte, 0, max(4<<10, 2*cap(b.data))), b.data...)
	}
	n, err := b.r.Read(b.data[len(b.data):min(cap(b.data), len(b.data)+1<<20)])
	b.data = b.data[:len(b.data)+n]
	if errors.Is(err, io.EOF) {
		b.end, err = true, nil
	}
	return err
}

// start reads the first line.
func (b *body) start() error {
	line, err := b.line(len(magic) + 20)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	found, ok := bytes.CutPrefix(line, []byte(magic))
	if err != nil || !ok || len(found) == 0 || len(bytes.Trim(found, "0123456789")) > 0 {
		return damaged("it begins with %q, expected %q", b.data[:min(len(b.data), len(magic)+len(version)+1)], magic+version+"\n")
	}
	if string(found) != version {
		return &VersionError{string(found)}
	}
	return nil
}

// line returns the line at b.at without its end and moves b.at behind it.
func (b *body) line(most int) ([]byte, error) {
	for from := b.at; ; {
		if n := bytes.IndexByte(b.data[from:], '\n'); n >= 0 {
			line := b.data[b.at : from+n]
			b.at = from + n + 1
			return line, nil
		}
		from = len(b.data)
		if b.end {
			return nil, damaged("it ends in its header, at byte %d", len(b.data))
		}
		if len(b.data)-b.at > most {
			return nil, damaged("header: no end of the line in %d bytes", len(b.data)-b.at)
		}
		if err := b.more(); err != nil {
			return nil, err
		}
	}
}

// rest reads on to the end of the file or to one byte above total. there says that so many bytes
// are known to be there.
func (b *body) rest(total int64, there bool) error {
	if there && int64(cap(b.data)) <= total {
		b.data = append(make([]byte, 0, total+1), b.data...)
	}
	for !b.end && int64(len(b.data)) <= total {
		if err := b.more(); err != nil {
			return err
		}
	}
	return nil
}
