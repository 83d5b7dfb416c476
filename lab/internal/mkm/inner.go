package mkm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// inner is a file nested in another file. In JSON it is represented by its size in bytes.
type inner struct {
	size  int
	bytes []byte
}

// innerOf returns a nested file with the output of write.
func innerOf(f *archive.File, write func(context.Context, io.Writer) error) inner {
	var b bytes.Buffer
	f.Check(write(context.Background(), &b)) // can't be cancelled, because it writes to memory
	return inner{b.Len(), b.Bytes()}
}

// nest describes a nested file: its bytes, and the function that reads them.
func nest(f *archive.File, name string, in *inner, read func(context.Context, io.Reader) error) {
	archive.Array(f, name, &in.bytes, in.size)
	f.AfterRead(name, func() error { return read(context.Background(), bytes.NewReader(in.bytes)) })
}

// MarshalJSON implements json.Marshaler.
func (in inner) MarshalJSON() ([]byte, error) { return json.Marshal(in.size) }

// UnmarshalJSON implements json.Unmarshaler.
func (in *inner) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &in.size) }
