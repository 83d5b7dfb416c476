package mkm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// nestedFile is a file nested in another file. In JSON it is represented by its size in bytes.
type nestedFile struct {
	size  int
	bytes []byte
}

func newNestedFile(f *archive.File, write func(context.Context, io.Writer) error) nestedFile {
	var b bytes.Buffer
	f.RecordError(write(context.Background(), &b)) // can't be cancelled, because it writes to memory
	return nestedFile{b.Len(), b.Bytes()}
}

// describeNested describes a nested file: its bytes, and the function that reads them.
func describeNested(f *archive.File, name string, in *nestedFile, read func(context.Context, io.Reader) error) {
	archive.Array(f, name, &in.bytes, in.size)
	f.AfterRead(name, func() error { return read(context.Background(), bytes.NewReader(in.bytes)) })
}

// MarshalJSON implements json.Marshaler.
func (in nestedFile) MarshalJSON() ([]byte, error) { return json.Marshal(in.size) }

// UnmarshalJSON implements json.Unmarshaler.
func (in *nestedFile) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &in.size) }
