package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

func init() {
	register(family{
		Info: Info{
			Name: "exp", Summary: "exp(k)", Parts: "a kernel", What: "exponential of a kernel",
			Source:   sourceSchoenberg,
			Examples: []string{"exp(2*bhattacharyya)"},
		},
		place: 230, single: true,
		combine: func(of []component, _, _ []float64) component { return compile(exponential{combination{of}}) },
	})
	register(family{
		Info: Info{
			Name: "normalise", Summary: "k(x,y) / √(k(x,x) k(y,y))", Parts: "a kernel",
			What:   "kernel scaled to unit diagonal",
			Source: sourceProduct, Examples: []string{"normalise(polynomial:r=1,degree=2)", "normalise(arccos:n=2)"},
		},
		place: 240, single: true,
		check: func(of []component, _ []float64) (int, string) {
			if !of[0].Properties().PositiveDiagonal {
				return 0, needsDiagonal
			}
			return 0, ""
		},
		combine: func(of []component, _, _ []float64) component { return compile(normalised{combination{of}}) },
	})
	register(family{
		Info: Info{
			Name: "centred", Summary: "k(x,y) - k(x,o) - k(o,y) + k(o,o)", Parts: "a kernel",
			What:   "kernel with the empty document o as origin, which shares no term with any other and has norm 0",
			Source: "Schölkopf, NIPS 2000", Examples: []string{"centred(ngd)"},
		},
		place: 250, single: true,
		combine: func(of []component, _, _ []float64) component { return compile(centred{combination{of}}) },
	})
}

// needsDiagonal is what the parts of a combination must be that divides by k(x, x).
const needsDiagonal = "a kernel with k(x, x) > 0 for all documents x"

// exponential is the exponential of a kernel,
//
//	k = exp(k₁(x, y))
//
// positive definite where k₁ is conditionally so.
type exponential struct{ combination }

func (f exponential) spec() string             { return f.call("exp") }
func (f exponential) with(of []component) form { return exponential{combination{of}} }

func (f exponential) properties() Properties {
	p := Properties{Source: sourceSchoenberg, Condition: f.conditions(), NonNegative: true, PositiveDiagonal: true,
		Falling: f.all(isFalling)}
	if f.all(isConditional) {
		p.Definite = Positive
		return p
	}
	return p.like(f.of)
}

func (f exponential) value(c, x, y float64) float64 { return math.Exp(f.of[0].Eval(c, x, y)) }

func (f exponential) homogeneous() (float64, bool) {
	p, ok := f.of[0].homogeneous()
	return 0, ok && p == 0
}

// feature: with φ of k₁, exp(⟨φ, φ′⟩ - ‖φ‖²/2 - ‖φ′‖²/2) = exp(-‖φ-φ′‖²/2), and ‖φ-φ′‖² = (x2-y2)²
// + 2 x2 y2 c2.
func (f exponential) feature(c, x, y float64) (c2, x2, y2 float64) {
	of := f.of[0]
	if !of.Properties().PositiveDiagonal {
		xx, yy := of.Eval(0, x, x), of.Eval(0, y, y)
		return min(max(-math.Expm1(of.Eval(c, x, y)-(xx+yy)/2), 0), 2), math.Exp(xx / 2), math.Exp(yy / 2)
	}
	c2, x2, y2 = of.feature(c, x, y)
	d := x2 - y2
	return -math.Expm1(-(float64(d*d) + float64(2*float64(x2*y2)*c2)) / 2), math.Exp(x2 * x2 / 2), math.Exp(y2 * y2 / 2)
}

func (f exponential) rows(k *asm.Kernels, b *block) {
	b.groups(func(dst, c, x []float32) {
		f.of[0].mapTo(k, dst, c, x, b.y)
		k.Exp(dst, dst)
	})
}

// error: the part's error is relative to the result, and asm.Exp adds 4 ulp, of at most 2 units
// each.
func (f exponential) error(c, x, y float64) float64 {
	v, e := f.of[0].Eval(c, x, y), partError(f.of[0], c, x, y)
	if math.IsInf(e, 1) {
		return e
	}
	most := math.Exp(v + e)
	if e < 1 {
		return math.Exp(v)*math.Expm1(e) + 8*unit*most + underflow
	}
	return most*(1+8*unit) + underflow // the value may be 0 and its relative error infinite
}

// raised multiplies the exponent.
func (f exponential) raised(p float64) (component, bool) {
	exponent := weighted{combination{f.of}, []float64{p}}
	if sum, ok := as[weighted](f.of[0]); ok {
		exponent = weighted{combination{sum.of}, make([]float64, len(sum.of))}
		for i, w := range sum.weights {
			exponent.weights[i] = w * p
		}
	}
	return compile(exponential{combination{[]component{compile(exponent)}}}), false
}

func (f exponential) program(b *programBuilder, l layer) {
	b.value(f.of[0], l)
	b.op(device.OpExp)
}

// deficitProgram pushes 1 - exp(-((x2-y2)² + 2 x2 y2 c2)/2) with the feature space of the part.
func (f exponential) deficitProgram(b *programBuilder, l layer) {
	of := f.of[0]
	if !of.Properties().PositiveDiagonal {
		b.ok = false
		return
	}
	b.square(b.feature(of, l))
	b.constant(-0.5)
	b.ops(device.OpMul, device.OpExpm1, device.OpNeg)
}

// normalised is a kernel scaled to unit diagonal,
//
//	k = k₁(x, y) / √(k₁(x, x) k₁(y, y))
//
// the cosine in its feature space, exactly 1 for identical documents. A document for which k₁(x, x)
// is 0 has the cosine that c stands for.
type normalised struct{ combination }

func (f normalised) spec() string             { return f.call("normalise") }
func (f normalised) with(of []component) form { return normalised{combination{of}} }

func (f normalised) properties() Properties {
	of := f.of[0].Properties()
	p := Properties{
		Source:           sourceProduct,
		Condition:        f.conditions(),
		NonNegative:      of.NonNegative,
		PositiveDiagonal: true,
		Falling:          of.Falling,
	}
	return p.like(f.of)
}

func (f normalised) value(c, x, y float64) float64 {
	of := f.of[0]
	if _, separable := of.homogeneous(); separable {
		return of.Eval(c, 1, 1) / of.Eval(0, 1, 1)
	}
	d := math.Sqrt(of.Eval(0, x, x)) * math.Sqrt(of.Eval(0, y, y))
	if v := of.Eval(c, x, y) / d; d > 0 && d <= math.MaxFloat64 {
		return v
	}
	c2, _, _ := of.feature(c, x, y)
	return 1 - c2
}

func (f normalised) homogeneous() (float64, bool) {
	_, ok := f.of[0].homogeneous()
	return 0, ok
}

func (f normalised) feature(c, x, y float64) (c2, x2, y2 float64) {
	c2, _, _ = f.of[0].feature(c, x, y)
	return c2, 1, 1
}

// The diagonal in float32 between these is far from the ends of the range, and so are all values,
// which are between the diagonal's. Below smallDiagonal the part may have lost digits all the same,
// such as [arcBias], which counts less than 2⁻¹¹⁶ as nothing, or what is made of it, and is asked
// for its error.
const (
	leastDiagonal, mostDiagonal = 1e-36, 1e36
	smallDiagonal               = 0x1p-40
	// relative: what the stated bounds of all kernels are well below as long as nothing is lost
	diagonalError = 0x1p-13
)

// divides tells whether d, the diagonal for a norm, is as good as values are divided by; with a
// slack above 1 it is also said of one that is worse by that factor.
func (f normalised) divides(d, norm, slack float64) bool {
	return d >= leastDiagonal/slack && d <= mostDiagonal*slack &&
		(d >= smallDiagonal/slack || f.of[0].Error(0, norm, norm) <= diagonalError*slack*d)
}

// rows divides by the diagonal as the part's own map computes it, so that identical documents give
// exactly 1. Where that isn't good enough values go through float64.
func (f normalised) rows(k *asm.Kernels, b *block) {
	of := f.of[0]
	// roots[j] is 0 where the diagonal isn't to divide by.
	root := func(norm float32) float64 {
		b.one[0], b.one[1] = 0, norm
		of.mapTo(k, b.one[:1], b.one[:1], b.one[1:2], b.one[1:2])
		if d := float64(b.one[0]); f.divides(d, float64(norm), 1) {
			return math.Sqrt(d)
		}
		return 0
	}
	n := len(b.y)
	roots := b.wide[:n]
	for j, v := range b.y {
		roots[j] = root(v)
	}
	b.groups(func(dst, c, x []float32) {
		from, wide := b.a[:len(dst)], b.sum[:len(dst)]
		of.mapTo(k, from, c, x, b.y)
		b.Widen(k, wide, from)
		for i, x := range x {
			xx, dst, c := root(x), dst[i*n:][:n], c[i*n:][:n]
			for j, v := range wide[i*n:][:n] {
				if d := float64(xx * roots[j]); d > 0 {
					dst[j] = float32(v / d)
				} else {
					dst[j] = float32(f.value(float64(c[j]), float64(x), float64(b.y[j])))
				}
			}
		}
	})
}

// error: the errors of the value and, halved, of both ends of the diagonal, relative to these; and
// the rounding of the result. Near the limits either way may have been taken.
func (f normalised) error(c, x, y float64) float64 {
	of := f.of[0]
	v, xx, yy := math.Abs(of.Eval(c, x, y)), of.Eval(0, x, x), of.Eval(0, y, y)
	r := math.Abs(f.value(c, x, y))
	if !f.divides(xx, x, 2) || !f.divides(yy, y, 2) {
		return unit*r + underflow
	}
	ex, ey := of.Error(0, x, x)/xx, of.Error(0, y, y)/yy
	up := (v + of.Error(c, x, y)) / math.Sqrt(xx*yy) / math.Sqrt((1-min(ex, 0.5))*(1-min(ey, 0.5)))
	return up - r + unit*up + underflow
}

// program: the diagonal goes in as one attribute, NaN where it is near the end of the range of
// float64, or of float32 for what goes through tables: beyond that rows has no error but rounding,
// and tables have more.
func (f normalised) program(b *programBuilder, l layer) {
	tables, least, most := len(b.program.Tables), 1e-150, 1e150
	if b.value(f.of[0], l); len(b.program.Tables) > tables {
		least, most = math.Sqrt(leastDiagonal), math.Sqrt(mostDiagonal)
	}
	b.both(l, "root of the diagonal of "+f.of[0].String(), func(x float64) float64 {
		d := math.Sqrt(f.of[0].Eval(0, x, x))
		if !(d > least && d < most) {
			return math.NaN()
		}
		return d
	})
	b.op(device.OpDiv)
}

func (f normalised) deficitProgram(b *programBuilder, l layer) { b.deficit(f.of[0], l) }

// centred is a kernel with the empty document as origin,
//
//	k = k₁(x, y) - k₁(x, o) - k₁(o, y) + k₁(o, o)
//
// where o shares no term with any document and has the norm 0: for the Euclidean distance the
// origin, on the sphere a direction that is orthogonal to all. It is positive definite where k₁ is
// conditionally so. Source: Schölkopf, The kernel trick for distances, NIPS 2000.
type centred struct{ combination }

func (f centred) spec() string             { return f.call("centred") }
func (f centred) with(of []component) form { return centred{combination{of}} }

func (f centred) properties() Properties {
	p := Properties{Source: "Schölkopf, The kernel trick for distances, NIPS 2000", Condition: f.conditions(),
		Falling: f.all(isFalling)}
	if f.all(isConditional) {
		p.Definite = Positive
	} else {
		p = p.like(f.of)
	}
	p.PositiveDiagonal = f.value(0, 1, 1) > 0 && f.value(0, 100, 100) > 0
	return p
}

func (f centred) value(c, x, y float64) float64 {
	of := f.of[0]
	return of.Eval(c, x, y) - (of.Eval(1, x, 0) + of.Eval(1, 0, y)) + of.Eval(0, 0, 0)
}

func (f centred) homogeneous() (float64, bool) { return f.of[0].homogeneous() }

// feature: the origin moves no distance, so with p and q the diagonal of k and g = (k₁(x, x) +
// k₁(y, y))/2 - k₁(x, y), half the squared distance,
//
//	c2 = (g - (√p-√q)²/2) / √(pq)
//
// where g is known without cancellation from the part's own geometry, or as the value itself where
// the part's diagonal is 0, as that of a negative distance.
func (f centred) feature(c, x, y float64) (c2, x2, y2 float64) {
	x2, y2 = math.Sqrt(f.value(0, x, x)), math.Sqrt(f.value(0, y, y))
	if x2 == 0 || y2 == 0 { // the origin itself
		return c, x2, y2
	}
	of := f.of[0]
	gap := (of.Eval(0, x, x)+of.Eval(0, y, y))/2 - of.Eval(c, x, y)
	if of.Properties().PositiveDiagonal {
		c1, x1, y1 := of.feature(c, x, y)
		d := x1 - y1
		// else one of the part's parts has no feature space of its own
		if g := float64(d*d)/2 + float64(float64(x1*y1)*c1); g == g {
			gap = g
		}
	}
	d := x2 - y2
	return min(max((gap-float64(d*d)/2)/float64(x2*y2), 0), 2), x2, y2
}

// rows maps the value and those at o, each as the part maps it, and adds them up in float64 in an
// order that is the same for (x, y) and (y, x).
func (f centred) rows(k *asm.Kernels, b *block) {
	of, n := f.of[0], len(b.y)
	origins := b.wide[:n]
	b.one[0] = 0
	atOrigin := func(norms []float32) []float32 {
		at := b.b[:len(norms)]
		for j := range at {
			at[j] = 1
		}
		of.mapTo(k, at, at, b.one[:1], norms)
		return at
	}
	b.Widen(k, origins, atOrigin(b.y))
	o := of.Eval(0, 0, 0)
	b.groups(func(dst, c, x []float32) {
		from, wide := b.a[:len(dst)], b.sum[:len(dst)]
		of.mapTo(k, from, c, x, b.y)
		b.Widen(k, wide, from)
		for i, here := range atOrigin(x) {
			x, wide, dst := float64(here), wide[i*n:][:n], dst[i*n:][:n]
			for j, v := range wide {
				dst[j] = float32(v - (x + origins[j]) + o)
			}
		}
	})
}

// error: those of the three values that are mapped, and the rounding of the result.
func (f centred) error(c, x, y float64) float64 {
	of := f.of[0]
	err := partError(of, c, x, y) + partError(of, 1, x, 0) + partError(of, 1, 0, y)
	return err + unit*(math.Abs(f.value(c, x, y))+err) + underflow
}

func (f centred) noise() (sum float64) {
	for _, at := range [][3]float64{{0, 1, 1}, {1, 1, 0}, {0, 0, 0}} {
		sum += math.Abs(f.of[0].Eval(at[0], at[1], at[2]))
	}
	return 0x1p-51 * sum
}

func (f centred) program(b *programBuilder, l layer) {
	of := f.of[0]
	b.value(of, l)
	at := b.attribute(l, "origin of "+of.String(), func(x float64) float64 { return of.Eval(1, x, 0) })
	b.op(device.OpX, at)
	b.op(device.OpY, at)
	b.ops(device.OpAdd, device.OpSub)
	b.constant(of.Eval(0, 0, 0))
	b.op(device.OpAdd)
}
