package sparse

import "math"

// power returns x^p for x > 0. Results are bit-identical on every platform.
//
// With x = 2ᵉ·m for m in [√½, √2), and the integer k nearest to the binary logarithm of the result,
//
//	x^p = 2ᵏ exp(z),   z = (pe - k) ln 2 + p log m,   |z| < 0.36.
//
// The product pe is stored as a sum of two numbers, so that no digits are lost for a large
// exponent. The omitted terms of the exponential series are below 10⁻¹⁹. Accuracy: for p in
// [MinPower, MaxPower], the relative error is below (4+2p) float64 ulp if the result is a normal
// number.
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

// logRatio returns log q for the float64 quotient q = a/b of a, b > 0, to within 2 ulp. Because
// digests include weights, results are bit-identical on every platform, unlike results of math.Log.
//
// With q = 2ᵉ·m for m in [√½, √2), and f = (m-1)/(m+1), log m = 2(f + f³/3 + f⁵/5 + …). Because |f|
// < 0.172, the omitted terms from f²⁵ on are below 10⁻²⁰.
func logRatio(a, b float64) float64 {
	log, e := logMantissa(a / b)
	return float64(float64(e)*math.Ln2) + log
}

// logMantissa returns log m and e for x = 2ᵉ·m > 0, as in logRatio.
func logMantissa(x float64) (log float64, e int) {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f := (m - 1) / (m + 1)
	g := f * f
	sum := 0.0
	for k := 23; k >= 3; k -= 2 {
		sum = float64((sum + 1/float64(k)) * g)
	}
	return float64(2 * float64(f+float64(f*sum))), e
}
