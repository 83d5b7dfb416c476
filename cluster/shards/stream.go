package shards

import (
	"context"
	"encoding/binary"
	"io"
	"unsafe"
)

type number interface {
	byte | int32 | uint32 | int64 | uint64 | float32
}

// chunkBytes is the maximum number of bytes that writeList encodes at a time.
const chunkBytes = 1 << 18

// splitter divides a stream into shards. After an error, it ignores all writes.
type splitter struct {
	ctx   context.Context
	buf   []byte
	yield func(b []byte) error
	err   error
}

func (w *splitter) Write(p []byte) {
	for len(p) > 0 && w.err == nil {
		n := min(ShardBytes-len(w.buf), len(p))
		w.buf = append(w.buf, p[:n]...)
		if p = p[n:]; len(w.buf) == ShardBytes {
			w.flush()
		}
	}
}

func (w *splitter) flush() {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err == nil {
		w.err = w.yield(w.buf)
	}
	w.buf = w.buf[:0]
}

func writeList[T number](w *splitter, list []T) {
	size := binary.Size(T(0))
	buf := make([]byte, min(chunkBytes, size*len(list)))
	for len(list) > 0 && w.err == nil {
		n := min(chunkBytes/size, len(list))
		_, err := binary.Encode(buf, binary.LittleEndian, list[:n])
		if err != nil {
			w.err = err
			return
		}
		w.Write(buf[:n*size])
		list = list[n:]
	}
}

// joiner reads a stream from its shards. After an error, all reads fail.
type joiner struct {
	next func() ([]byte, error) // returns the next shard, or io.EOF after the last shard
	buf  []byte
	err  error
}

// Read implements io.Reader.
func (r *joiner) Read(p []byte) (int, error) {
	if r.fill(); r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// fill gets the next shard if the current shard has been read completely.
func (r *joiner) fill() {
	for len(r.buf) == 0 && r.err == nil {
		r.buf, r.err = r.next()
	}
}

// readList returns the next n numbers. On a little-endian computer, the numbers share the memory of
// the shard, unless they are misaligned or extend beyond the shard.
func readList[T number](r *joiner, n int64) []T {
	if r.err != nil {
		return nil
	}
	size := int64(binary.Size(T(0)))
	b := r.readBytes(n * size)
	if r.err != nil {
		return nil
	}
	if n == 0 {
		return []T{}
	}
	if first := unsafe.Pointer(&b[0]); littleEndian && uintptr(first)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(first), n)
	}
	list := make([]T, n)
	if _, err := binary.Decode(b, binary.LittleEndian, list); err != nil {
		r.err = err
		return nil
	}
	return list
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func (r *joiner) readBytes(n int64) []byte {
	if n > 0 && len(r.buf) == 0 {
		r.fill()
	}
	if n <= int64(len(r.buf)) {
		b := r.buf[:n:n]
		r.buf = r.buf[n:]
		return b
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err == io.EOF || err == io.ErrUnexpectedEOF {
		r.err = io.ErrUnexpectedEOF
	} else if err != nil {
		r.err = err
	}
	return b
}
