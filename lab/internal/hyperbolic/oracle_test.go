package hyperbolic

import (
	"math"
	"math/big"
)

// The reference computes the derivatives in equation (5) by finite differences, with so many digits
// that the results are exact in float64.

const oracleBits = 3000

func real(v float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(v) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Add(a, b) }

func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Sub(a, b) }

func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Mul(a, b) }

func over(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Quo(a, b) }

// arcosh returns ln(v + √(v²-1)) for v >= 1. It takes a k-th root and multiplies the logarithm of
// the root, 2 artanh of a small number, by k.
func arcosh(v *big.Float) *big.Float {
	root := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Sqrt(x) }
	x := add(v, root(sub(times(v, v), real(1))))
	const roots = 16
	for range roots {
		x = root(x)
	}
	q := over(sub(x, real(1)), add(x, real(1)))
	square, power, sum := times(q, q), q, real(0)
	for k := 1; k < 300; k += 2 {
		sum = add(sum, over(power, real(float64(k))))
		power = times(power, square)
	}
	return times(sum, real(math.Ldexp(2, roots)))
}

// exponential returns e^x, by its series and 16 squarings.
func exponential(x *big.Float) *big.Float {
	x = times(x, real(0x1p-16))
	sum, term := real(0), real(1)
	for k := 1; k < 150; k++ {
		sum = add(sum, term)
		term = over(times(term, x), real(float64(k)))
	}
	for range 16 {
		sum = times(sum, sum)
	}
	return sum
}

// derivative returns (-d/dv)^m exp(-arcosh²(v)/4t) by the m-th difference, whose relative error is
// of the order of its step.
func derivative(m int, t float64, v *big.Float) float64 {
	h := real(0x1p-45)
	sum := real(0)
	for i := range m + 1 {
		r := arcosh(add(v, times(h, real(float64(i)-float64(m)/2))))
		f := exponential(over(times(r, r), real(-4*t)))
		term := times(f, new(big.Float).SetPrec(oracleBits).SetInt(new(big.Int).Binomial(int64(m), int64(i))))
		if i%2 == 0 {
			sum = add(sum, term)
		} else {
			sum = sub(sum, term)
		}
	}
	for range m {
		sum = over(sum, h)
	}
	mantissa := new(big.Float)
	exponent := sum.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}

// differentiate returns the derivative of f at x by an eighth-order finite difference with step h.
func differentiate(f func(float64) float64, x, h float64) (sum float64) {
	for i, weight := range []float64{4. / 5, -1. / 5, 4. / 105, -1. / 280} {
		step := float64(i+1) * h
		sum += weight * (f(x+step) - f(x-step))
	}
	return sum / h
}

// simpson integrates f from lo to hi by Simpson's rule with n intervals, n even.
func simpson(f func(float64) float64, lo, hi float64, n int) float64 {
	h := (hi - lo) / float64(n)
	sum := f(lo) + f(hi)
	for i := 1; i < n; i++ {
		sum += float64(2+i%2*2) * f(lo+h*float64(i))
	}
	return sum * h / 3
}
