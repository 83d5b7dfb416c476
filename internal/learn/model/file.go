package model

import (
	"context"
	"io"
)

// Write writes the model in the project's format. The bytes are the same on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }

// Read reads a model that was written by [Model.Write]. It verifies the checksum and calls
// [Model.Validate]. It reads to the end of r. Trailing bytes are an error.
//
// Read allocates about as much memory as the size of the file, and twice as much on big-endian
// CPUs. If a header claims a huge size, Read doesn't allocate more.
//
// Errors wrap the errors of package archive and name the damaged part, or are errors of r. After
// ctx is done, Read returns ctx.Err() within a second, unless r blocks.
func Read(ctx context.Context, r io.Reader) (*Model, error) { return Format.Read(ctx, r) }
