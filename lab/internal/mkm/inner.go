package mkm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// inner is a file within a file. Its JSON value is its size in bytes.
type inner struct {
	size  int
	bytes []byte
}

// innerOf returns an inner file with the output of write. It must only be called when writing.
func innerOf(f *archive.File, write func(context.Context, io.Writer) error) inner {
	var b bytes.Buffer
	f.Check(write(context.Background(), &b)) // can't be cancelled, because it writes to memory
	return inner{b.Len(), b.Bytes()}
}

// nest describes the contents of an inner file, and the function that reads it.
func nest(f *archive.File, name string, in *inner, read func(context.Context, io.Reader) error) {
	archive.Array(f, name, &in.bytes, in.size)
	f.Then(name, func() error { return read(context.Background(), bytes.NewReader(in.bytes)) })
}

// MarshalJSON implements json.Marshaler.
func (in inner) MarshalJSON() ([]byte, error) { return json.Marshal(in.size) }

// UnmarshalJSON implements json.Unmarshaler.
func (in *inner) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &in.size) }
