package sparse

import (
	"encoding/binary"
	"hash"
	"math"
	"slices"

	"github.com/minio/sha256-simd"
)

// Digest returns the SHA-256 of what the corpus holds, the same on every platform and for any
// number of workers: of the bytes
//
//	"gram corpus 1\n"
//	rows, columns, stored values                         uint64 each
//	Documents.Offsets, Terms, Values                     int64, uint32, bits of float32
//	Labels.Offsets, Labels.IDs                           int64, int32
//	len(Classes), then each length and text              uint64 and bytes
//	len(Vocabulary), then each length and text           uint64 and bytes
//	Weights, where one isn't 1                           bits of float64
//
// all numbers little-endian. A corpus without labels counts as one whose Labels.Offsets are all 0,
// one without offsets at all as one of 0 rows, and one without documents as one of an empty matrix.
// Source, Names and Warnings don't enter: the same documents have the same digest wherever they
// lie.
func (c *Corpus) Digest() [32]byte {
	d := digester{hash: sha256.New()}
	m := c.Documents
	if m == nil {
		m = &CSR{}
	}
	rows := m.Rows()
	d.text("gram corpus 1\n")
	d.uint64(uint64(rows))
	d.uint64(uint64(m.Cols))
	d.uint64(uint64(m.NNZ()))
	d.offsets(rows, m.Offsets)
	for _, t := range m.Terms {
		d.uint32(t)
	}
	for _, v := range m.Values {
		d.uint32(math.Float32bits(v))
	}
	d.offsets(rows, c.Labels.Offsets)
	for _, id := range c.Labels.IDs {
		d.uint32(uint32(id))
	}
	for _, list := range [][]string{c.Classes, c.Vocabulary} {
		d.uint64(uint64(len(list)))
		for _, s := range list {
			d.uint64(uint64(len(s)))
			d.text(s)
		}
	}
	if slices.ContainsFunc(c.Weights, func(w float64) bool { return w != 1 }) {
		for _, w := range c.Weights {
			d.uint64(math.Float64bits(w))
		}
	}
	return d.sum()
}

// Digest returns the SHA-256 of the embedded documents, the same on every platform: of the
// embedding's name and a zero byte, then, in 64 bits each and little-endian, the numbers of rows
// and columns, the offsets, for each entry its column times 2³² plus the bits of its value, and the
// bits of the norms. It panics if x has no embedder, or lists whose lengths don't fit together.
func (x *Embedded) Digest() [32]byte {
	must(x.validateShape())
	d := digester{hash: sha256.New()}
	d.text(x.Embedder.String() + "\x00")
	d.uint64(uint64(x.Rows()))
	d.uint64(uint64(x.Cols))
	d.offsets(x.Rows(), x.Offsets)
	for k, t := range x.Terms {
		d.uint64(uint64(t)<<32 | uint64(math.Float32bits(x.Values[k])))
	}
	for _, v := range x.Norms {
		d.uint64(math.Float64bits(v))
	}
	return d.sum()
}

// digester gathers what is hashed, so that the hash sees long runs.
type digester struct {
	hash hash.Hash
	buf  []byte
}

func (d *digester) uint64(x uint64) { d.buf = binary.LittleEndian.AppendUint64(d.room(), x) }
func (d *digester) uint32(x uint32) { d.buf = binary.LittleEndian.AppendUint32(d.room(), x) }
func (d *digester) text(s string)   { d.buf = append(d.room(), s...) }

// room returns the buffer, emptied if it is nearly full.
func (d *digester) room() []byte {
	if len(d.buf) >= 32<<10 {
		d.flush()
	}
	return d.buf
}

// offsets adds rows+1 numbers, 0 for those that aren't there.
func (d *digester) offsets(rows int, offsets []int64) {
	for i := range rows + 1 {
		var x int64
		if i < len(offsets) {
			x = offsets[i]
		}
		d.uint64(uint64(x))
	}
}

func (d *digester) flush() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digester) sum() [32]byte {
	d.flush()
	return [32]byte(d.hash.Sum(nil))
}
