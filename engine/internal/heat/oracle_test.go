package heat

import (
	"math"
	"math/big"
)

// The oracle of these tests computes sine and cosine by series with enough digits that central
// differences give derivatives exact in float64. It shares only the definitions with the code.

const oracleBits = 256

func real(v float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(v) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Add(a, b) }

func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Sub(a, b) }

func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Mul(a, b) }

func over(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(oracleBits).Quo(a, b) }

func rounded(v *big.Float) float64 {
	f, _ := v.Float64()
	return f
}

func sincos(v *big.Float) (sin, cos *big.Float) {
	sin, cos = real(0), real(0)
	term := real(1)
	for k := 1; k < 70; k++ {
		sum := cos
		if k%2 == 0 {
			sum = sin
		}
		if (k-1)/2%2 == 0 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term = over(times(term, v), real(float64(k)))
	}
	return sin, cos
}

// naturalLog returns ln v for v > 0, by ln m = 2 artanh((m-1)/(m+1)) for the mantissa and for ln 2.
func naturalLog(v *big.Float) *big.Float {
	if exponent := v.MantExp(nil); exponent < -1 || exponent > 2 {
		mantissa := new(big.Float)
		v.MantExp(mantissa)
		return add(naturalLog(mantissa), times(naturalLog(real(2)), real(float64(exponent))))
	}
	q := over(sub(v, real(1)), add(v, real(1)))
	square, power, sum := times(q, q), q, real(0)
	for k := 1; k < 300; k += 2 {
		sum = add(sum, over(power, real(float64(k))))
		power = times(power, square)
	}
	return times(sum, real(2))
}

// differences returns f, f′ and f″ at x; f is smooth on the scale of x.
func differences(f func(*big.Float) *big.Float, x *big.Float) (value, first, second *big.Float) {
	h := times(x, real(0x1p-40))
	value = f(x)
	up, down := f(add(x, h)), f(sub(x, h))
	first = over(sub(up, down), times(h, real(2)))
	second = over(sub(add(up, down), times(value, real(2))), times(h, h))
	return value, first, second
}

// sphereOracle evaluates the transport equations of the n-sphere by their definition.
type sphereOracle struct{ n int }

func (o sphereOracle) a() *big.Float { return real(float64(o.n-1) / 2) }

// potential is Q = a² - a(a-1) (1/sin²x - 1/x²).
func (o sphereOracle) potential(x *big.Float) *big.Float {
	sin, _ := sincos(x)
	h := sub(over(real(1), times(sin, sin)), over(real(1), times(x, x)))
	a := o.a()
	return sub(times(a, a), times(times(a, sub(a, real(1))), h))
}

// first returns w_1 = 1/x ∫₀^x Q ds from the closed-form integral of the potential: the integral of
// 1/sin² is -cot.
func (o sphereOracle) first(x *big.Float) *big.Float {
	sin, cos := sincos(x)
	mean := over(sub(over(real(1), x), over(cos, sin)), x)
	a := o.a()
	return sub(times(a, a), times(times(a, sub(a, real(1))), mean))
}

// operator returns L w_1 with L w = w″ + (n-1)/x w′ + Q w.
func (o sphereOracle) operator(x *big.Float) *big.Float {
	w, first, second := differences(o.first, x)
	sum := add(second, over(times(real(float64(o.n-1)), first), x))
	return add(sum, times(o.potential(x), w))
}

// second returns w_2 = x⁻² ∫₀^x s L w_1 ds, and third w_3 = x⁻³ ∫₀^x s² L w_2 ds with the
// derivatives of w_2 from its own transport equation, x w_2′ + 2 w_2 = L w_1.
func (o sphereOracle) second(x float64) float64 {
	return legendre(func(s float64) float64 { return s * rounded(o.operator(real(s))) }, x) / (x * x)
}

func (o sphereOracle) third(x float64) float64 {
	return legendre(func(s float64) float64 {
		l, dl, _ := differences(o.operator, real(s))
		w := o.second(s)
		first := (rounded(l) - 2*w) / s
		second := (rounded(dl) - 3*first) / s
		return s * s * (second + float64(o.n-1)/s*first + rounded(o.potential(real(s)))*w)
	}, x) / (x * x * x)
}

// legendre integrates f from 0 to x by 14-point Gauss-Legendre quadrature on halves of the
// interval: for functions that are analytic around it, the error is about 10⁻¹⁶.
func legendre(f func(float64) float64, x float64) float64 {
	var sum float64
	const pieces, points = 2, 14
	width := x / pieces
	for p := range pieces {
		lo := float64(p) * width
		for i := 1; i <= points; i++ {
			// The nodes are the roots of the Legendre polynomial, by Newton's method.
			z := math.Cos(math.Pi * (float64(i) - 0.25) / (points + 0.5))
			var slope float64
			for range 10 {
				before, at := 1.0, z
				for j := 2; j <= points; j++ {
					before, at = at, (float64(2*j-1)*z*at-float64(j-1)*before)/float64(j)
				}
				slope = points * (z*at - before) / (z*z - 1)
				z -= at / slope
			}
			sum += width / 2 * 2 / ((1 - z*z) * slope * slope) * f(lo+width*(1+z)/2)
		}
	}
	return sum
}
