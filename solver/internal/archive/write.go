// Package archive is the container of model files: a first line with the form's name and version, a
// header that is a JSON object in one line, arrays without gaps, little-endian, and the SHA-256 of
// all bytes before it. What header and arrays mean is the caller's.
package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/minio/sha256-simd"
)

// Form names a form of files and its version: the first line is Name + Version.
type Form struct{ Name, Version string }

// Writer writes a file, in pieces of 256 KiB. It keeps an error, which Close returns.
type Writer struct {
	*bufio.Writer
	w    io.Writer
	hash hash.Hash
}

// NewWriter begins a file.
func NewWriter(ctx context.Context, w io.Writer, form Form, header any) (*Writer, error) {
	head, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	out := &Writer{w: w, hash: sha256.New()}
	out.Writer = bufio.NewWriterSize(io.MultiWriter(out.hash, BoundWriter{ctx, w}), PieceBytes)
	fmt.Fprintf(out, "%s%s\n%s\n", form.Name, form.Version, head)
	return out, nil
}

// Close writes what is left, and the checksum. It returns the first error of all.
func (w *Writer) Close() error {
	err := w.Flush() // which tells what went wrong before
	if err == nil {
		_, err = w.w.Write(w.hash.Sum(nil))
	}
	return err
}

// BoundWriter writes no more after the end of ctx.
type BoundWriter struct {
	Ctx context.Context
	W   io.Writer
}

// Write implements io.Writer.
func (b BoundWriter) Write(p []byte) (int, error) {
	if err := b.Ctx.Err(); err != nil {
		return 0, err
	}
	return b.W.Write(p)
}

// PieceBytes is how much is written at a time.
const PieceBytes = 256 << 10

// Number is what arrays hold.
type Number interface {
	uint32 | int32 | int64 | float32 | float64
}

// Numbers writes the values of an array. The writer keeps an error.
func Numbers[T Number](w *Writer, values []T) {
	for piece := range slices.Chunk(values, 2048) {
		b, _ := binary.Append(w.AvailableBuffer(), binary.LittleEndian, piece) // of a type that it knows
		w.Write(b)
	}
}
