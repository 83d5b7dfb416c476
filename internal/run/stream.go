package run

import (
	"context"
	"io"
)

// streamBytes is how much of a stream is asked for at a time.
const streamBytes = 256 << 10

// Stream returns a reader of what r has. Its calls end with ctx, with its error: a call of r.Read that blocks isn't
// waited for. A panic of r, which is called name there, is an error. stop, which the caller calls at the end, lets go
// of r.
func Stream(ctx context.Context, name string, r io.Reader) (in io.Reader, stop func()) {
	end, begin := io.Pipe()
	release := context.AfterFunc(ctx, func() { begin.CloseWithError(context.Cause(ctx)) })
	go func() {
		begin.CloseWithError(Guard(name, func() error {
			// as readers and writers alone, so that neither copies by itself what the other has
			_, err := io.CopyBuffer(struct{ io.Writer }{begin}, struct{ io.Reader }{r}, make([]byte, streamBytes))
			return err
		}))
	}()
	return end, func() {
		release()
		_ = end.Close()
	}
}
