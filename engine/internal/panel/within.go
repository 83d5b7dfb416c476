package panel

import (
	"math"
	"math/big"
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

// Within says whether c of rows i and j, rounded to float64, is at most most: so 1/10 is within 0.1,
// and 3/10 within 0.3, a float64 below it. Where [C] is too close to tell, 128 bits do; but powers
// other than the square root and logarithms of a pairing are known in float64 only, and c that is so
// close counts.
func Within(x *sparse.Embedded, i, j int, most float64) bool {
	c := C(x, i, x, j)
	n := x.Offsets[i+1] - x.Offsets[i] + x.Offsets[j+1] - x.Offsets[j]
	far := math.Abs(math.Sqrt(2*c)-math.Sqrt(2*most)) > float64(n)*0x1p-53+0x1p-44
	if c == 0 || most == 0 || far {
		return c <= most
	}
	if e := x.Embedder; e.Pairing == sparse.JensenShannon || e.Power != 0 && e.Power != sparse.Root {
		return true
	}
	return roundedC(x, i, j) <= most
}

// roundedC returns c of rows i and j, rounded to float64, for weighted values u and v:
//
//	1 - Σ uv / √(Σu² Σv²)    without a power
//	1 - Σ √uv / √(Σu Σv)     with the square root
//	1 - Σ 2uv / (uΣv + vΣu)  by χ²
//
// Before rounding it errs by less than 2⁻¹²⁵ for each common term, which 96 bits leave nothing of where
// c has few digits, such as one in the middle between two float64.
func roundedC(x *sparse.Embedded, i, j int) float64 {
	number := func() *big.Float { return new(big.Float).SetPrec(128) }
	f, squares := x.Embedder, x.Embedder.Pairing == sparse.Dot && x.Embedder.Power == 0
	row := func(i int) (terms []uint32, values []*big.Float, length *big.Float) {
		terms, _ = x.Row(i)
		length = number()
		for k, term := range terms {
			v, weight := f.Factors(term, x.Raw[x.Offsets[i]+int64(k)])
			u := number().Mul(number().SetFloat64(v), number().SetFloat64(weight))
			values = append(values, u)
			if squares {
				u = number().Mul(u, u)
			}
			length.Add(length, u)
		}
		return terms, values, length
	}
	s, a, lengthA := row(i)
	t, b, lengthB := row(j)
	sum := number()
	for p, term := range s {
		q, both := slices.BinarySearch(t, term)
		if !both {
			continue
		}
		u, v, uv := a[p], b[q], number().Mul(a[p], b[q])
		switch {
		case f.Pairing != sparse.Dot:
			v.Add(u.Mul(u, lengthB), v.Mul(v, lengthA))
			uv.Quo(uv.Add(uv, uv), v)
		case !squares && u.Cmp(v) == 0:
			uv = u
		case !squares:
			uv.Sqrt(uv)
		}
		sum.Add(sum, uv)
	}
	if f.Pairing == sparse.Dot {
		sum.Quo(sum, lengthA.Sqrt(lengthA.Mul(lengthA, lengthB)))
	}
	c, _ := sum.Sub(number().SetInt64(1), sum).SetPrec(96).Float64()
	return c
}
