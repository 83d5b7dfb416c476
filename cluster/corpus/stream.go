package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// number is what the stream has lists of.
type number interface {
	byte | int32 | uint32 | int64 | float32
}

// step is how many bytes are turned into numbers, or numbers into bytes, at a time.
const step = 1 << 18

// cutter collects bytes into shards. Its first error stays, and nothing follows it.
type cutter struct {
	ctx   context.Context
	buf   []byte
	yield func(b []byte) error
	err   error
}

func (w *cutter) Write(p []byte) {
	for len(p) > 0 && w.err == nil {
		n := min(ShardBytes-len(w.buf), len(p))
		w.buf = append(w.buf, p[:n]...)
		if p = p[n:]; len(w.buf) == ShardBytes {
			w.flush()
		}
	}
}

func (w *cutter) flush() {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err == nil {
		w.err = w.yield(w.buf)
	}
	w.buf = w.buf[:0]
}

// write appends numbers to the stream.
func write[T number](w *cutter, list []T) {
	size := binary.Size(T(0))
	buf := make([]byte, min(step, size*len(list)))
	for len(list) > 0 && w.err == nil {
		n := min(step/size, len(list))
		_, err := binary.Encode(buf, binary.LittleEndian, list[:n])
		if err != nil {
			w.err = err
			return
		}
		w.Write(buf[:n*size])
		list = list[n:]
	}
}

// joiner hands the bytes of shards on. Its first error stays.
type joiner struct {
	next func() ([]byte, error) // the next shard, io.EOF after the last
	buf  []byte
	err  error
}

// Read implements io.Reader.
func (r *joiner) Read(p []byte) (int, error) {
	for len(r.buf) == 0 && r.err == nil {
		r.buf, r.err = r.next()
	}
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// read returns the next n numbers of the stream.
func read[T number](r *joiner, n int64) []T {
	if r.err != nil {
		return nil
	}
	list := make([]T, n)
	size := binary.Size(T(0))
	buf := make([]byte, min(step, int64(size)*n))
	for left := list; len(left) > 0; {
		k := min(step/size, len(left))
		_, err := io.ReadFull(r, buf[:k*size])
		if err == nil {
			_, err = binary.Decode(buf[:k*size], binary.LittleEndian, left[:k])
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			r.err = err
			return nil
		}
		left = left[k:]
	}
	return list
}
