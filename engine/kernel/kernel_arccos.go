package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// arccos is the arc-cosine kernel of degree n = 0, 1 or 2, the inner product of two infinite layers of threshold units,
//
//	k = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ),   θ = arccos(1-c)
//	J_0 = π - θ
//	J_1 = sin θ + (π-θ) cos θ
//	J_2 = 3 sin θ cos θ + (π-θ)(1 + 2 cos² θ)
//
// Source: Cho, Kernel methods for deep learning, PhD thesis, UCSD 2012, ch. 2; Cho and Saul, NIPS 2009.
type arccos struct {
	in
	n int
}

func (k arccos) String() string { return format("arccos", k.in, pair{"n", float64(k.n)}) }

// Eval implements [Kernel].
func (k arccos) Eval(c, x, y float64) float64 {
	phi := coangle(c)
	switch k.n {
	case 0:
		return phi / math.Pi
	case 1:
		return float64(x*y) * arcCosineJ1(phi) / math.Pi
	}
	xy := x * y
	return float64(xy*xy) * arcCosineJ2(phi) / math.Pi
}

// mapTo implements [Kernel].
func (k arccos) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	if k.n == 0 {
		asm.ArcCosine0(dst, c)
		return
	}
	row := asm.ArcCosine1
	if k.n == 2 {
		row = asm.ArcCosine2
	}
	n := len(y)
	for i, xi := range x {
		row(dst[i*n:][:n], c[i*n:][:n], y, xi)
	}
}

// Error implements [Kernel]. The maps of package asm are stated to be within 4, 8 and 12 ulp, of at most 2 units each, relative to the value
// even where it goes to 0 at c = 2. Where a product of norms is too small for float32, what is lost of it is multiplied by at most 3 = J_2(0)/π.
func (k arccos) Error(c, x, y float64) float64 {
	if realPower(x*y, float64(k.n)) > mostProduct {
		return math.Inf(1)
	}
	return [3]float64{8, 16, 24}[k.n]*unit*k.Eval(c, x, y) + 4*underflow
}

// arcCosineJ1 returns J_1 for φ = π - θ,
//
//	J_1 = sin φ - φ cos φ = Σ (-1)^(k+1) 2k φ^(2k+1)/(2k+1)!,   k >= 1
//
// The difference cancels to φ³/3 for small φ, so there the series is summed.
func arcCosineJ1(phi float64) float64 {
	if phi > 1 {
		s, c := math.Sincos(phi)
		return s - float64(phi*c)
	}
	return alternating(phi, 1, func(k float64) float64 { return 2 * k })
}

// arcCosineJ2 returns J_2 for φ = π - θ, with ψ = 2φ,
//
//	J_2 = φ(2 + cos ψ) - (3/2) sin ψ = Σ (-1)^k (k-1) ψ^(2k+1)/(2k+1)!,   k >= 2
//
// by the same reasoning as [arcCosineJ1]: it cancels to ψ⁵/120.
func arcCosineJ2(phi float64) float64 {
	psi := 2 * phi
	if psi > 2 {
		s, c := math.Sincos(psi)
		return float64(phi*(2+c)) - float64(1.5*s)
	}
	return -alternating(psi, 2, func(k float64) float64 { return k - 1 })
}

// alternating returns the sum of -(-1)^k factor(k) v^(2k+1)/(2k+1)! over k >= first, for v in [0, 2]: 16 terms are more than float64 holds.
func alternating(v float64, first int, factor func(k float64) float64) float64 {
	term := v // v^(2k+1)/(2k+1)!, with its sign
	var sum float64
	for k := 1; k <= 16; k++ {
		term *= v * v / float64(2*k*(2*k+1))
		if k >= first {
			sum += factor(float64(k)) * term
		}
		term = -term
	}
	return sum
}
