package sparse

import (
	"fmt"
	"math"
)

// Embedded is a set of documents as unit vectors, with their norms before they were scaled to
// length 1. If the pairing is not the dot product, rows are histograms θ instead, Σθ = 1, and norms
// are 1, since the pairing is an inner product of unit vectors.
//
// [Embedded.Unit64] defines a row in float64; Values holds it rounded to float32. Raw and Divisors
// allow that for 8 bytes per document instead of 8 bytes per value. An Embedded is immutable and
// may be used concurrently.
type Embedded struct {
	CSR                // unit rows in float32, columns as Embedder has them, no zeros stored
	Embedder *Embedder // what made it
	From     []int     // From[i] is the row of the matrix that row i was embedded from; nil: i
	Norms    []float64 // Euclidean norm of each embedded row before it was scaled to length 1
	Raw      []float32 // the values of the corpus behind each entry
	// with v the weighted values: Σ|v| for an embedding with square root and for histograms, ‖v‖₂
	// without, √Σ (v/max v)^2p for another power p
	Divisors []float64
}

// Source returns the row of the matrix that row i was embedded from.
func (x *Embedded) Source(i int) int {
	if x.From == nil {
		return i
	}
	return x.From[i]
}

// Factors returns the two numbers whose product is the weighted value of a raw one: the value itself,
// less the shift of a scaled column, or the damped count, NaN where a count can't be damped, and the
// weight of its column, 1 without idf and scale.
// The last column, and those that there aren't, have the raw value and 1.
func (f *Embedder) Factors(column uint32, raw float32) (v, weight float64) {
	v = float64(raw)
	if int(column) >= len(f.Terms) {
		return v, 1
	}
	if f.Weighting.Damped() {
		v = f.damp(v)
	}
	if int(column) >= len(f.Weights) { // without idf and scale
		return v, 1
	}
	if int(column) < len(f.Shifts) {
		v -= f.Shifts[column]
	}
	return v, f.Weights[column]
}

// damp returns 1 + ln v for a finite v of at least 1, of views above 1/e, since their counts are scaled; else NaN.
func (f *Embedder) damp(v float64) float64 {
	switch {
	case v == 1:
		return 1
	case v > 1 && v <= math.MaxFloat64, v > 0 && v < 1 && f.Views != nil:
		if d := 1 + logRatio(v, 1); d > 0 {
			return d
		}
	}
	return math.NaN()
}

// norm returns ‖x‖₂ of an embedded row, given Σ|v| and ‖v‖₂ of its weighted values, both 0 for an
// empty row: the zero vector, but where embedded documents are points of the sphere or histograms,
// of which there is none. Powers other than the square root have [Embedder.raisedNorm].
func (f *Embedder) norm(l1, l2 float64) float64 {
	switch {
	case f.Pairing != Dot, f.Power == Root && f.Norm == NormL1:
		return 1
	case l1 == 0:
		return 0
	case f.Power == 0 && f.Norm == NormL2:
		return 1
	case f.Power == Root && f.Norm == NormL2:
		return math.Sqrt(l1 / l2)
	case f.Power == Root:
		return math.Sqrt(l1)
	case f.Norm == NormL1:
		return l2 / l1
	}
	return l2
}

// Unit64 returns row i in float64, parallel to the columns of Row(i): v/‖v‖₂, or √(v/Σv) for an
// embedding with square root, or (v/max v)^p / √Σ (v/max v)^2p with another power p, or v/Σv for
// histograms. It writes into dst, which grows if it is too short.
//
// Each value carries at most 2 roundings beyond those of the divisor, and 4+2p ulp for a power p.
// Documents with proportional counts have equal values under a power and as histograms, since a
// correctly rounded quotient of proportional integers is the same.
func (x *Embedded) Unit64(i int, dst []float64) []float64 {
	d := x.Divisors[i]
	if x.Embedder.general() {
		dst, _ = x.powers(i, dst)
	} else {
		dst = x.weightedRow(i, dst)
	}
	root := x.Embedder.Power == Root
	for k, v := range dst {
		if dst[k] = v / d; root {
			dst[k] = math.Sqrt(dst[k])
		}
	}
	return dst
}

// weightedRow writes the weighted values of row i into dst, which grows if it is too short.
func (x *Embedded) weightedRow(i int, dst []float64) []float64 {
	lo, hi := x.Offsets[i], x.Offsets[i+1]
	if dst = dst[:0]; cap(dst) < int(hi-lo) {
		dst = make([]float64, 0, hi-lo)
	}
	w := weigher{f: x.Embedder}
	for k := lo; k < hi; k++ {
		dst = append(dst, w.weighted(x.Terms[k], x.Raw[k]))
	}
	return dst
}

// weigher computes weighted values of a row.
type weigher struct {
	f    *Embedder
	damp memo
}

// weighted returns the weighted value of a raw one; NaN for a count that can't be damped.
func (w *weigher) weighted(column uint32, raw float32) float64 {
	v, weight := w.factors(column, raw)
	return float64(v * weight)
}

// factors is [Embedder.Factors].
func (w *weigher) factors(column uint32, raw float32) (v, weight float64) {
	f := w.f
	if !f.Weighting.Damped() || int(column) >= len(f.Terms) {
		return f.Factors(column, raw)
	}
	damped := w.damp.of(raw)
	if *damped == 0 {
		*damped = f.damp(float64(raw))
	}
	if int(column) >= len(f.Weights) {
		return *damped, 1
	}
	return *damped, f.Weights[column]
}

// memo keeps what was computed of the numbers met last: a row holds few different counts, whose logarithms and
// powers take most of the time of embedding it.
type memo [64]struct {
	raw   float32
	value float64
}

// of returns the place of a number's value, which is 0 where it isn't known.
func (m *memo) of(raw float32) *float64 {
	at := &m[math.Float32bits(raw)*0x9e3779b1>>26] // Fibonacci hashing
	if at.raw != raw {
		at.raw, at.value = raw, 0
	}
	return &at.value
}

// powers writes (v/max v)^p of the weighted values v of row i, all above 0, into dst, which grows
// if it is too short, and returns it with max v. Counts in text are small numbers, mostly 1, so
// that the last power is often wanted again: 0.10 instead of 0.17 s for 20 Newsgroups.
func (x *Embedded) powers(i int, dst []float64) (powers []float64, largest float64) {
	dst = x.weightedRow(i, dst)
	for _, v := range dst {
		largest = max(largest, v)
	}
	var last, u float64
	for k, v := range dst {
		if v != last {
			last, u = v, power(v/largest, x.Embedder.Power)
		}
		dst[k] = u
	}
	return dst, largest
}

// raisedNorm returns the norm of a row for a power p other than the square root: (max v/n)^p times
// the divisor, where n is the norm of the embedding's kind, from l1 = Σ|v| and l2 = ‖v‖₂. Relative
// to the greatest value nothing overflows.
func (f *Embedder) raisedNorm(divisor, largest, l1, l2 float64) float64 {
	n := 1.0
	switch f.Norm {
	case NormL1:
		n = l1
	case NormL2:
		n = l2
	}
	return float64(power(largest/n, f.Power) * divisor)
}

// Bytes returns the memory that the matrix holds, in bytes, without the embedder's.
func (x *Embedded) Bytes() int64 {
	return x.CSR.Bytes() + 4*int64(len(x.Raw)) + 8*int64(len(x.Norms)+len(x.Divisors))
}

// EmbeddedBytes returns what Bytes returns for so many rows and values, at most [math.MaxInt64].
func EmbeddedBytes(rows int, values int64) int64 {
	if values > math.MaxInt64/64 || int64(rows) > math.MaxInt64/64 {
		return math.MaxInt64
	}
	return 12*values + 24*int64(rows) + 8
}

// Empty returns the number of documents without any term, or whose terms were all left out.
func (x *Embedded) Empty() int {
	n := 0
	for i := range x.Rows() {
		if x.EmptyRow(i) {
			n++
		}
	}
	return n
}

// EmptyRow reports whether document i has no term, or its terms were all left out.
func (x *Embedded) EmptyRow(i int) bool {
	unseen := x.Embedder != nil && x.Embedder.Open && i < len(x.Norms) && x.Norms[i] > 0
	terms, _ := x.Row(i)
	return len(terms) == 1 && int(terms[0]) == x.Cols-1 && !unseen
}

// Vector64 returns row i in float64 before it is scaled to length 1: x of [Embedder.Transform],
// parallel to the columns of Row(i). Another program computes the same kernel values from these
// vectors. It writes into dst, which grows if it is too short. It needs norms. A document without known terms has the
// value Norms[i] in the last column.
//
// Without a normalisation the values are the weighted ones of the corpus, or their square roots,
// each rounded once, or another power p of them, to 4+2p ulp; otherwise each carries at most one
// rounding beyond those of [Embedded.Unit64] and of the norm.
func (x *Embedded) Vector64(i int, dst []float64) []float64 {
	f, norm := x.Embedder, x.Norms[i]
	if f.Norm != NormNone || norm == 0 {
		dst = x.Unit64(i, dst)
		for k := range dst {
			dst[k] *= norm
		}
		return dst
	}
	dst = x.weightedRow(i, dst)
	for k, v := range dst {
		switch {
		case f.Power == Root:
			dst[k] = math.Sqrt(v)
		case f.general():
			dst[k] = power(v, f.Power)
		}
	}
	return dst
}

// MaxNorm is the greatest norm that kernels of norms take. Up to here float32 holds the squares of
// norms and of distances.
const MaxNorm = 0x1p62

// Validate checks that rows are as [CSR.Validate] wants them, unit vectors or histograms, with the columns of the
// embedder. Norms may be nil, since kernels of the cosine don't use them. It takes one pass.
func (x *Embedded) Validate() error {
	if err := x.validateShape(); err != nil {
		return err
	}
	return x.eachRow(x.validateUnit)
}

// validateUnit checks a row.
func (x *Embedded) validateUnit(i int) error {
	if err := x.validateRow(i); err != nil {
		return err
	}
	sum, d := 0.0, x.Divisors[i]
	_, values := x.Row(i)
	for _, v := range values {
		u := float64(v)
		if x.Embedder.Pairing == Dot {
			u *= u
		}
		sum += float64(u)
	}
	const roundings = 1e-5 // of float32 and of the sum
	switch {
	case !(math.Abs(sum-1) <= roundings):
		return fmt.Errorf("sparse: row %d: the squares, or shares of a histogram, sum to %v, expected 1", i, sum)
	case !(d > 0 && d <= math.MaxFloat64):
		return fmt.Errorf("sparse: row %d: divisor %v, expected a finite number above 0", i, d)
	case x.Norms != nil && !(x.Norms[i] >= 0 && x.Norms[i] <= math.MaxFloat64):
		return fmt.Errorf("sparse: row %d: norm %v, expected a finite number of at least 0", i, x.Norms[i])
	}
	return nil
}

// validateShape checks the embedder and the lengths of the lists.
func (x *Embedded) validateShape() error {
	if x == nil {
		return fmt.Errorf("sparse: no embedded documents, expected some")
	}
	if err := x.Embedder.Validate(); err != nil {
		return err
	}
	if err := x.CSR.validateShape(); err != nil {
		return err
	}
	switch n := x.Rows(); {
	case x.Cols != x.Embedder.Cols():
		return fmt.Errorf("sparse: embedded documents of %d columns, expected those of the embedder, %d",
			x.Cols, x.Embedder.Cols())
	case len(x.Raw) != len(x.Values):
		return fmt.Errorf("sparse: embedded documents have %d raw values, expected %d, one for each value",
			len(x.Raw), len(x.Values))
	case len(x.Divisors) != n:
		return fmt.Errorf("sparse: embedded documents have %d divisors, expected %d, one for each row",
			len(x.Divisors), n)
	case x.Norms != nil && len(x.Norms) != n:
		return fmt.Errorf("sparse: embedded documents have %d norms, expected %d, one for each row, or none",
			len(x.Norms), n)
	}
	return nil
}
