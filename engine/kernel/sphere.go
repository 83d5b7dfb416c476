package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// The kernels of the simplex and its sphere that are functions of the geodesic distance or of the
// squared Hellinger distance c.
func init() {
	register(family{
		Info: Info{
			Name: "ngd", Summary: "shift - 2 arccos(1-c)",
			What:   "negative geodesic distance, on the sphere of radius 2",
			Source: sourceZhang + ", §3", Examples: []string{"ngd:shift=0", "ngd:shift=pi"},
		},
		place: 20, embedding: sparse.Sphere,
		params: []param{signed("shift", "what is added to the negative geodesic distance", 0)},
		build:  func(e in, v []float64) component { return ngd{cosine{e}, v[0]} },
	})
	register(family{
		Info: Info{
			Name: "ngd-exp", Summary: "exp(-arccos(1-c)/t)", What: "exponential of the negative geodesic distance",
			Source: sourceZhang + ", §3", Examples: []string{"ngd-exp:t=1"},
		},
		place: 30, embedding: sparse.Sphere,
		params: []param{positive("t", "width, in radians", 1)},
		build:  func(e in, v []float64) component { return angleExp{cosine{e}, v[0], false} },
	})
	register(family{
		Info: Info{
			Name: "hellinger", Summary: "exp(-gamma c)", What: "exponential kernel of the squared Hellinger distance",
			Source: sourceSchoenberg, Examples: []string{"hellinger:gamma=1"},
		},
		place: 60, embedding: sparse.Sphere,
		params: []param{positive("gamma", "factor of the squared distance", 1)},
		build: func(e in, v []float64) component {
			return newDecay(e, "hellinger", pair{"gamma", v[0]}, v[0],
				nonNegative("", sourceSchoenberg))
		},
	})
	register(family{
		Info: Info{
			Name: "bhattacharyya", Summary: "1-c", What: "probability product kernel of power ½",
			Source: sourceJebara + ", §2", Examples: []string{"bhattacharyya"},
		},
		place: 70, embedding: sparse.Sphere,
		build: func(e in, _ []float64) component { return bhattacharyya{cosine{e}} },
	})
	register(family{
		Info: Info{
			Name: "c", Summary: "the squared Hellinger distance c = 1 - cosine itself",
			What: "what all kernels are computed from, no kernel for learning", Source: "docs/design.md",
			Examples: []string{"c"},
		},
		place: 90, embedding: sparse.Sphere,
		build: func(e in, _ []float64) component { return C{cosine{e}} },
	})
}

// C is the squared Hellinger distance of two points of the simplex,
//
//	k = c = 1 - s = ½ Σ (√θᵢ - √θ′ᵢ)²
//
// itself: not a kernel for learning, but what every other one is computed from, so it can be
// written out and verified like one. The zero value is what engines ask for where they want c.
type C struct{ cosine }

func (k C) String() string { return format("c", k.in) }

// Eval implements [Kernel].
func (C) Eval(c, x, y float64) float64 { return c }

func (C) mapTo(_ *asm.Kernels, dst, c, x, y []float32) { copy(dst, c) }

// Error implements [Kernel]: a copy has none.
func (C) Error(c, x, y float64) float64 { return 0 }

func (k C) feature(c, x, y float64) (float64, float64, float64) { return plainFeature(k, c, x, y) }

// Properties returns what is known of the kernel.
func (C) Properties() Properties {
	return Properties{
		Condition: "its negative is conditionally positive definite", Source: sourceSchoenberg, NonNegative: true,
	}
}

func (C) program(b *programBuilder, l layer) { b.c(l) }

// bhattacharyya is the Bhattacharyya kernel, the probability product kernel with exponent ½,
//
//	k = Σ √θᵢ √θ′ᵢ = 1 - c
//
// Source: Jebara, Kondor and Howard, JMLR 5 (2004), §2.
type bhattacharyya struct{ cosine }

func (k bhattacharyya) String() string             { return format("bhattacharyya", k.in) }
func (bhattacharyya) Eval(c, x, y float64) float64 { return 1 - c }

func (bhattacharyya) mapTo(_ *asm.Kernels, dst, c, x, y []float32) {
	dst = dst[:len(c)]
	for i, v := range c {
		dst[i] = 1 - v
	}
}

// Error: one subtraction, rounded once.
func (bhattacharyya) Error(c, x, y float64) float64 { return unit * math.Abs(1-c) }

func (bhattacharyya) feature(c, x, y float64) (float64, float64, float64) { return c, 1, 1 }

func (bhattacharyya) Properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product", Source: sourceJebara, PositiveDiagonal: true,
		Falling: true}
}

func (bhattacharyya) program(b *programBuilder, l layer)        { b.cosine(l) }
func (bhattacharyya) deficitProgram(b *programBuilder, l layer) { b.c(l) }
func (k bhattacharyya) layer() rowLayer                         { return sameLayer{newTableLayer(k)} }

// ngd is the negative geodesic distance on the sphere of radius 2,
//
//	k = shift - 2 arccos(1-c)
//
// conditionally positive definite. From shift = π on it is positive definite: π - 2 arccos(z) is
// 2 arcsin(z), whose power series has no coefficient below 0; and it is non-negative for documents
// without negative values. Source: Zhang, Chen and Lee, SIGIR 2005, §3.
type ngd struct {
	cosine
	shift float64
}

func (k ngd) String() string { return format("ngd", k.in, pair{"shift", k.shift}) }

func (k ngd) Eval(c, x, y float64) float64 {
	if k.shift == math.Pi {
		// π - 2 arccos(1-c) = 2 arcsin(1-c) keeps its digits where the difference cancels, near c =
		// 1.
		if c > 0.5 && c < 1.5 {
			return 2 * math.Asin(1-c)
		}
		return coangle(c) - angle(c)
	}
	return k.shift - 2*angle(c)
}

func (k ngd) mapTo(asm *asm.Kernels, dst, c, x, y []float32) { asm.NGD(dst, c, float32(k.shift)) }

// Error: arccos is stated to be within 4 ulp, at most 8 units, doubling is exact, shift is rounded
// once, and so is the difference.
func (k ngd) Error(c, x, y float64) float64 {
	d := 2 * angle(c)
	e := unit * (8*d + math.Abs(k.shift))
	return e + unit*(math.Abs(k.shift-d)+e) + underflow
}

func (k ngd) feature(c, x, y float64) (float64, float64, float64) {
	root := math.Sqrt(k.shift)
	return 2 * angle(c) / k.shift, root, root
}

func (k ngd) Properties() Properties {
	p := Properties{
		Definite: ConditionallyPositive, Source: sourceZhang + ", §3",
		NonNegative: k.shift >= 2*math.Pi, NonPositive: k.shift <= 0, PositiveDiagonal: k.shift > 0, Falling: true,
	}
	if k.shift >= math.Pi {
		p.Definite, p.Condition = Positive, "shift >= pi: a power series without negative coefficients"
	}
	return p
}

// decay is an exponential of c,
//
//	k = exp(-rate c)
//
// whose parameter is a rate or a width. The one of the squared Hellinger distance is the Gaussian
// kernel of the points on the sphere, with half their gamma.
type decay struct {
	function
	name  string
	raise func(p float64) (float64, bool) // the parameter of the power p
}

func newDecay(e in, name string, by pair, rate float64, known Properties) component {
	raise := raisedRate
	if by.key == "t" {
		raise = raisedWidth
	}
	return compile(decay{
		function{
			single{e}, format(name, e, by),
			func(c float64) float64 { return math.Exp(-rate * c) },
			func(c float64) float64 { return -math.Expm1(-rate * c) }, known,
		},
		name, func(p float64) (float64, bool) { return raise(by.value, p) },
	})
}

func (f decay) raised(p float64) (component, bool) {
	v, ok := f.raise(p)
	if !ok {
		return nil, false
	}
	return familyOf(f.name).build(f.e, []float64{v}), true
}
