package sparse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxBound is the maximum absolute value of a bound of [MinMaxScaling].
const MaxBound = 1e6

// Scales reports whether the embedding scales columns of measurements, by [StandardScaling] or
// [MinMaxScaling]. For each column, a shift s and a weight w are computed from the training
// documents. A value x becomes (x-s)·w. Absent values are zeros. A column that is constant in
// training becomes 0.
//
//   - StandardScaling: s is the mean and w = 1/σ, where σ² is the mean squared deviation from the
//     mean. If fewer than half of a column's values are nonzero, s is 0, so that zeros stay
//     zeros.
//   - MinMaxScaling: the training minimum becomes Lower and the maximum Upper, as in LIBSVM's
//     svm-scale. Zeros stay zeros if Lower and the training minimum are 0.
func (e Embedding) Scales() bool {
	return e.Weighting == StandardScaling || e.Weighting == MinMaxScaling
}

// HasColumnWeights reports whether the embedding has column weights, from idf, scaling or labels.
func (e Embedding) HasColumnWeights() bool {
	return e.Weighting.UsesIDF() || e.Scales() || e.Supervised()
}

func (e Embedding) validateScale() error {
	lower, upper := e.Lower, e.Upper
	switch {
	case e.Weighting != MinMaxScaling && (lower != 0 || upper != 0):
		return fmt.Errorf("sparse: embedding %s takes no range, got %v to %v", e, lower, upper)
	case e.Weighting == MinMaxScaling && !(-MaxBound <= lower && lower < upper && upper <= MaxBound):
		return fmt.Errorf("sparse: embedding %s: the range must be ascending and between %v and %v", e, -MaxBound, MaxBound)
	case e.Scales() && (e.Norm != NormNone || e.Power != 0 || e.Pairing != Cosine):
		return fmt.Errorf("sparse: embedding %s scales columns, so it takes no norm, power or pairing", e)
	}
	return nil
}

func parseRange(s string) (Embedding, error) {
	lower, upper, _ := strings.Cut(s, "..")
	e := Embedding{Weighting: MinMaxScaling}
	var err [2]error
	e.Lower, err[0] = strconv.ParseFloat(lower, 64)
	e.Upper, err[1] = strconv.ParseFloat(upper, 64)
	if err[0] != nil || err[1] != nil {
		return Embedding{}, fmt.Errorf("sparse: embedding scale%s: %q is not a range such as 0..1", s, s)
	}
	e.Lower, e.Upper = e.Lower+0, e.Upper+0 // -0 becomes 0
	return e, e.validate()
}

// columnStats holds a column's document frequency and sum, and its minimum, maximum and sum of
// squared deviations from the mean. Absent values are zeros.
type columnStats struct {
	df                              int32
	sum, min, max, squaredDeviation float64
}

func (m *CSR) columnStatistics(columns *termTable, df []int32) []columnStats {
	all := make([]columnStats, len(df))
	n := m.Rows()
	for j := range all {
		c := &all[j]
		if c.df = df[j]; int(c.df) == n {
			c.min, c.max = math.Inf(1), math.Inf(-1)
		}
	}
	each := func(do func(c *columnStats, v float64)) {
		for k, t := range m.Terms {
			if v := float64(m.Values[k]); v != 0 {
				j, _ := columns.find(t)
				do(&all[j], v)
			}
		}
	}
	each(func(c *columnStats, v float64) { c.sum, c.min, c.max = c.sum+v, min(c.min, v), max(c.max, v) })
	each(func(c *columnStats, v float64) {
		c.squaredDeviation += float64((v - c.sum/float64(n)) * (v - c.sum/float64(n)))
	})
	for j := range all {
		c := &all[j]
		c.squaredDeviation += float64(float64(n-int(c.df)) * float64(c.sum/float64(n)) * float64(c.sum/float64(n)))
	}
	return all
}

func (f *Embedder) fitScale(train *CSR) {
	f.Weights, f.Shifts = make([]float64, len(f.Terms)), make([]float64, len(f.Terms))
	n := float64(f.Documents)
	for j, c := range train.columnStatistics(f.termIndex, f.DF) {
		switch w := (f.Upper - f.Lower) / (c.max - c.min); {
		case c.min == c.max:
			f.Shifts[j] = c.min
		case f.Weighting == MinMaxScaling:
			f.Weights[j], f.Shifts[j] = w, c.min-f.Lower/w
		default:
			f.Weights[j] = 1 / math.Sqrt(c.squaredDeviation/n)
			if 2*float64(c.df) >= n {
				f.Shifts[j] = c.sum / n
			}
		}
	}
	f.findFilled()
}

func (f *Embedder) findFilled() {
	for j, s := range f.Shifts {
		if s != 0 && f.Weights[j] != 0 {
			f.filledTerms = append(f.filledTerms, f.Terms[j])
		}
	}
}

// FilledCount returns the number of columns whose zeros become nonzero by scaling. Embedding adds
// at most this number of values to a document.
func (f *Embedder) FilledCount() int { return len(f.filledTerms) }

// scaledRow returns row i of m with balanced views, or with explicit zeros for f.filledTerms.
func (f *Embedder) scaledRow(m *CSR, i int) ([]uint32, []float32) {
	terms, values := m.Row(i)
	if len(f.Views) > 1 {
		return terms, f.balanceViews(terms, values)
	}
	if len(f.filledTerms) == 0 {
		return terms, values
	}
	n := len(terms) + len(f.filledTerms)
	all, own := make([]uint32, 0, n), make([]float32, 0, n)
	left := f.filledTerms
	for k, t := range terms {
		for ; len(left) > 0 && left[0] < t; left = left[1:] {
			all, own = append(all, left[0]), append(own, 0)
		}
		if len(left) > 0 && left[0] == t {
			left = left[1:]
		}
		all, own = append(all, t), append(own, values[k])
	}
	return append(all, left...), append(own, make([]float32, len(left))...)
}
