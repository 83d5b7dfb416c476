// Package geometry computes the metric and curvature of the image of the document vectors under a
// kernel's feature map. It uses finite differences of the kernel.
//
// For k(⟨x,y⟩, ‖x‖, ‖y‖) = ⟨φ(x), φ(y)⟩, the metric of the points φ(x) is g = ∂²k/∂x∂yᵀ at y = x. g
// is invariant under rotations. With u = ln ‖x‖ and the unit sphere metric dΩ², the line element is
//
//	ds² = G du² + T dΩ² = dρ² + w(ρ)² dΩ²,   dρ = √G du,   w = √T
//
// For x and y at an angle θ, T = -∂²k/∂θ² at θ = 0, and G = ∂²k/∂u∂v at v = ln ‖y‖ = u. In d
// dimensions
//
//	g = A (I - xxᵀ/‖x‖²) + B xxᵀ/‖x‖²,   A = T/‖x‖²,   B = G/‖x‖²
//	S = -2(d-1) w″/w + (d-1)(d-2) (1 - w′²)/w²
//
// Source: Burges, Geometry and invariance in kernel based methods (1999); Cho's thesis, ch. 6; for
// warped products, O'Neill, Semi-Riemannian Geometry (1983), ch. 7.
package geometry

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
)

// surfacePoint describes the surface φ(x) at vectors x of a given norm.
type surfacePoint struct {
	orthogonal   float64 // A, the squared length of a unit vector orthogonal to x
	parallel     float64 // B, the squared length of a unit vector parallel to x; 0 if k ignores norms
	logVolume    float64 // ln √det g; -Inf if parallel is 0
	curvature    float64 // scalar curvature S; if parallel is 0, curvature of the (d-1)-dimensional surface
	squaredSlope float64 // w′²: 1 on a flat surface, constant on a cone; 0 if parallel is 0
}

// roughError reports that a kernel has no metric. At norm 1 and angle Δ, the squared distance is
// about Factor·Δ^Power. A Power slightly below 2 can mean Δ² times a logarithm.
type roughError struct {
	Power  float64
	Factor float64
}

func (e *roughError) Error() string {
	return fmt.Sprintf("squared distances grow as %.4g Δ^%.4g with the angle Δ instead of Δ²", e.Factor, e.Power)
}

// tolerance is the maximum relative error of derivatives. If |S| is below tolerance times the terms
// of S, S is set to 0.
const tolerance = 1e-5

// surfaceAt returns the geometry of k in d dimensions at document vectors of norm r > 0. The
// relative error is at most 10⁻⁷ for A and B, and 10⁻⁵ for w′² and the terms of S. The errors are
// 10 times smaller if r is at least ½. It returns an error if the kernel has no metric (a
// [roughError]) or a negative squared length. It also returns an error if finite differences don't
// reach this accuracy, as for arccos with a degree between ½ and 1.
func surfaceAt(k kernel.Kernel, r float64, d int) (*surfacePoint, error) {
	if v := k.Eval(0, r, r); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("geometry: kernel %s is %v at norm %v", k, v, r)
	}
	square := func(u float64) (float64, float64) {
		return limit(1, 1, func(h float64) float64 { return 2 * kernelDrop(k, h, math.Exp(u)) / (h * h) })
	}
	step := func(u float64) (float64, float64) {
		return limit(0.5, 1, func(h float64) float64 {
			far, near := math.Exp(u+h), math.Exp(u-h)
			return (k.Eval(0, far, far) - 2*k.Eval(0, far, near) + k.Eval(0, near, near)) / (4 * h * h)
		})
	}
	u := math.Log(r)
	t, err := square(u)
	if !(err <= 1e-7*math.Abs(t)) {
		const h = 0x1p-20
		power := math.Log2(kernelDrop(k, 2*h, 1) / kernelDrop(k, h, 1))
		if power < 1.999 {
			return nil, &roughError{power, 2 * kernelDrop(k, h, 1) / math.Pow(h, power)}
		}
		return nil, fmt.Errorf("geometry: the metric of kernel %s is %v across x with error %.1e, which exceeds a relative "+
			"error of 10⁻⁷", k, t, err)
	}
	g, err := step(u)
	if k.Eval(0, r, 2*r) == k.Eval(0, r, r) || math.Abs(g) <= 1e-7*t {
		g, err = 0, 0
	}
	across, along := t/(r*r), g/(r*r)
	if !(t > 0 && g >= 0) {
		return nil, fmt.Errorf("geometry: kernel %s is not positive definite: the squared lengths of unit steps at norm "+
			"%v are %v across and %v along x", k, r, across, along)
	}
	sides, aside := float64(d-1), float64(d-1)*float64(d-2)
	if g == 0 {
		return &surfacePoint{across, 0, math.Inf(-1), aside / t, 0}, nil
	}
	// With L = ln T and M = ln G as functions of u: w′² = T L′²/4G, w″/w = (2L″ + L′² - L′M′)/4G.
	log := func(v, _ float64) float64 { return math.Log(v) }
	slope := func(of func(float64) (float64, float64)) (float64, float64) {
		return limit(0.5, 2, func(h float64) float64 { return (log(of(u+h)) - log(of(u-h))) / (2 * h) })
	}
	first, e1 := slope(square)
	second, e2 := limit(0.5, 2, func(h float64) float64 {
		return (log(square(u+h)) - 2*math.Log(t) + log(square(u-h))) / (h * h)
	})
	change, e3 := slope(step)
	if e := max(err/g, e1, e2, e3); !(e <= tolerance) {
		return nil, fmt.Errorf("geometry: error of the derivatives of kernel %s at norm %v is %.1e, which exceeds %v",
			k, r, e, tolerance)
	}
	opening := t / g * first * first / 4
	curvature := aside*(1-opening)/t - sides*(2*second+first*first-first*change)/(2*g)
	if math.Abs(curvature) <= tolerance*float64(d*d)/t*max(1, opening) {
		curvature = 0
	}
	return &surfacePoint{across, along, (sides*math.Log(across) + math.Log(along)) / 2, curvature, opening}, nil
}

// kernelDrop returns k(0) - k(θ), half the squared distance, for documents of norm r at angle θ.
func kernelDrop(k kernel.Kernel, theta, r float64) float64 {
	half := math.Sin(theta / 2)
	return k.Eval(0, r, r) - k.Eval(2*half*half, r, r)
}

// limit returns g(0) and an error estimate, by Richardson extrapolation of g(h), g(h/2), … in
// powers of h^power. It selects the entry of the tableau that agrees best with its neighbours.
// Source: Ridders, Accurate computation of F′(x) and F′(x)F″(x), Adv. Eng. Software 4 (1982).
func limit(h, power float64, g func(h float64) float64) (value, err float64) {
	err = math.Inf(1)
	var before []float64
	for range 14 {
		row := []float64{g(h)}
		for j, old := range before {
			v := row[j] + (row[j]-old)/(math.Exp2(power*float64(j+1))-1)
			if e := max(math.Abs(v-row[j]), math.Abs(v-old)); e < err {
				value, err = v, e
			}
			row = append(row, v)
		}
		before, h = row, h/2
	}
	return value, err
}
