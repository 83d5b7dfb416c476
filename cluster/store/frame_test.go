package store

import (
	"bytes"
	"errors"
	"testing"
)

// For any bytes, readFrame returns the payload described by the header, or an error. It allocates
// at most the input's size.
func FuzzFrame(f *testing.F) {
	for _, p := range [][]byte{nil, []byte("payload"), bytes.Repeat([]byte("ab"), 600000)} {
		f.Add(append(header("k", [][]byte{p}), p...), "k")
	}
	f.Add([]byte("gramobj1\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7fk"), "k")
	f.Fuzz(func(t *testing.T, b []byte, key string) {
		p, err := readFrame(bytes.NewReader(b), int64(len(b)), key, nil)
		if h, e := readHeader(bytes.NewReader(b), int64(len(b)), key); (e == nil && h.parts(b)) != (err == nil) {
			t.Errorf("error %v of the whole, %v of the header, and parts of another mind", err, e)
		}
		if err != nil {
			if bad := (*damagedError)(nil); !errors.As(err, &bad) || p != nil {
				t.Errorf("error %v with %d bytes", err, len(p))
			}
			return
		}
		if again := append(header(key, [][]byte{p}), p...); !bytes.Equal(again, b) {
			t.Errorf("a frame of %d bytes reads as one of %d", len(b), len(again))
		}
	})
}

// parts reports whether every block of an object is intact.
func (f *frame) parts(b []byte) bool {
	whole := true
	for lo := int64(0); lo < f.payload; lo += blockBytes {
		part := make([]byte, min(blockBytes, f.payload-lo))
		whole = f.read(bytes.NewReader(b[f.begin+lo:]), lo, part) == nil && whole
	}
	return whole
}
