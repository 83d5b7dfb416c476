package sparse

import (
	"encoding/binary"
	"hash"
	"math"

	"github.com/minio/sha256-simd"
)

// Embedded is a set of documents as unit vectors, with the norms that they had before they were
// scaled to length 1.
//
// Of an embedding whose pairing is not the dot product the rows are histograms θ instead, Σθ = 1;
// what is of length 1 are the vectors of which the pairing is the inner product, so that norms are
// 1, too.
//
// The definition of a row is its float64 form, [Embedded.Unit64]; Values holds the same rounded to
// float32. The raw values are kept, so that the float64 form can be had at any time for 8 bytes a
// document instead of 8 bytes a value. Norms and Divisors are float64. An Embedded is immutable and
// may be used concurrently.
type Embedded struct {
	CSR                // unit rows in float32, columns as Embedder has them, no zeros stored
	Embedder *Embedder // what made it
	Norms    []float64 // Euclidean norm of each embedded row before it was scaled to length 1
	Raw      []float32 // the values of the corpus behind each entry
	// with v the weighted values: Σ|v| for an embedding with square root and for histograms, ‖v‖₂
	// without, √Σ (v/max v)^2p for another power p
	Divisors []float64
}

// weighted returns the weighted value of a raw one.
func (f *Embedder) weighted(column uint32, raw float32) float64 {
	if f.Weights == nil || int(column) == len(f.Terms) {
		return float64(raw)
	}
	return float64(float64(raw) * f.Weights[column])
}

// norm returns ‖x‖₂ of an embedded row, given Σ|v| and ‖v‖₂ of its weighted values, both 0 for an
// empty row. Powers other than the square root have [Embedded.raised].
func (f *Embedder) norm(l1, l2 float64) float64 {
	switch {
	case f.Pairing != Dot, f.Power == Root && f.Norm == NormL1, f.Power == 0 && f.Norm == NormL2:
		return 1
	case l1 == 0:
		return 0
	case f.Power == Root && f.Norm == NormL2:
		return math.Sqrt(l1 / l2)
	case f.Power == Root:
		return math.Sqrt(l1)
	case f.Norm == NormL1:
		return l2 / l1
	}
	return l2
}

// Unit64 returns row i in float64, parallel to the columns that Row(i) returns: v/‖v‖₂, or √(v/Σv)
// for an embedding with square root, or (v/max v)^p / √Σ (v/max v)^2p for one with another power p,
// or v/Σv for one of histograms. It is written into dst, which grows where it is too short. Without
// such a row it panics. Each value carries at most 2 roundings beyond those of the divisor (and
// 4+2p ulp for a power p), and documents with proportional counts have equal values under a power
// and as histograms, since a correctly rounded quotient of proportional integers is the same.
func (x *Embedded) Unit64(i int, dst []float64) []float64 {
	x.mustHaveRow(i)
	lo, hi := x.Offsets[i], x.Offsets[i+1]
	d := x.Divisors[i]
	if x.Embedder.general() {
		dst, _ = x.powers(lo, hi, dst)
		for k := range dst {
			dst[k] /= d
		}
		return dst
	}
	if dst = dst[:0]; cap(dst) < int(hi-lo) {
		dst = make([]float64, 0, hi-lo)
	}
	for k := lo; k < hi; k++ {
		u := x.Embedder.weighted(x.Terms[k], x.Raw[k]) / d
		if x.Embedder.Power == Root {
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

// EmbeddedBytes returns what Bytes returns for so many rows and values: for numbers below 0 what it
// is for 0, and for more than int64 can count the greatest number.
func EmbeddedBytes(rows int, values int64) int64 {
	const most = math.MaxInt64 / 64
	if int64(rows) > most || values > most {
		return math.MaxInt64
	}
	return 12*max(values, 0) + 24*max(int64(rows), 0) + 8
}

// Empty returns the number of documents without any term: those that had none, and those whose
// terms the embedding left out. It panics where x has no embedder, or lists whose lengths don't go
// with each other.
func (x *Embedded) Empty() int {
	x.mustHaveShape()
	n := 0
	for i := range x.Rows() {
		x.mustHaveRow(i)
		unseen := x.Embedder.Open && i < len(x.Norms) && x.Norms[i] > 0
		if terms, _ := x.Row(i); len(terms) == 1 && int(terms[0]) == x.Cols-1 && !unseen {
			n++
		}
	}
	return n
}

// Digest returns the SHA-256 of the matrix, the same on every platform: the embedding's name and a
// zero byte, then as little-endian 64-bit numbers the rows, columns and offsets, then columns and
// float32 values of the entries and the float64 norms, as their bits. It panics where x has no
// embedder, or lists whose lengths don't go with each other.
func (x *Embedded) Digest() [32]byte {
	x.mustHaveShape()
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
