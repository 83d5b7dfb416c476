package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// C is the squared Hellinger distance of two points of the simplex,
//
//	k = c = 1 - s = ½ Σ (√θᵢ - √θ′ᵢ)²
//
// itself: not a kernel for learning, but what every other one is computed from, so it can be written out and verified like one.
type C struct{ in }

func (k C) String() string { return format("c", k.in) }

// Eval implements [Kernel].
func (C) Eval(c, x, y float64) float64 { return c }

// mapTo implements [Kernel].
func (C) mapTo(_ *asm.Kernels, dst, c, x, y []float32) { copy(dst, c) }

// Error implements [Kernel]: a copy has none.
func (C) Error(c, x, y float64) float64 { return 0 }

// bhattacharyya is the Bhattacharyya kernel, the probability product kernel with exponent ½,
//
//	k = Σ √θᵢ √θ′ᵢ = 1 - c
//
// Source: Jebara, Kondor and Howard, JMLR 5 (2004), §2.
type bhattacharyya struct{ in }

func (k bhattacharyya) String() string { return format("bhattacharyya", k.in) }

// Eval implements [Kernel].
func (bhattacharyya) Eval(c, x, y float64) float64 { return 1 - c }

// mapTo implements [Kernel].
func (bhattacharyya) mapTo(_ *asm.Kernels, dst, c, x, y []float32) {
	dst = dst[:len(c)]
	for i, v := range c {
		dst[i] = 1 - v
	}
}

// Error implements [Kernel]: one subtraction, rounded once.
func (bhattacharyya) Error(c, x, y float64) float64 { return unit * math.Abs(1-c) }

// diffusion is the multinomial diffusion kernel, the leading term of the heat kernel on the simplex with the Fisher metric,
//
//	k = exp(-arccos²(1-c) / t),   t > 0 in squared radians
//
// without the factor (4πt)^(-n/2), which is the same for all pairs. Source: Lafferty and Lebanon, JMLR 6 (2005), §3.2.
type diffusion struct {
	in
	t float64
}

func (k diffusion) String() string { return format("diffusion", k.in, pair{"t", k.t}) }

// Eval implements [Kernel].
func (k diffusion) Eval(c, x, y float64) float64 {
	a := angle(c)
	return math.Exp(-a * a / k.t)
}

// mapTo implements [Kernel].
func (k diffusion) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	asm.Diffusion(dst, c, float32(1/k.t))
}

// Error implements [Kernel]. With z = arccos²(1-c)/t, asm.Diffusion is stated to be within 4 ulp × (1+z), and one ulp is at most 2
// units; 1/t rounded to float32 moves z by z units more, and e^-z by as much relative to itself.
func (k diffusion) Error(c, x, y float64) float64 {
	a := angle(c)
	z := a * a / k.t
	return expError(z, 8+9*z)
}

// expError returns the bound on the error of e^-z where it is the given number of float32 units relative to the value, and no more than
// underflow where the value is far below the range of float32.
func expError(z, units float64) float64 {
	if z > 120 {
		return underflow
	}
	return math.Exp(-z)*math.Expm1(units*unit) + underflow
}

// ngd is the negative geodesic distance on the sphere of radius 2,
//
//	k = shift - 2 arccos(1-c)
//
// conditionally positive definite; shift is 0 or π, of which the latter makes it non-negative for documents without negative
// values. Source: Zhang, Chen and Lee, SIGIR 2005, §4.
type ngd struct {
	in
	shift float64
}

func (k ngd) String() string { return format("ngd", k.in, pair{"shift", k.shift}) }

// Eval implements [Kernel].
func (k ngd) Eval(c, x, y float64) float64 {
	if k.shift == math.Pi {
		// π - 2 arccos(1-c) = 2 arcsin(1-c) keeps its digits where the difference cancels, near c = 1.
		if c > 0.5 && c < 1.5 {
			return 2 * math.Asin(1-c)
		}
		return coangle(c) - angle(c)
	}
	return k.shift - 2*angle(c)
}

// mapTo implements [Kernel].
func (k ngd) mapTo(asm *asm.Kernels, dst, c, x, y []float32) { asm.NGD(dst, c, float32(k.shift)) }

// Error implements [Kernel]. arccos is stated to be within 4 ulp, at most 8 units, doubling is exact, shift is rounded once, and so is the
// difference.
func (k ngd) Error(c, x, y float64) float64 {
	d := 2 * angle(c)
	e := unit * (8*d + math.Abs(k.shift))
	return e + unit*(math.Abs(k.shift-d)+e) + underflow
}

// ngdExp is the exponential of the negative geodesic distance,
//
//	k = exp(-arccos(1-c) / t),   t > 0 in radians
//
// Source: Zhang, Chen and Lee, SIGIR 2005, §4.
type ngdExp struct {
	in
	t float64
}

func (k ngdExp) String() string { return format("ngd-exp", k.in, pair{"t", k.t}) }

// Eval implements [Kernel].
func (k ngdExp) Eval(c, x, y float64) float64 { return math.Exp(-angle(c) / k.t) }

// mapTo implements [Kernel].
func (k ngdExp) mapTo(asm *asm.Kernels, dst, c, x, y []float32) { asm.NGDExp(dst, c, float32(1/k.t)) }

// Error implements [Kernel], as for diffusion: with z = arccos(1-c)/t, 4 ulp × (1+z) for the map and z units for 1/t.
func (k ngdExp) Error(c, x, y float64) float64 {
	z := angle(c) / k.t
	return expError(z, 8+9*z)
}
