package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
)

// raiseLowerBound computes the dual objective at a point near the point of the last pass.
// o.lowerBound is the largest lower bound on F so far. A larger dual objective replaces
// o.lowerBound. The pass has stored the derivatives cᵢ = -sᵢyᵢpᵢ of the losses, where sᵢ is the
// weight of document i's loss and pᵢ = 1/(1 + e^(yᵢf(xᵢ))). raiseLowerBound takes half the time of
// a pass and overwrites the derivatives.
//
// For all p in [0, 1] and all margins m, log(1 + e^-m) ≥ H(p) - pm with the entropy H(p) = -p log p
// - (1-p) log(1-p). Summing over documents and minimising the right side over w,
//
//	F(w, b) ≥ D(p) - b Σᵢ sᵢyᵢpᵢ,  D(p) = Σᵢ sᵢH(pᵢ) - C/2 ‖Σᵢ sᵢyᵢpᵢxᵢ‖².
//
// So D(p) is a lower bound if there is no b or Σᵢ sᵢyᵢpᵢ = 0. A Newton step δ for b, pᵢ ∓
// δpᵢ(1-pᵢ), makes this sum 0, and keeps pᵢ in [0, 1] if |δ| ≤ 1. Otherwise o.lowerBound stays
// unchanged. o.lowerBound is at least D(0) = 0. At the optimum F = D. Without b the gap F - D is
// C/2 ‖∇F‖².
func (o *objective) raiseLowerBound(ctx context.Context) error {
	if !o.s.NoBias {
		off, bend := 0.0, 0.0
		for i, c := range o.Derivatives {
			p := math.Abs(c) / o.LossWeight(i)
			off, bend = off+c, bend+float64(o.LossWeight(i)*float64(p*(1-p)))
		}
		by := off / bend
		if !(math.Abs(by) <= 1) {
			return nil
		}
		for i, c := range o.Derivatives {
			p := math.Abs(c) / o.LossWeight(i)
			o.Derivatives[i] -= float64(by * float64(o.LossWeight(i)*float64(p*(1-p))))
		}
	}
	v := make([]float64, len(o.Terms))
	err := o.MultiplyTransposed(ctx, o.Workers, o.Derivatives, v)
	entropy := 0.0
	for i, c := range o.Derivatives {
		s := o.LossWeight(i)
		for _, p := range [2]float64{math.Abs(c) / s, 1 - math.Abs(c)/s} {
			if p > 0 {
				entropy -= float64(s * float64(p*math.Log(p)))
			}
		}
	}
	if d := entropy - o.s.C/2*lbfgs.Dot(v, v); err == nil && d > o.lowerBound {
		o.lowerBound = d
	}
	return err
}
