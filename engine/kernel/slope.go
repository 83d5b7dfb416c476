package kernel

import "math"

// Slopes returns the derivatives of k(c, x, y) by c and by the first norm x, as differences of fourth order
// in the angle arccos(1-c) and in x. They are within some 10⁻⁸ of the kernel's greatest value, for kernels
// that are smooth over a thousandth of either and c not at the ends of [0, 2].
func Slopes(k Kernel, c, x, y float64) (byC, byX float64) {
	if k == nil {
		return math.NaN(), math.NaN()
	}
	at := angle(c)
	h := min(1e-3, at/4, (math.Pi-at)/4)
	byC = slope(at, h, func(a float64) float64 {
		half := math.Sin(a / 2)
		return k.Eval(2*half*half, x, y)
	}) / math.Sin(at)
	if UsesNorms(k) && x > 0 {
		byX = slope(x, x*1e-3, func(x float64) float64 { return k.Eval(c, x, y) })
	}
	return byC, byX
}

// slope is the derivative of g by differences over h and 2h, with an error of h⁴g⁽⁵⁾/30.
func slope(at, h float64, g func(float64) float64) float64 {
	return (8*(g(at+h)-g(at-h)) - (g(at+2*h) - g(at-2*h))) / (12 * h)
}
