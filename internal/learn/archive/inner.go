package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
)

// Inner is a file within a file. Its JSON value is its size in bytes.
type Inner struct {
	size  int
	bytes []byte
}

// Inner returns an Inner with the output of write. It must only be called when writing.
func (f *File) Inner(write func(context.Context, io.Writer) error) Inner {
	var b bytes.Buffer
	f.Check(write(context.Background(), &b)) // can't be cancelled, because it writes to memory
	return Inner{b.Len(), b.Bytes()}
}

// Nest describes the contents of an inner file, and the function that reads it.
func (f *File) Nest(name string, in *Inner, read func(context.Context, io.Reader) error) {
	Array(f, name, &in.bytes, in.size)
	f.Then(name, func() error { return read(context.Background(), bytes.NewReader(in.bytes)) })
}

// MarshalJSON implements json.Marshaler.
func (in Inner) MarshalJSON() ([]byte, error) { return json.Marshal(in.size) }

// UnmarshalJSON implements json.Unmarshaler.
func (in *Inner) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &in.size) }
