package geometry

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
)

// Point is the geometry of a kernel's surface where documents have one norm.
type Point struct {
	Tangential float64 // A, the squared length of a unit step across x
	Radial     float64 // B, that of a unit step along x; 0 for kernels that don't look at norms
	LogVolume  float64 // ln √det g; -Inf where Radial is 0
	Curvature  float64 // the scalar curvature S; where Radial is 0, of the surface of d-1 dimensions
	// w′², by which the surface is wider around the origin than a flat one: on a cone it is the same
	// everywhere, and 1 on a flat surface. 0 where Radial is 0.
	Opening float64
}

// At returns the geometry of a kernel's surface in d dimensions at documents of a norm above 0, as
// the package comment has it. It may be called concurrently.
//
// Accuracy: that of kernel.RayOf, some 10⁻¹² relative; a curvature below the rounding of its terms,
// d² 2⁻⁴⁶/T, is 0.
//
// Errors: those of kernel.RayOf, kernel.RoughError among them; a d below 1; a kernel that isn't
// positive definite, so that the square of a length isn't above 0.
func At(k kernel.Kernel, norm float64, d int) (Point, error) {
	if d < 1 {
		return Point{}, fmt.Errorf("geometry: %d dimensions, expected 1 or more", d)
	}
	ray, err := kernel.RayOf(k, norm)
	if err != nil {
		return Point{}, err
	}
	t, b := ray.T, ray.B
	p := Point{Tangential: t[0] / norm / norm, Radial: b[0], LogVolume: math.Inf(-1)}
	if !(p.Tangential > 0) || !(b[0] >= 0) || math.IsInf(t[0]+b[0], 1) {
		return Point{}, fmt.Errorf("geometry: kernel %s at norm %v: squared lengths of unit steps are %v across and %v "+
			"along x, expected numbers above 0", k, norm, p.Tangential, p.Radial)
	}
	across, aside := float64(d-1), float64(d-1)*float64(d-2)
	p.Curvature = aside / t[0]
	if b[0] == 0 {
		return p, nil
	}
	p.LogVolume = (across*math.Log(p.Tangential) + math.Log(p.Radial)) / 2
	both := t[0] * b[0]
	p.Opening = t[1] * t[1] / 4 / both
	// w″/w by ρ, of w = √T and d/dρ = B^(-½) d/dr
	bend := (t[2]/2 - t[1]*(t[1]/t[0]+b[1]/b[0])/4) / both
	p.Curvature = aside*(1-p.Opening)/t[0] - 2*across*bend
	if math.Abs(p.Curvature) <= 0x1p-46*float64(d)*float64(d)/t[0]*max(1, p.Opening) {
		p.Curvature = 0
	}
	return p, nil
}

// Metric returns the d×d metric g at a point x, row by row. Errors: those of [At].
func Metric(k kernel.Kernel, x []float64) ([]float64, error) {
	norm := 0.0
	for _, v := range x {
		norm = math.Hypot(norm, v)
	}
	d := len(x)
	p, err := At(k, norm, d)
	if err != nil {
		return nil, err
	}
	g := make([]float64, d*d)
	for i := range d {
		for j := range d {
			g[i*d+j] = (p.Radial - p.Tangential) * (x[i] / norm) * (x[j] / norm)
		}
		g[i*d+i] += p.Tangential
	}
	return g, nil
}

// Formulas are the metric and the scalar curvature of a family of kernels in d dimensions.
type Formulas struct {
	Kernel    string `json:"kernel"`
	Metric    string `json:"metric"`
	Curvature string `json:"curvature"`
	Printed   string `json:"printed,omitempty"` // what the source has for the curvature, where it is wrong
}

// Table returns Table 6.1 of Cho's thesis, and below it what else ch. 6 finds. The source's curvature
// of arc-cosine kernels is three times too large: their surface is the cone
//
//	ds² = dR² + n²/(2n-1) R² dΩ²,   R² = (2n-1)!! ‖x‖²ⁿ
//
// and a cone of opening κ has the curvature (d-1)(d-2)(1-κ)/(κR²).
func Table() []Formulas {
	return []Formulas{
		{Kernel: "⟨x,y⟩", Metric: "δ", Curvature: "0"},
		{
			Kernel: "⟨x,y⟩^p", Metric: "p‖x‖^(2p-2) (δ + (p-1)xxᵀ/‖x‖²)",
			Curvature: "(p-1)(2-d)(d-1) / (p‖x‖^2p)",
		},
		{Kernel: "exp(-‖x-y‖²/σ²)", Metric: "(2/σ²) δ", Curvature: "0"},
		{
			Kernel: "arccos, n >= 1", Metric: "n²(2n-3)!!‖x‖^(2n-2) (δ + 2(n-1)xxᵀ/‖x‖²)",
			Curvature: "(n-1)²(2-d)(d-1) / (n²(2n-1)!!‖x‖^2n)",
			Printed:   "3(n-1)²(2-d)(d-1) / (n²(2n-1)!!‖x‖^2n)",
		},
		{Kernel: "arccos, n = 1", Metric: "δ", Curvature: "0"},
		{Kernel: "arccos, n = 0", Metric: "none: ds² = 2‖dx⊥‖/(π‖x‖)", Curvature: "none"},
		{
			Kernel: "arccos, n = 0, σ", Metric: "(δ - 2xxᵀ/q) / (πσ√q), q = 2‖x‖² + σ²",
			Curvature: "no short formula",
		},
	}
}
