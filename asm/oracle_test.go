package asm

import (
	"math"
	"math/big"
	"testing"
)

// The oracles of the maps, in float64, from formulas that the kernels don't use: arcsines instead
// of polynomials in c, and series where a difference would cancel. TestOracleAgainstBig compares
// them with math/big.

// angles returns θ = arccos(1-c) and π-θ, each computed by a well-conditioned arcsine.
func angles(c float64) (theta, rest float64) {
	if c <= 1 {
		theta = 2 * math.Asin(math.Sqrt(c/2))
		return theta, math.Pi - theta
	}
	rest = 2 * math.Asin(math.Sqrt((2-c)/2))
	return math.Pi - rest, rest
}

func wantArcCos(c float64) float64 { t, _ := angles(c); return t }

func wantArcCosSq(c float64) float64 { t, _ := angles(c); return t * t }

func wantArcCosine0(c float64) float64 { _, r := angles(c); return r / math.Pi }

// wantArcCosine1 is (sin θ + (π-θ) cos θ)/π = (sin φ - φ cos φ)/π with φ = π-θ, for small φ by its
// power series Σ (-1)^k φ^(2k+1)·2k/(2k+1)!·(-1).
func wantArcCosine1(c float64) float64 {
	_, p := angles(c)
	if p >= 1 {
		return (math.Sin(p) - p*math.Cos(p)) / math.Pi
	}
	sum, term := 0.0, p // term = φ^(2k+1)/(2k+1)!
	for k := 1; k < 14; k++ {
		term *= -p * p / float64(2*k*(2*k+1))
		sum -= term * float64(2*k)
	}
	return sum / math.Pi
}

// wantArcCosine2 is (φ(1 + 2cos²φ) - 3 sin φ cos φ)/π with φ = π-θ, for small φ by Σ (-1)^k
// (2φ)^(2k+1)·(k-1)/(2k+1)!.
func wantArcCosine2(c float64) float64 {
	_, p := angles(c)
	if p >= 1 {
		return (p*(1+2*math.Cos(p)*math.Cos(p)) - 3*math.Sin(p)*math.Cos(p)) / math.Pi
	}
	sum, term := 0.0, 2*p
	for k := 1; k < 20; k++ {
		term *= -4 * p * p / float64(2*k*(2*k+1))
		sum += term * float64(k-1)
	}
	return sum / math.Pi
}

// ulp32 is the distance of float32 numbers around x.
func ulp32(x float64) float64 {
	x = math.Abs(x)
	if x < 0x1p-126 {
		return 0x1p-149
	}
	x = min(x, math.MaxFloat32)
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-24)
}

const bigPrec = 300

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }

func bigMul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Mul(a, b) }

func bigQuo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Quo(a, b) }

func bigAdd(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Add(a, b) }

func bigSub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Sub(a, b) }

// bigAngleSq is arccos²(1-c) = 2 Σ (2c)^n / (n²·binomial(2n, n)), n >= 1, for c in [0, 1].
func bigAngleSq(c *big.Float) *big.Float {
	sum, power := bigOf(0), bigOf(2) // power = 2·(2c)^n / binomial(2n, n)
	for n := 1; n < bigPrec; n++ {
		power = bigMul(power, bigMul(bigOf(2), c))
		power = bigQuo(bigMul(power, bigOf(float64(n))), bigOf(float64(2*(2*n-1))))
		sum = bigAdd(sum, bigQuo(power, bigOf(float64(n*n))))
	}
	return sum
}

// bigAngles is angles in math/big: π/2 is the angle of c = 1.
func bigAngles(c float64) (theta, rest *big.Float) {
	pi := bigMul(bigOf(2), new(big.Float).Sqrt(bigAngleSq(bigOf(1))))
	if c <= 1 {
		theta = new(big.Float).Sqrt(bigAngleSq(bigOf(c)))
		return theta, bigSub(pi, theta)
	}
	rest = new(big.Float).Sqrt(bigAngleSq(bigSub(bigOf(2), bigOf(c))))
	return bigSub(pi, rest), rest
}

// bigSinCos sums the power series.
func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	sin, cos = bigOf(0), bigOf(0)
	term := bigOf(1)
	for k := 0; k < 120; k++ {
		switch k % 4 {
		case 0:
			cos = bigAdd(cos, term)
		case 1:
			sin = bigAdd(sin, term)
		case 2:
			cos = bigSub(cos, term)
		case 3:
			sin = bigSub(sin, term)
		}
		term = bigQuo(bigMul(term, x), bigOf(float64(k+1)))
	}
	return sin, cos
}

// bigExp is the power series at x/2^k, squared k times.
func bigExp(x float64) *big.Float {
	const k = 10
	r, sum, term := bigOf(x/(1<<k)), bigOf(0), bigOf(1)
	for n := 1; n < 60; n++ {
		sum = bigAdd(sum, term)
		term = bigQuo(bigMul(term, r), bigOf(float64(n)))
	}
	for range k {
		sum = bigMul(sum, sum)
	}
	return sum
}

// The float64 oracles have errors of a few units of 2^-53. The tolerance 10^-12 is far above that,
// and about 10^-5 float32 ulp.
func TestOracleAgainstBig(t *testing.T) {
	check := func(name string, c, got float64, want *big.Float) {
		w, _ := want.Float64()
		if !(math.Abs(got-w) <= 1e-12*math.Abs(w)) {
			t.Errorf("%s(%g) = %g, want %g", name, c, got, w)
		}
	}
	points := []float64{
		0x1p-149, 0x1p-126, 1e-20, 0x1p-24, 1e-3, 1 - 0x1p-24, 1, 1 + 0x1p-23, 2 - 0x1p-20, 2 - 0x1p-22,
		2 - 0x1p-23,
	}
	for c := 1.0 / 64; c < 2; c += 1.0 / 32 {
		points = append(points, c)
	}
	for _, c := range points {
		th, ph := bigAngles(c)
		pi := bigAdd(th, ph)
		s, co := bigSinCos(ph)
		one, two, three := bigOf(1), bigOf(2), bigOf(3)
		check("arccos", c, wantArcCos(c), th)
		check("arccos²", c, wantArcCosSq(c), bigMul(th, th))
		check("degree 0", c, wantArcCosine0(c), bigQuo(ph, pi))
		check("degree 1", c, wantArcCosine1(c), bigQuo(bigSub(s, bigMul(ph, co)), pi))
		a := bigMul(ph, bigAdd(one, bigMul(two, bigMul(co, co))))
		check("degree 2", c, wantArcCosine2(c), bigQuo(bigSub(a, bigMul(three, bigMul(s, co))), pi))
	}
	for _, x := range []float64{-104, -103.5, -88, -87.25, -1, -0x1p-30, 0, 0x1p-24, 0.34657359, 1, 10.5, 88.5} {
		check("exp", x, math.Exp(x), bigExp(x))
	}
}
