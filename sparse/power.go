package sparse

import "math"

// power returns x^p for x > 0 and p in [LeastPower, MostPower] by the same operations, each rounded once, on every platform, as logRatio does.
//
// With x = 2ᵉ·m, m in [√½, √2), and k the whole number next to the binary logarithm of the result,
//
//	x^p = 2ᵏ exp(z),   z = (pe - k) ln 2 + p log m,   |z| < 0.36
//
// where the product pe is held in two numbers, so that a large exponent costs no digits. The terms of the exponential's series that are left out are below
// 10⁻¹⁹. Accuracy: relative error below (4+2p) float64 ulp, for a result that isn't below the normal range.
func power(x, p float64) float64 {
	log, e := logMantissa(x)
	q := float64(p * log)
	hi := float64(p * float64(e))
	lo := math.FMA(p, float64(e), -hi)
	k := math.RoundToEven(hi + float64(q/math.Ln2))
	z := float64(float64(float64(hi-k)+lo)*math.Ln2) + q
	sum := 1.0
	for i := 15; i > 0; i-- {
		sum = 1 + float64(float64(z*sum)/float64(i))
	}
	return math.Ldexp(sum, int(k))
}

// largest returns the greatest weighted value of the entries from lo to hi, which are above 0.
func (x *Embedded) largest(lo, hi int64) float64 {
	var most float64
	for k := lo; k < hi; k++ {
		most = max(most, x.Embedder.weighted(x.Terms[k], x.Raw[k]))
	}
	return most
}

// raised returns for a power p other than the square root the divisor of a row, √Σ (v/max v)^2p, and the row's norm, (max v/n)^p times that, where n is the norm
// of the embedding's kind; the row's entries stand from lo to hi, with the sums l1 = Σ|v| and l2 = ‖v‖₂. Relative to the greatest value nothing overflows.
func (x *Embedded) raised(lo, hi int64, l1, l2 float64) (divisor, norm float64) {
	f := x.Embedder
	largest := x.largest(lo, hi)
	var sum float64
	for k := lo; k < hi; k++ {
		u := power(f.weighted(x.Terms[k], x.Raw[k])/largest, f.Power)
		sum += float64(u * u)
	}
	divisor = math.Sqrt(sum)
	n := map[Norm]float64{NormNone: 1, NormL1: l1, NormL2: l2}[f.Norm]
	return divisor, float64(power(largest/n, f.Power) * divisor)
}
