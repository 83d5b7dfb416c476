package sparse

import (
	"bufio"
	"encoding/binary"
	"hash"
	"math"

	"github.com/minio/sha256-simd"
)

// Digest returns the SHA-256 of the embedded documents, which is the same on every platform. It
// hashes the name of the embedding, a zero byte, and 64-bit little-endian integers: the number of
// rows, the number of columns, the offsets, the entries and the bits of the norms. An entry is its
// column times 2³² plus the bits of its value.
func (x *Embedded) Digest() [32]byte {
	d := NewDigester()
	d.WriteText(x.Embedder.String() + "\x00")
	d.WriteUint64(uint64(x.Rows()))
	d.WriteUint64(uint64(x.Cols))
	d.WriteOffsets(x.Rows(), x.Offsets)
	for k, t := range x.Terms {
		d.WriteUint64(uint64(t)<<32 | uint64(math.Float32bits(x.Values[k])))
	}
	for _, v := range x.Norms {
		d.WriteUint64(math.Float64bits(v))
	}
	return d.Sum()
}

// Digester computes the SHA-256 of texts and little-endian numbers.
type Digester struct {
	hash   hash.Hash
	buffer *bufio.Writer
}

// NewDigester returns an empty digester.
func NewDigester() *Digester {
	h := sha256.New()
	return &Digester{h, bufio.NewWriterSize(h, 32<<10)}
}

// WriteUint64 adds x in 8 little-endian bytes.
func (d *Digester) WriteUint64(x uint64) {
	d.buffer.Write(binary.LittleEndian.AppendUint64(d.buffer.AvailableBuffer(), x))
}

// WriteUint32 adds x in 4 little-endian bytes.
func (d *Digester) WriteUint32(x uint32) {
	d.buffer.Write(binary.LittleEndian.AppendUint32(d.buffer.AvailableBuffer(), x))
}

// WriteText adds the bytes of s without their length.
func (d *Digester) WriteText(s string) { d.buffer.WriteString(s) }

// WriteOffsets adds rows+1 offsets, with 0 for missing offsets.
func (d *Digester) WriteOffsets(rows int, offsets []int64) {
	for i := range rows + 1 {
		var x int64
		if i < len(offsets) {
			x = offsets[i]
		}
		d.WriteUint64(uint64(x))
	}
}

// Sum returns the digest of all data written so far.
func (d *Digester) Sum() [32]byte {
	d.buffer.Flush()
	return [32]byte(d.hash.Sum(nil))
}
