package engine

import "github.com/gramengine/gram/sparse"

// closeC is the c below which a pair is recomputed in float64: a relative error of 1e-5 is promised, and the float32 sums behind c = 1 - s err by up to
// 1e-6 (see planHead).
const closeC = 0.1

// exactC returns c = 1 - cosine of two unit rows, given their columns (ascending) and float64 values, by the difference form
//
//	c = ½ Σ (aᵢ - bᵢ)²,
//
// which keeps full relative accuracy however small c is: n terms of one sign give a relative error below (n+3)·2⁻⁵³ beyond that of
// the differences themselves. It is exactly 0 for equal rows and the same bits for (a, b) and (b, a).
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

// unitCache keeps the float64 rows of a panel's documents, each made when it is first asked for.
type unitCache struct {
	x    *sparse.Embedded
	docs []int
	rows [][]float64
	made []bool
}

func (u *unitCache) reset(x *sparse.Embedded, docs []int) {
	u.x, u.docs = x, docs
	if len(u.rows) < len(docs) {
		u.rows = make([][]float64, len(docs))
		u.made = make([]bool, len(docs))
	}
	clear(u.made)
}

func (u *unitCache) row(r int) ([]uint32, []float64) {
	if !u.made[r] {
		u.rows[r] = u.x.Unit64(u.docs[r], u.rows[r])
		u.made[r] = true
	}
	terms, _ := u.x.Row(u.docs[r])
	return terms, u.rows[r]
}
