package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// The kernels of this file are functions of the inner product ⟨x, y⟩ = ‖x‖‖y‖(1-c), with the parameters that LIBSVM gives them.

// linear is the inner product itself,
//
//	k = ⟨x, y⟩ = x y (1-c)
type linear struct{ in }

func (k linear) String() string { return format("linear", k.in) }

// Eval implements [Kernel].
func (linear) Eval(c, x, y float64) float64 { return float64(x*y) * (1 - c) }

// mapTo implements [Kernel].
func (linear) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	n := len(y)
	for i, xi := range x {
		asm.Dot(dst[i*n:][:n], c[i*n:][:n], y, xi)
	}
}

// Error implements [Kernel]: 1-c, the product of the norms and the product of both are rounded once each.
func (k linear) Error(c, x, y float64) float64 {
	if x*y > mostProduct {
		return math.Inf(1)
	}
	return 3*unit*math.Abs(k.Eval(c, x, y)) + underflow*(1+math.Abs(1-c))
}

// mostProduct bounds the products that maps in float32 make of norms: beyond it there is no bound of the error, as products by 0 are NaN.
const mostProduct = math.MaxFloat32 * (1 - unit)

// polynomial is the polynomial kernel,
//
//	k = (gamma ⟨x, y⟩ + r)^degree,   gamma > 0, degree a whole number from 0 on
type polynomial struct {
	in
	gamma, r float64
	degree   int
}

func (k polynomial) String() string {
	return format("polynomial", k.in, pair{"gamma", k.gamma}, pair{"r", k.r}, pair{"degree", float64(k.degree)})
}

func (k polynomial) resolve(terms int) Kernel {
	k.gamma = resolveGamma(k.gamma, terms)
	return k
}

// Eval implements [Kernel].
func (k polynomial) Eval(c, x, y float64) float64 {
	return device.Power(affine(k.gamma, k.r, c, x, y), k.degree)
}

// mapTo implements [Kernel]. It works in float64, so that only the result is rounded to float32: a
// power would multiply the error of its base by the degree.
func (k polynomial) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	affineRows(asm, k.gamma, k.r, dst, c, x, y, func(b *block, dst []float32) {
		base := b.sum[:len(dst)]
		switch k.degree {
		case 2:
			for j, v := range base {
				dst[j] = float32(v * v)
			}
		case 3:
			for j, v := range base {
				dst[j] = float32(v * v * v)
			}
		default:
			for j, v := range base {
				dst[j] = float32(device.Power(v, k.degree))
			}
		}
	})
}

// affineRows computes gamma ⟨x, y⟩ + r, as affine does, for chunks of a tile into the sum of a block, and hands each on.
func affineRows(asm *asm.Kernels, gamma, r float64, dst, c, x, y []float32, row func(b *block, dst []float32)) {
	if gamma == 0 {
		gamma = math.NaN()
	}
	b, n := blocks.Get().(*block), len(y)
	for i, xi := range x {
		for lo := 0; lo < n; lo += chunk {
			hi := min(lo+chunk, n)
			dst := dst[i*n+lo : i*n+hi]
			asm.Affine(b.sum[:len(dst)], c[i*n+lo:i*n+hi], y[lo:hi], float64(xi), gamma, r)
			row(b, dst)
		}
	}
	blocks.Put(b)
}

// Error implements [Kernel]: rounding of the result; the float64 arithmetic before it is the reference's own.
func (k polynomial) Error(c, x, y float64) float64 {
	return bound(unit*math.Abs(k.Eval(c, x, y)) + underflow)
}

// sigmoid is the sigmoid kernel, which is not positive definite for most of its parameters,
//
//	k = tanh(gamma ⟨x, y⟩ + r),   gamma > 0
type sigmoid struct {
	in
	gamma, r float64
}

func (k sigmoid) String() string {
	return format("sigmoid", k.in, pair{"gamma", k.gamma}, pair{"r", k.r})
}

func (k sigmoid) resolve(terms int) Kernel {
	k.gamma = resolveGamma(k.gamma, terms)
	return k
}

// Eval implements [Kernel].
func (k sigmoid) Eval(c, x, y float64) float64 { return math.Tanh(affine(k.gamma, k.r, c, x, y)) }

// mapTo implements [Kernel], in float64 as [polynomial] does.
func (k sigmoid) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	affineRows(asm, k.gamma, k.r, dst, c, x, y, func(b *block, dst []float32) { asm.Tanh(dst, b.sum[:len(dst)]) })
}

// Error implements [Kernel]: that of the hyperbolic tangent, and the rounding of the result.
func (k sigmoid) Error(c, x, y float64) float64 {
	return bound((unit+halfLineError)*math.Abs(k.Eval(c, x, y)) + underflow)
}

// gaussian is the Gaussian kernel, LIBSVM's rbf,
//
//	k = exp(-gamma ‖x-y‖²),   ‖x-y‖² = (x-y)² + 2 x y c in terms of the norms,   gamma > 0
//
// The second form has no negative terms, so it keeps its digits for vectors that are close; x²+y²-2⟨x, y⟩ doesn't.
type gaussian struct {
	in
	gamma float64
}

func (k gaussian) String() string { return format("rbf", k.in, pair{"gamma", k.gamma}) }

func (k gaussian) resolve(terms int) Kernel {
	k.gamma = resolveGamma(k.gamma, terms)
	return k
}

// Eval implements [Kernel].
func (k gaussian) Eval(c, x, y float64) float64 { return math.Exp(-k.exponent(c, x, y)) }

func (k gaussian) exponent(c, x, y float64) float64 {
	if k.gamma == 0 {
		return math.NaN()
	}
	d := x - y
	return k.gamma * (float64(d*d) + float64(2*c*float64(x*y)))
}

// mapTo implements [Kernel].
func (k gaussian) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	n := len(y)
	gamma := float32(k.gamma)
	if gamma == 0 {
		gamma = float32(math.NaN())
	}
	for i, xi := range x {
		asm.Gaussian(dst[i*n:][:n], c[i*n:][:n], y, xi, gamma)
	}
}

// Error implements [Kernel]. With z = gamma ‖x-y‖², asm.Gaussian is stated to be within 5 ulp × (1+z) for a gamma that is exact, and one ulp
// is at most 2 units; rounding gamma to float32 moves z by z units more. Squares too small for float32 are lost by less than underflow each.
func (k gaussian) Error(c, x, y float64) float64 {
	if 2*x*y > mostProduct {
		return math.Inf(1)
	}
	z := k.exponent(c, x, y)
	return bound(expError(z, 10+11*z+4*k.gamma*underflow/unit))
}

// resolveGamma returns gamma, or where it is not set svm-train's default, one divided by the number of terms.
func resolveGamma(gamma float64, terms int) float64 {
	if gamma == 0 {
		return 1 / float64(max(terms, 1))
	}
	return gamma
}

// affine returns gamma ⟨x, y⟩ + r, NaN where gamma is not set. The conversions keep compilers from fusing a multiplication and an addition, so
// that the bits are the same on every platform; x*y comes first, so that they are the same for (y, x).
func affine(gamma, r, c, x, y float64) float64 {
	if gamma == 0 {
		return math.NaN()
	}
	return float64(gamma*float64(float64(x*y)*(1-c))) + r
}
