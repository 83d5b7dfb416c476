package kernel

import (
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel/internal/jet"
)

// Ray is the surface x → φ(x) that a kernel makes of the space of documents, along a ray from the
// origin: as the kernel doesn't change with rotations, that is all there is to know of it. With r
// the norm and Ω the unit sphere of directions, φ is as long as √D, and lengths on it are
//
//	ds² = B(r) dr² + T(r) dΩ²
//
// Each has its value and its first two derivatives by r; the second of B is unknown, and 0.
type Ray struct {
	D, T, B [3]float64
}

// RoughError says that a kernel has no metric since it has no derivative where its arguments meet:
// squared distances of documents of norm 1 grow with the angle Δ between them as Factor·Δ^Power.
type RoughError struct {
	Kernel        Kernel
	Power, Factor float64 // a Power just below 2 may be 2 and a logarithm
}

// Error implements error.
func (e *RoughError) Error() string {
	return fmt.Sprintf("engine: kernel %s has no derivative, so no metric: squared distances in its feature space grow "+
		"as %.4g Δ^%.4g with the angle Δ between documents, expected Δ²", e.Kernel, e.Factor, e.Power)
}

// RayOf returns the surface of a kernel at documents of norm r > 0 by its formula, differentiated
// exactly: to some 10 float64 ulp, 10⁻¹² for functions of the cosine that have no rule of their own.
//
// It knows linear, polynomial, rbf, arccos of every degree and smoothed, functions of the cosine,
// and what sums, products, powers, exponentials, normalised and composed kernels make of these.
//
// Errors: a [RoughError] where there is no derivative; a kernel that isn't known, or whose gamma
// isn't resolved; a norm that isn't a number above 0.
//
// Source: Burges, Geometry and invariance in kernel based methods (1999); Cho's thesis, ch. 6.
func RayOf(k Kernel, r float64) (Ray, error) {
	if err := Check(k); err != nil {
		return Ray{}, err
	}
	of, ok := k.(component)
	if !ok {
		return Ray{}, unknownSurface(k)
	}
	if !(r > 0) || math.IsInf(r, 1) {
		return Ray{}, fmt.Errorf("engine: the norm of a document is %v, expected a number above 0", r)
	}
	s, err := surfaceOf(of, jet.Variable(r))
	if rough := (*RoughError)(nil); errors.As(err, &rough) && rough.Kernel != k {
		if _, whole := slopeOf(of); whole != nil { // one of its parts is rough: how much so is it?
			err = whole
		}
	}
	if err != nil {
		return Ray{}, err
	}
	ray := Ray{s.d.Derivatives(), s.t.Derivatives(), s.b.Derivatives()}
	ray.B[2] = 0
	return ray, nil
}

func unknownSurface(k Kernel) error {
	return fmt.Errorf("engine: the geometry of kernel %s isn't known, expected linear, polynomial, rbf, arccos, a "+
		"function of the cosine, or kernels made of these", k)
}

// errGamma says that there is no value yet.
var errGamma = errors.New("the kernel's gamma isn't set, expected gamma=NUMBER")

// surface is a Ray as functions of some variable, of which r is one.
type surface struct{ r, d, t, b jet.Jet }

// surfaceOf returns the surface at norm r. With F(c, x, y) the kernel,
//
//	D = F(0, r, r),   T = -∂F/∂c,   B = ∂²F/∂x∂y
//
// since 1 - cos Ω = Ω²/2. The rules of combinations are those of differentiation.
func surfaceOf(k component, r jet.Jet) (s surface, err error) {
	square := r.Times(r)
	switch f := k.(type) {
	case polynomial:
		if f.gamma == 0 {
			return s, errGamma
		}
		if f.degree == 0 {
			return surface{r: r, d: jet.Constant(1)}, nil
		}
		base := square.Scaled(f.gamma).Plus(jet.Constant(f.r))
		s, p := surface{r: r, d: square, t: square, b: jet.Constant(1)}, float64(f.degree)
		return s.through(natural(base, p), natural(base, p-1).Scaled(p*f.gamma),
			natural(base, p-2).Scaled(p*(p-1)*f.gamma*f.gamma)), nil
	case gaussian:
		if f.gamma == 0 {
			return s, errGamma
		}
		return surface{r: r, d: jet.Constant(1), t: square.Scaled(2 * f.gamma), b: jet.Constant(2 * f.gamma)}, nil
	case *compiled:
		switch f := f.form.(type) {
		case arcSmooth:
			return f.surface(r), nil
		case euclidean:
			if f.beta == 2 {
				return surface{r: r, t: square.Scaled(2), b: jet.Constant(2)}, nil
			}
			_, err := slopeOf(k)
			return s, err
		case weighted, product, powered, exponential, normalised, composed:
			return surfaceOfParts(f.(combiner), r)
		}
	}
	p, separable := k.homogeneous()
	at := k.Eval(0, 1, 1)
	if !separable || !(k.Properties().PositiveDiagonal || at == 0 && k.Properties().Definite != NotProven) {
		return s, unknownSurface(k)
	}
	slope, err := slopeOf(k)
	power := r.Power(2 * p)
	return surface{
		r: r, d: power.Scaled(at), t: power.Scaled(slope), b: power.Times(r.Power(-2)).Scaled(at * p * p),
	}, err
}

// surfaceOfParts combines the surfaces of parts.
func surfaceOfParts(f combiner, r jet.Jet) (s surface, err error) {
	if f, ok := f.(composed); ok {
		for i, k := range f.of {
			upper, err := surfaceOf(k, r)
			if err != nil {
				return s, err
			}
			if i > 0 {
				upper = s.below(upper)
			}
			s, r = upper, upper.d.Power(0.5)
		}
		return s, nil
	}
	for i, k := range f.parts() {
		part, err := surfaceOf(k, r)
		if err != nil {
			return s, err
		}
		if f, ok := f.(weighted); ok {
			w := f.weights[i]
			part = surface{r: r, d: part.d.Scaled(w), t: part.t.Scaled(w), b: part.b.Scaled(w)}
			if i > 0 {
				part.d, part.t, part.b = s.d.Plus(part.d), s.t.Plus(part.t), s.b.Plus(part.b)
			}
		} else if i > 0 { // a product
			cross := s.slope().Times(part.slope()).Scaled(0.5)
			part = surface{
				r: r, d: s.d.Times(part.d), t: s.t.Times(part.d).Plus(s.d.Times(part.t)),
				b: s.b.Times(part.d).Plus(s.d.Times(part.b)).Plus(cross),
			}
		}
		s = part
	}
	switch f := f.(type) {
	case powered:
		return s.through(s.d.Power(f.p), s.d.Power(f.p-1).Scaled(f.p), s.d.Power(f.p-2).Scaled(f.p*(f.p-1))), nil
	case exponential:
		e := s.d.Exp()
		return s.through(e, e, e), nil
	case normalised:
		n := s.d.Power(0.5)
		return s.below(surface{r: n, d: jet.Constant(1), t: jet.Constant(1)}), nil
	}
	return s, nil
}

// slope returns dD/dr.
func (s surface) slope() jet.Jet { return s.d.Slope().Times(s.r.Slope().Power(-1)) }

// through returns the surface of h(F), given h, h' and h” of D: ∂F/∂x = ∂F/∂y = D'/2 where x = y.
func (s surface) through(h, first, second jet.Jet) surface {
	slope := s.slope()
	b := first.Times(s.b).Plus(second.Times(slope).Times(slope).Scaled(0.25))
	return surface{r: s.r, d: h, t: first.Times(s.t), b: b}
}

// below returns the surface of another kernel on that of s: it is given the norm N = √D, and on s
//
//	ds² = B dr² + T dΩ² = dN² + N² dω²
//
// where ω is the angle in the feature space. So dω² = ((B - N'²) dr² + T dΩ²)/N².
func (s surface) below(upper surface) surface {
	n := s.d.Power(0.5)
	step := n.Slope().Times(s.r.Slope().Power(-1))
	step = step.Times(step)
	share := upper.t.Times(s.d.Power(-1))
	aside := s.b.Plus(step.Scaled(-1))
	return surface{r: s.r, d: upper.d, t: share.Times(s.t), b: upper.b.Times(step).Plus(share.Times(aside))}
}

// natural returns a to a whole power p, 1 for a factor that vanishes with it; a may be any number.
func natural(a jet.Jet, p float64) jet.Jet {
	v := jet.Constant(1)
	for range int(max(p, 0)) {
		v = v.Times(a)
	}
	return v
}

// surface, with u = r²/(r²+σ²) of which the kernel is 1 - arccos(u)/π, is
//
//	T = r²/(πσ√(2r²+σ²)),   B = T σ²/(r²(2r²+σ²))
//
// Source: Cho's thesis, eq. 6.19.
func (f arcSmooth) surface(r jet.Jet) surface {
	square, variance := r.Times(r), f.sigma*f.sigma
	both := square.Scaled(2).Plus(jet.Constant(variance))
	t := square.Times(both.Power(-0.5)).Scaled(1 / (math.Pi * f.sigma))
	// dD/dr = (1/π) u'/√(1-u²) = 2 r σ/(π (r²+σ²) √(2r²+σ²))
	slope := r.Times(square.Plus(jet.Constant(variance)).Times(both.Power(0.5)).Power(-1)).Scaled(2 * f.sigma / math.Pi)
	d := slope.Times(r.Slope()).Integral(f.value(0, r[0], r[0]))
	return surface{r: r, d: d, t: t, b: t.Times(square.Times(both).Power(-1)).Scaled(variance)}
}

// slopeOf returns T for norms 1, the derivative by c of half the squared distance, F(0) - F(c). That of
// an arc-cosine kernel is known. Others are taken so close to 0 that what is left is far below
// rounding, as the distance keeps its digits there; where the limit isn't reached, there is none.
func slopeOf(k component) (float64, error) {
	at := k.Eval(0, 1, 1)
	if n, _, ok := shortLayer(k); ok && n > 0.5 {
		return at * n * n / (2*n - 1), nil
	}
	half := func(c float64) float64 {
		if at == 0 {
			return -k.Eval(c, 1, 1)
		}
		c2, _, _ := k.feature(c, 1, 1)
		return at * c2
	}
	const near, nearer = 0x1p-80, 0x1p-90
	first, last := half(near), half(nearer)
	power := math.Log2(first/last) / math.Log2(near/nearer)
	if !(math.Abs(power-1) <= 1e-6) || !(first > 0) {
		return 0, &RoughError{k, 2 * power, 2 * first / math.Pow(2*near, power)} // c = Δ²/2
	}
	return last / nearer, nil
}
