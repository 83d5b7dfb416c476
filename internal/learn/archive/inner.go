package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
)

// Inner is a file within a file. As a key of the header it is its number of bytes.
type Inner struct {
	size  int
	bytes []byte
}

// Inner returns what a function writes, when the file is written.
func (f *File) Inner(write func(context.Context, io.Writer) error) Inner {
	var b bytes.Buffer
	f.Check(write(context.Background(), &b)) // to memory
	return Inner{b.Len(), b.Bytes()}
}

// Nest describes the bytes of a file within the file, and the function that reads it.
func (f *File) Nest(name string, in *Inner, read func(context.Context, io.Reader) error) {
	Array(f, name, &in.bytes, in.size)
	f.Then(name, func() error { return read(context.Background(), bytes.NewReader(in.bytes)) })
}

// MarshalJSON implements json.Marshaler.
func (in Inner) MarshalJSON() ([]byte, error) { return json.Marshal(in.size) }

// UnmarshalJSON implements json.Unmarshaler.
func (in *Inner) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &in.size) }
