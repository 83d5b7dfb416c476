package model

import (
	"context"
	"io"
)

// Write writes the model to a file of its own format. The same model has the same bytes on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r: anything after the model is an error.
//
// Memory: the bytes of the file, a little more for each machine, and on a processor that stores the
// highest byte first as much again. A file that claims to be larger than it is makes Read allocate no
// more than what is there.
//
// Errors wrap the errors of package archive and name the part that is damaged, or are those
// of r, or ctx.Err() within a second of cancellation, unless r blocks.
func Read(ctx context.Context, r io.Reader) (*Model, error) { return Form.Read(ctx, r) }
