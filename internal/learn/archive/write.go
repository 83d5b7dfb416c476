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

// Writer writes a file in pieces of 256 KiB. It stores the first error, which close returns.
type Writer struct {
	*bufio.Writer
	w    io.Writer
	hash hash.Hash
}

func newWriter(ctx context.Context, w io.Writer, first, header string) *Writer {
	out := &Writer{w: w, hash: sha256.New()}
	out.Writer = bufio.NewWriterSize(io.MultiWriter(out.hash, ContextWriter{ctx, w}), BufferBytes)
	fmt.Fprintf(out, "%s\n%s\n", first, header)
	return out
}

// close writes buffered data and the checksum. It returns the writer's first error.
func (w *Writer) close() error {
	err := w.Flush() // Flush also returns earlier errors
	if err == nil {
		_, err = w.w.Write(w.hash.Sum(nil))
	}
	return err
}

// ContextWriter is a writer that fails once Ctx is done.
type ContextWriter struct {
	Ctx context.Context
	W   io.Writer
}

func (b ContextWriter) Write(p []byte) (int, error) {
	if err := b.Ctx.Err(); err != nil {
		return 0, err
	}
	return b.W.Write(p)
}

// BufferBytes is the size of the buffer of a Writer in bytes.
const BufferBytes = 256 << 10

// Number is the constraint for the elements of arrays.
type Number interface {
	uint8 | uint32 | int32 | int64 | float32 | float64
}

// WriteNumbers writes values in little-endian order. Errors are stored in the writer.
func WriteNumbers[T Number](w *Writer, values []T) {
	for piece := range slices.Chunk(values, 2048) {
		b, _ := binary.Append(w.AvailableBuffer(), binary.LittleEndian, piece) // Append can't fail for these types
		w.Write(b)
	}
}
