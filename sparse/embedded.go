package sparse

import (
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"github.com/minio/sha256-simd"
)

// Embedded is a set of documents as unit vectors, with the norms that they had before they were scaled to length 1.
//
// The definition of a row is its float64 form, [Embedded.Unit64]; Values holds the same rounded to float32. The raw values are kept, so that
// the float64 form can be had at any time for 8 bytes a document instead of 8 bytes a value. Norms and Divisors are float64.
// An Embedded is immutable and may be used concurrently.
type Embedded struct {
	CSR                // unit rows in float32, columns as Embedder has them, no zeros stored
	Embedder *Embedder // what made it
	Norms    []float64 // Euclidean norm of each embedded row before it was scaled to length 1
	Raw      []float32 // the values of the corpus behind each entry
	Divisors []float64 // with v the weighted values: Σ|v| for an embedding with square root, ‖v‖₂ without
}

// Transform embeds documents, training or test. With v the weighted values of a document (raw value times weight), n its norm of the
// embedding's kind, and x = v/n or, with Sqrt, x = √(v/n), row i of the result is x/‖x‖₂ and Norms[i] is ‖x‖₂.
//
// Terms that weren't seen at training are left out (unless the embedder is Open), and so are values of weight 0 (tfidf of a term that is in every
// document). A document that loses all its terms, or had none, becomes the unit vector of the last column, which no other document uses: its cosine is 0
// with every other document and 1 with another such document. Its norm is 0 (1 for an L1-normalised square root or an L2-normalised document, whose
// norms are always 1).
//
// A negative value under a square root and a value that isn't finite are errors that name the row and the term.
func (f *Embedder) Transform(m *CSR) (*Embedded, error) { return f.TransformRows(m, 0, m.Rows()) }

// TransformRows is [Embedder.Transform] for rows first <= i < end of a matrix, whose first becomes row 0 of the result; errors name the rows as m has them.
func (f *Embedder) TransformRows(m *CSR, first, end int) (*Embedded, error) {
	n := end - first
	var nnz int64
	if n > 0 {
		nnz = m.Offsets[end] - m.Offsets[first]
	}
	x := &Embedded{
		CSR:      CSR{Cols: f.Cols(), Offsets: make([]int64, 1, n+1), Terms: make([]uint32, 0, nnz), Values: make([]float32, 0, nnz)},
		Embedder: f,
		Norms:    make([]float64, n),
		Raw:      make([]float32, 0, nnz),
		Divisors: make([]float64, n),
	}
	var unit []float64
	for i := range n {
		terms, values := m.Row(first + i)
		var l1, l2, unseen float64
		for k, t := range terms {
			column, ok := f.Column(t)
			if !ok && f.Open {
				unseen += float64(float64(values[k]) * float64(values[k]))
			}
			if !ok || values[k] == 0 {
				continue
			}
			v := f.weighted(column, values[k])
			if v == 0 {
				continue
			}
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && f.Sqrt {
				return nil, fmt.Errorf("sparse: row %d, term %d: found %v, expected a finite value%s", first+i, t, values[k],
					map[bool]string{true: " not below 0, for the embedding " + f.Embedding.String()}[f.Sqrt])
			}
			x.Terms = append(x.Terms, column)
			x.Raw = append(x.Raw, values[k])
			l1 += math.Abs(v)
			l2 += float64(v * v)
		}
		if unseen != 0 {
			if !(unseen <= math.MaxFloat32*math.MaxFloat32) {
				return nil, fmt.Errorf("sparse: row %d: the terms that weren't seen at training have the length %v, expected a finite float32", i, math.Sqrt(unseen))
			}
			x.Terms = append(x.Terms, uint32(len(f.Terms)))
			x.Raw = append(x.Raw, float32(math.Sqrt(unseen)))
			l1 += math.Sqrt(unseen)
			l2 += unseen
		}
		l2 = math.Sqrt(l2)
		if int64(len(x.Raw)) == x.Offsets[i] {
			x.Terms = append(x.Terms, uint32(len(f.Terms)))
			x.Raw = append(x.Raw, 1)
			x.Divisors[i] = 1
			x.Norms[i] = f.norm(0, 0)
		} else {
			x.Divisors[i] = l2
			if f.Sqrt {
				x.Divisors[i] = l1
			}
			x.Norms[i] = f.norm(l1, l2)
		}
		x.Offsets = append(x.Offsets, int64(len(x.Raw)))
		unit = x.Unit64(i, unit)
		for _, u := range unit {
			x.Values = append(x.Values, float32(u))
		}
	}
	return x, nil
}

// weighted returns the weighted value of a raw one.
func (f *Embedder) weighted(column uint32, raw float32) float64 {
	if f.Weights == nil || int(column) == len(f.Terms) {
		return float64(raw)
	}
	return float64(float64(raw) * f.Weights[column])
}

// norm returns ‖x‖₂ of an embedded row, given Σ|v| and ‖v‖₂ of its weighted values, both 0 for an empty row.
func (f *Embedder) norm(l1, l2 float64) float64 {
	switch {
	case f.Sqrt && f.Norm == NormL1, !f.Sqrt && f.Norm == NormL2:
		return 1
	case l1 == 0:
		return 0
	case f.Sqrt && f.Norm == NormL2:
		return math.Sqrt(l1 / l2)
	case f.Sqrt:
		return math.Sqrt(l1)
	case f.Norm == NormL1:
		return l2 / l1
	}
	return l2
}

// Unit64 returns row i in float64, parallel to the columns that Row(i) returns: v/‖v‖₂, or √(v/Σv) for an embedding with square root.
// It is written into dst, which grows where it is too short. Each value carries at most 2 roundings beyond those of the divisor, and
// documents with proportional counts have equal values under the square root, since a correctly rounded quotient of proportional integers is the same.
func (x *Embedded) Unit64(i int, dst []float64) []float64 {
	lo, hi := x.Offsets[i], x.Offsets[i+1]
	dst = dst[:0]
	d := x.Divisors[i]
	for k := lo; k < hi; k++ {
		u := x.Embedder.weighted(x.Terms[k], x.Raw[k]) / d
		if x.Embedder.Sqrt {
			u = math.Sqrt(u)
		}
		dst = append(dst, u)
	}
	return dst
}

// Bytes returns the memory that the matrix holds, in bytes, without the embedder's.
func (x *Embedded) Bytes() int64 {
	return x.CSR.Bytes() + 4*int64(len(x.Raw)) + 8*int64(len(x.Norms)+len(x.Divisors))
}

// EmbeddedBytes returns what Bytes returns for so many rows and values.
func EmbeddedBytes(rows int, values int64) int64 { return 12*values + 24*int64(rows) + 8 }

// Empty returns the number of documents without any term: those that had none, and those whose terms the embedding left out.
func (x *Embedded) Empty() int {
	n := 0
	for i := range x.Rows() {
		if terms, _ := x.Row(i); len(terms) == 1 && int(terms[0]) == x.Cols-1 && !(x.Embedder.Open && x.Norms[i] > 0) {
			n++
		}
	}
	return n
}

// Digest returns the SHA-256 of the matrix, the same on every platform: the embedding's name and a zero byte, then as little-endian
// 64-bit numbers the rows, columns and offsets, then columns and float32 values of the entries and the float64 norms, as their bits.
func (x *Embedded) Digest() [32]byte {
	h := sha256.New()
	h.Write(append([]byte(x.Embedder.String()), 0))
	w := &digestWriter{h: h}
	w.u64(uint64(x.Rows()))
	w.u64(uint64(x.Cols))
	for _, o := range x.Offsets {
		w.u64(uint64(o))
	}
	for k, t := range x.Terms {
		w.u64(uint64(t)<<32 | uint64(math.Float32bits(x.Values[k])))
	}
	for _, v := range x.Norms {
		w.u64(math.Float64bits(v))
	}
	w.flush()
	return [32]byte(h.Sum(nil))
}

// digestWriter gathers numbers into blocks, since a hash is slow on single words.
type digestWriter struct {
	h   hash.Hash
	buf []byte
}

func (w *digestWriter) u64(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
	if len(w.buf) >= 1<<15 {
		w.flush()
	}
}

func (w *digestWriter) flush() {
	w.h.Write(w.buf)
	w.buf = w.buf[:0]
}
