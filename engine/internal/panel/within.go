package panel

import (
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// C returns c of row i of x and row j of y, which one embedder has made, in float64. It is 0 for rows
// that are the same up to a factor above 0 before they are rounded, where what is recomputed leaves
// some 10⁻³², and only for these.
//
// √2c, a distance, errs by at most n·2⁻⁵³ + 2⁻⁴⁴ for n values in both rows: that is how far divisors,
// sums of so many, and other roundings move the rows, with the relative 2⁻⁴⁷ of the sum behind c.
func C(x *sparse.Embedded, i int, y *sparse.Embedded, j int) float64 {
	if proportional(x, i, y, j) {
		return 0
	}
	s, _ := x.Row(i)
	t, _ := y.Row(j)
	c := Exact(x.Embedder.Pairing)(s, x.Unit64(i, nil), t, y.Unit64(j, nil))
	return max(c, math.SmallestNonzeroFloat64)
}

// proportional says whether rows are the same up to a factor above 0. Weights of columns, norms and
// powers don't matter to that, and products with their rounding errors are exact.
func proportional(x *sparse.Embedded, i int, y *sparse.Embedded, j int) bool {
	s, _ := x.Row(i)
	t, _ := y.Row(j)
	if !slices.Equal(s, t) {
		return false
	}
	a, b := x.Raw[x.Offsets[i]:], y.Raw[y.Offsets[j]:]
	var a0, b0 float64
	for k, term := range s {
		u, _ := x.Embedder.Factors(term, a[k])
		v, _ := x.Embedder.Factors(term, b[k])
		if k == 0 {
			a0, b0 = u, v
		}
		p, q := float64(u*b0), float64(v*a0)
		if p != q || math.FMA(u, b0, -p) != math.FMA(v, a0, -q) {
			return false
		}
	}
	return (a0 > 0) == (b0 > 0)
}

// Within says whether c of row i of x and row j of y, which one embedder has made, rounded to float64, is
// at most a bound: so 1/10 is within 0.1, and 3/10 within 0.3, a float64 below it; nothing is within NaN. Where [C]
// is too close to tell, twice its digits do; but powers other than the square root and logarithms of a pairing are
// known in float64 only, and c that is so close counts.
func Within(x *sparse.Embedded, i int, y *sparse.Embedded, j int, bound float64) bool {
	c := C(x, i, y, j)
	n := x.Offsets[i+1] - x.Offsets[i] + y.Offsets[j+1] - y.Offsets[j]
	near := math.Abs(math.Sqrt(2*c)-math.Sqrt(2*bound)) <= float64(n)*0x1p-53+0x1p-44
	if c == 0 || bound == 0 || !near {
		return c <= bound
	}
	if e := x.Embedder; e.Pairing == sparse.JensenShannon || e.Power != 0 && e.Power != sparse.Root {
		return true
	}
	return roundedC(x, i, y, j) <= bound
}

// roundedC returns c of row i of x and row j of y, rounded to float64, for weighted values u and v:
//
//	1 - Σ uv / √(Σu² Σv²)    without a power
//	1 - Σ √uv / √(Σu Σv)     with the square root
//	1 - Σ 2uv / (uΣv + vΣu)  by χ²
//
// Before rounding it errs by less than 2⁻¹⁰⁰ for each value of both rows.
func roundedC(x *sparse.Embedded, i int, y *sparse.Embedded, j int) float64 {
	f, squares := x.Embedder, x.Embedder.Pairing == sparse.Dot && x.Embedder.Power == 0
	row := func(x *sparse.Embedded, i int) (terms []uint32, values []wide, length wide) {
		terms, _ = x.Row(i)
		for k, term := range terms {
			v, weight := f.Factors(term, x.Raw[x.Offsets[i]+int64(k)])
			u := wide{v, 0}.times(wide{weight, 0})
			values = append(values, u)
			if squares {
				u = u.times(u)
			}
			length = length.plus(u)
		}
		return terms, values, length
	}
	s, a, lengthA := row(x, i)
	t, b, lengthB := row(y, j)
	var sum wide
	for p, term := range s {
		q, both := slices.BinarySearch(t, term)
		if !both {
			continue
		}
		u, v := a[p], b[q]
		uv := u.times(v)
		switch {
		case f.Pairing != sparse.Dot:
			uv = uv.plus(uv).over(u.times(lengthB).plus(v.times(lengthA)))
		case !squares:
			uv = uv.root()
		}
		sum = sum.plus(uv)
	}
	if f.Pairing == sparse.Dot {
		sum = sum.over(lengthA.times(lengthB).root())
	}
	return wide{1, 0}.plus(wide{-sum.hi, -sum.lo}).hi
}

// wide is the number hi + lo, of which hi is the float64 next to it. Operations err by some units of
// 2⁻¹⁰⁴ of their result, sums of that of their terms. Source: Dekker, Numer. Math. 18 (1971).
type wide struct{ hi, lo float64 }

// wideSum returns a + b exactly (Knuth's two-sum).
func wideSum(a, b float64) wide {
	s := a + b
	t := s - a
	return wide{s, (a - (s - t)) + (b - t)}
}

func (a wide) plus(b wide) wide {
	s := wideSum(a.hi, b.hi)
	return wideSum(s.hi, s.lo+(a.lo+b.lo))
}

func (a wide) times(b wide) wide {
	p := float64(a.hi * b.hi)
	return wideSum(p, math.FMA(a.hi, b.hi, -p)+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a wide) over(b wide) wide {
	q := a.hi / b.hi
	return wideSum(q, a.plus(b.times(wide{-q, 0})).hi/b.hi)
}

// root returns √a for a above 0.
func (a wide) root() wide {
	r := math.Sqrt(a.hi)
	return wideSum(r, a.plus(wide{r, 0}.times(wide{-r, 0})).hi/(2*r))
}
