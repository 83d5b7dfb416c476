package corpus

import (
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// Digest returns the SHA-256 of the corpus. It is the same on every platform and for any number of
// workers. The input of the hash is, with little-endian numbers,
//
//	"gram corpus 1\n"
//	rows, columns, stored values                         uint64 each
//	Documents.Offsets, Terms, Values                     int64, uint32, bits of float32
//	Labels.Offsets, Labels.IDs                           int64, int32
//	len(Classes), then each length and text              uint64 and bytes
//	len(Vocabulary), then each length and text           uint64 and bytes
//	Weights, if any isn't 1                              bits of float64
//	"groups\n" and Groups, if there are any              int64
//
// Missing Labels.Offsets are hashed as zeros, missing Documents.Offsets as a single 0, and missing
// Documents as an empty matrix. Other fields, such as Source and Names, are ignored, so that the
// location of the documents doesn't matter.
func (c *Corpus) Digest() [32]byte {
	d := sparse.NewDigester()
	m := c.Documents
	if m == nil {
		m = &sparse.CSR{}
	}
	rows := m.Rows()
	d.WriteText("gram corpus 1\n")
	d.WriteUint64(uint64(rows))
	d.WriteUint64(uint64(m.Cols))
	d.WriteUint64(uint64(m.NNZ()))
	d.WriteOffsets(rows, m.Offsets)
	for _, t := range m.Terms {
		d.WriteUint32(t)
	}
	for _, v := range m.Values {
		d.WriteUint32(math.Float32bits(v))
	}
	d.WriteOffsets(rows, c.Labels.Offsets)
	for _, id := range c.Labels.IDs {
		d.WriteUint32(uint32(id))
	}
	for _, list := range [][]string{c.Classes, c.Vocabulary} {
		d.WriteUint64(uint64(len(list)))
		for _, s := range list {
			d.WriteUint64(uint64(len(s)))
			d.WriteText(s)
		}
	}
	if slices.ContainsFunc(c.Weights, func(w float64) bool { return w != 1 }) {
		for _, w := range c.Weights {
			d.WriteUint64(math.Float64bits(w))
		}
	}
	if c.Groups != nil {
		d.WriteText("groups\n")
		for _, g := range c.Groups {
			d.WriteUint64(uint64(g))
		}
	}
	return d.Sum()
}
