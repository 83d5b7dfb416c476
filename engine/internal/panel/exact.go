package panel

import "github.com/gramengine/gram/sparse"

// exactC returns c = 1 - cosine of two unit rows, given their ascending columns and float64 values,
// by the difference formula
//
//	c = ½ Σ (aᵢ - bᵢ)²,
//
// which has full relative accuracy for small c. The n terms are nonnegative, so the relative error
// is below (n+3)·2⁻⁵³ if a and b are exact. c is exactly 0 for equal rows, and symmetric bit for
// bit.
func exactC(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64 {
	var sum float64
	i, j := 0, 0
	for i < len(aTerms) && j < len(bTerms) {
		var d float64
		switch s, t := aTerms[i], bTerms[j]; {
		case s == t:
			d = a[i] - b[j]
			i++
			j++
		case s < t:
			d = a[i]
			i++
		default:
			d = b[j]
			j++
		}
		sum += float64(d * d)
	}
	for ; i < len(aTerms); i++ {
		sum += float64(a[i] * a[i])
	}
	for ; j < len(bTerms); j++ {
		sum += float64(b[j] * b[j])
	}
	return sum / 2
}

// unitCache stores the float64 rows of a panel's documents. Each row is computed at its first use.
// Memory for all rows is allocated at the first use of any row.
type unitCache struct {
	x        *sparse.Embedded
	docs     []int
	computed []bool
	starts   []int // start of each document's row in values
	values   []float64
}

func (u *unitCache) reset(x *sparse.Embedded, docs []int) {
	u.x, u.docs = x, docs
	u.computed = append(u.computed[:0], make([]bool, len(docs))...)
	u.starts = u.starts[:0]
}

func (u *unitCache) row(r int) ([]uint32, []float64) {
	terms, _ := u.x.Row(u.docs[r])
	if len(u.starts) == 0 {
		total := 0
		for _, d := range u.docs {
			u.starts = append(u.starts, total)
			total += int(u.x.Offsets[d+1] - u.x.Offsets[d])
		}
		if cap(u.values) < total {
			u.values = make([]float64, total)
		}
	}
	row := u.values[u.starts[r]:][:len(terms):len(terms)]
	if !u.computed[r] {
		u.x.UnitVector64(u.docs[r], row)
		u.computed[r] = true
	}
	return terms, row
}

// ExactFunc returns the function that recomputes c of two rows, given their columns in ascending
// order and their float64 values.
func ExactFunc(p sparse.Pairing) func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64 {
	switch p {
	case sparse.ChiSquare:
		return exactChiSquare
	case sparse.JensenShannon:
		return exactJensenShannon
	}
	return exactC
}
