package sparse

import (
	"fmt"
	"math"
)

// Embedded holds documents as unit vectors, and the vectors' norms before normalisation. If the
// pairing isn't [Cosine], rows are histograms θ with Σθ = 1 instead. The norms are then 1, because
// the pairing is an inner product of unit vectors.
//
// [Embedded.UnitVector64] computes a row in float64 from RawValues and Divisors. Values holds the
// row rounded to float32. An Embedded is immutable and may be used concurrently.
type Embedded struct {
	CSR        // unit rows in float32, with the columns of Embedder
	Embedder   *Embedder
	SourceRows []int     // row i was embedded from row SourceRows[i] of the matrix; nil if SourceRows[i] = i
	Norms      []float64 // Norms[i] is the Euclidean norm of row i before normalisation
	RawValues  []float32 // raw value of each entry, such as a count
	// Divisors[i] is the denominator of row i in the formulas of [Embedded.UnitVector64].
	Divisors []float64
}

// SourceRow returns the index of the matrix row from which row i was embedded.
func (x *Embedded) SourceRow(i int) int {
	if x.SourceRows == nil {
		return i
	}
	return x.SourceRows[i]
}

// Factors returns two numbers whose product is the weighted value of a raw value. v is the raw
// value or the damped count, minus the shift of the column. If a count can't be damped, v is NaN.
// weight is 1 if columns have no weights. If column >= len(Terms), v is the raw value x and weight
// is 1. In vector views weight is 1, and v has the sign of x, with |v|^p = |x| for a power p.
func (f *Embedder) Factors(column uint32, raw float32) (v, weight float64) {
	v = float64(raw)
	switch {
	case int(column) >= len(f.Terms):
		return v, 1
	case f.isVector(column) && f.Power == SquareRoot:
		return float64(v * math.Abs(v)), 1
	case f.isVector(column) && f.Power != 0 && v != 0:
		return math.Copysign(power(math.Abs(v), 1/f.Power), v), 1
	case f.isVector(column):
		return v, 1
	}
	if f.Weighting.DampsCounts() {
		v = f.damp(v)
	}
	if int(column) >= len(f.Weights) { // the columns have no weights
		return v, 1
	}
	if int(column) < len(f.Shifts) {
		v -= f.Shifts[column]
	}
	return v, f.Weights[column]
}

// damp returns 1 + ln v for finite v >= 1. If there are views, which scale counts, it returns 1 +
// ln v for v > 1/e, too. For other v it returns NaN.
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

// norm returns ‖x‖₂ of an embedded row from l1 = Σ|v| and l2 = ‖v‖₂ of its weighted values. Square
// roots with NormL1 and histograms have norm 1, even for an empty row. Other empty rows have norm
// 0. Unless the row is empty, the power must be 0 or SquareRoot.
func (f *Embedder) norm(l1, l2 float64) float64 {
	switch {
	case f.Pairing != Cosine, f.Power == SquareRoot && f.Norm == NormL1:
		return 1
	case l1 == 0:
		return 0
	case f.Power == SquareRoot:
		return math.Sqrt(l1 / f.divisor(l1, l2))
	}
	return l2 / f.divisor(l1, l2)
}

// divisor returns the norm of the weighted values that f.Norm selects, or 1 for [NormNone].
func (f *Embedder) divisor(l1, l2 float64) float64 {
	return [...]float64{NormNone: 1, NormL1: l1, NormL2: l2}[f.Norm]
}

// UnitVector64 returns row i in float64, parallel to the columns of Row(i). It writes to dst, which
// grows if necessary. For weighted values v, the result is
//
//	v/‖v‖₂                          without a power
//	√(v/Σ|v|)                       with a square root
//	(v/max v)^p / √Σ (v/max v)^2p   with another power p
//	v/Σv                            for histograms
//
// A value has at most 2 roundings in addition to the roundings of the divisor. With another power
// p, the error is at most 4+2p ulp. With a power, and for histograms, documents with proportional
// counts have equal values, because correctly rounded quotients of proportional integers are equal.
func (x *Embedded) UnitVector64(i int, dst []float64) []float64 {
	d := x.Divisors[i]
	if x.Embedder.hasGeneralPower() {
		dst, _ = x.powers(i, dst)
	} else {
		dst = x.weightedRow(i, dst)
	}
	x.Embedder.normalize(dst, d)
	return dst
}

func (f *Embedder) normalize(values []float64, d float64) {
	if f.Power != SquareRoot {
		for k, v := range values {
			values[k] = v / d
		}
		return
	}
	for k, v := range values {
		values[k] = signedRoot(v / d)
	}
}

func signedRoot(v float64) float64 { return math.Copysign(math.Sqrt(math.Abs(v)), v) }

func (x *Embedded) weightedRow(i int, dst []float64) []float64 {
	lo, hi := x.Offsets[i], x.Offsets[i+1]
	if dst = dst[:0]; cap(dst) < int(hi-lo) {
		dst = make([]float64, 0, hi-lo)
	}
	w := weighter{f: x.Embedder}
	for k := lo; k < hi; k++ {
		dst = append(dst, w.weightedValue(x.Terms[k], x.RawValues[k]))
	}
	return dst
}

// weighter computes weighted values and caches damped counts.
type weighter struct {
	f    *Embedder
	damp valueCache
}

// weightedValue returns the weighted value of a raw value, or NaN if a count can't be damped.
func (w *weighter) weightedValue(column uint32, raw float32) float64 {
	if w.f.isUnweighted() {
		return float64(raw)
	}
	v, weight := w.factors(column, raw)
	return float64(v * weight)
}

// isUnweighted reports whether weighted values equal raw values.
func (f *Embedder) isUnweighted() bool {
	return len(f.Weights) == 0 && f.vectorColumns == nil && !f.Weighting.DampsCounts()
}

func (w *weighter) factors(column uint32, raw float32) (v, weight float64) {
	f := w.f
	if !f.Weighting.DampsCounts() || int(column) >= len(f.Terms) || f.isVector(column) {
		return f.Factors(column, raw)
	}
	damped := w.damp.lookup(raw)
	if *damped == 0 {
		*damped = f.damp(float64(raw))
	}
	if int(column) >= len(f.Weights) {
		return *damped, 1
	}
	return *damped, f.Weights[column]
}

// valueCache caches a result per raw value, because a row has few distinct counts. Computing
// logarithms and powers takes most of the embedding time.
type valueCache [64]struct {
	raw   float32
	value float64
}

// lookup returns a pointer to the cached result for a raw value. The result is 0 if it isn't cached
// yet.
func (m *valueCache) lookup(raw float32) *float64 {
	at := &m[math.Float32bits(raw)*0x9e3779b1>>26] // Fibonacci hashing
	if at.raw != raw {
		at.raw, at.value = raw, 0
	}
	return &at.value
}

// powers returns (|v|/max |v|)^p, with the sign of v, for the weighted values v of row i. largest
// is max |v|. It writes to dst, which grows if necessary. Equal consecutive values share a
// computation.
func (x *Embedded) powers(i int, dst []float64) (powers []float64, largest float64) {
	dst = x.weightedRow(i, dst)
	for _, v := range dst {
		largest = max(largest, math.Abs(v))
	}
	var last, u float64
	for k, v := range dst {
		if size := math.Abs(v); size != last {
			last, u = size, power(size/largest, x.Embedder.Power)
		}
		dst[k] = math.Copysign(u, v)
	}
	return dst, largest
}

// Bytes returns the size of the matrix in bytes, without the embedder.
func (x *Embedded) Bytes() int64 {
	return x.CSR.Bytes() + 4*int64(len(x.RawValues)) + 8*int64(len(x.Norms)+len(x.Divisors))
}

// EmbeddedBytes returns [Embedded.Bytes] for the given numbers of rows and values. It saturates at
// [math.MaxInt64].
func EmbeddedBytes(rows int, values int64) int64 {
	if values > math.MaxInt64/64 || int64(rows) > math.MaxInt64/64 {
		return math.MaxInt64
	}
	return 12*values + 24*int64(rows) + 8
}

// EmptyCount returns the number of documents without terms in the embedding.
func (x *Embedded) EmptyCount() int {
	n := 0
	for i := range x.Rows() {
		if x.IsEmptyRow(i) {
			n++
		}
	}
	return n
}

// IsEmptyRow reports whether document i has no terms in the embedding.
func (x *Embedded) IsEmptyRow(i int) bool {
	unseen := x.Embedder != nil && x.Embedder.Open && i < len(x.Norms) && x.Norms[i] > 0
	terms, _ := x.Row(i)
	return len(terms) == 1 && int(terms[0]) == x.Cols-1 && !unseen
}

// Vector64 returns row i in float64 before normalisation to unit norm: the vector x of
// [Embedder.Transform], parallel to the columns of Row(i). Other programs can compute the same
// kernel values from the vectors. It writes to dst, which grows if necessary. Norms must not be
// nil. A document without known terms has the value Norms[i] in the last column.
//
// If the norm is [NormNone], values are weighted values or their square roots, each rounded once.
// For another power p, the error is at most 4+2p ulp. For other norms, each value has at most one
// rounding in addition to the roundings of [Embedded.UnitVector64] and of the norm.
func (x *Embedded) Vector64(i int, dst []float64) []float64 {
	f, norm := x.Embedder, x.Norms[i]
	if f.Norm != NormNone || norm == 0 {
		dst = x.UnitVector64(i, dst)
		for k := range dst {
			dst[k] *= norm
		}
		return dst
	}
	dst = x.weightedRow(i, dst)
	for k, v := range dst {
		switch {
		case f.Power == SquareRoot:
			dst[k] = signedRoot(v)
		case f.hasGeneralPower():
			dst[k] = math.Copysign(power(math.Abs(v), f.Power), v)
		}
	}
	return dst
}

// MaxNorm is the maximum norm in kernels that depend on norms, so that squared norms and distances
// fit in float32.
const MaxNorm = 0x1p62

// Validate checks the matrix like [CSR.Validate]. It also checks the embedder, the number of
// columns, the divisors and norms, and that rows are unit vectors or histograms. Norms may be nil,
// because kernels that depend only on the cosine don't use norms. Validate reads all values once.
func (x *Embedded) Validate() error {
	if err := x.validateShape(); err != nil {
		return err
	}
	return x.checkRows(x.validateUnit)
}

func (x *Embedded) validateUnit(i int) error {
	if err := x.validateRow(i); err != nil {
		return err
	}
	sum, d := 0.0, x.Divisors[i]
	_, values := x.Row(i)
	for _, v := range values {
		u := float64(v)
		if x.Embedder.Pairing == Cosine {
			u *= u
		}
		sum += float64(u)
	}
	const roundings = 1e-5 // bound on the rounding errors of float32 values and of their sum
	switch {
	case !(math.Abs(sum-1) <= roundings):
		return fmt.Errorf("sparse: row %d is not normalized: squares (or histogram shares) sum to %v, not 1", i, sum)
	case !(d > 0 && d <= math.MaxFloat64):
		return fmt.Errorf("sparse: row %d: divisor must be positive and finite, got %v", i, d)
	case x.Norms != nil && !(x.Norms[i] >= 0 && x.Norms[i] <= math.MaxFloat64):
		return fmt.Errorf("sparse: row %d: norm must be nonnegative and finite, got %v", i, x.Norms[i])
	}
	return nil
}

func (x *Embedded) validateShape() error {
	if x == nil {
		return fmt.Errorf("sparse: embedded documents are nil")
	}
	if err := x.Embedder.Validate(); err != nil {
		return err
	}
	if err := x.CSR.validateShape(); err != nil {
		return err
	}
	switch n := x.Rows(); {
	case x.Cols != x.Embedder.Cols():
		return fmt.Errorf("sparse: the embedded documents have %d columns, but the embedder has %d",
			x.Cols, x.Embedder.Cols())
	case len(x.RawValues) != len(x.Values) || len(x.Divisors) != n || x.Norms != nil && len(x.Norms) != n:
		return fmt.Errorf("sparse: embedded documents have %d raw values, %d divisors and %d norms; they need %d, %d, "+
			"and %d or none", len(x.RawValues), len(x.Divisors), len(x.Norms), len(x.Values), n, n)
	}
	return nil
}
