package run

import (
	"context"
	"io"
)

const copyBufferBytes = 256 << 10

// ContextReader returns a reader of r's data. Reads fail with the cause of ctx once ctx is done,
// without waiting for a call of r.Read that blocks. A panic of r becomes an error with the given
// name. The caller must call stop at the end, to release r.
func ContextReader(ctx context.Context, name string, r io.Reader) (in io.Reader, stop func()) {
	end, begin := io.Pipe()
	release := context.AfterFunc(ctx, func() { begin.CloseWithError(context.Cause(ctx)) })
	go func() {
		begin.CloseWithError(CatchPanic(name, func() error {
			// The structs hide WriterTo and ReaderFrom, so that CopyBuffer uses the buffer.
			_, err := io.CopyBuffer(struct{ io.Writer }{begin}, struct{ io.Reader }{r}, make([]byte, copyBufferBytes))
			return err
		}))
	}()
	return end, func() {
		release()
		_ = end.Close()
	}
}
