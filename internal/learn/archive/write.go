package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/minio/sha256-simd"
)

// Writer writes a file, in pieces of 256 KiB. It keeps an error, which close returns.
type Writer struct {
	*bufio.Writer
	w    io.Writer
	hash hash.Hash
}

// newWriter begins a file with its two lines.
func newWriter(ctx context.Context, w io.Writer, first, header string) *Writer {
	out := &Writer{w: w, hash: sha256.New()}
	out.Writer = bufio.NewWriterSize(io.MultiWriter(out.hash, BoundWriter{ctx, w}), PieceBytes)
	fmt.Fprintf(out, "%s\n%s\n", first, header)
	return out
}

// close writes what is left, and the checksum. It returns the first error of all.
func (w *Writer) close() error {
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
	uint8 | uint32 | int32 | int64 | float32 | float64
}

// Numbers writes the values of an array. The writer keeps an error.
func Numbers[T Number](w *Writer, values []T) {
	for piece := range slices.Chunk(values, 2048) {
		b, _ := binary.Append(w.AvailableBuffer(), binary.LittleEndian, piece) // of a type that it knows
		w.Write(b)
	}
}
