package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
)

// bound raises dual, which the minimum of F is never below, to the value of a dual
// point near the coefficients cᵢ = -sᵢyᵢpᵢ of the last pass, pᵢ = 1/(1 + e^(yᵢf(xᵢ))), with the weights sᵢ
// of the losses. It costs half a pass, and overwrites the coefficients.
//
// For every p from 0 to 1 and every margin m, log(1 + e^-m) ≥ H(p) - pm with the entropy
// H(p) = -p log p - (1-p) log(1-p). Summed over documents, at the w for which the right side is least:
//
//	F(w, b) ≥ D(p) - b Σᵢ sᵢyᵢpᵢ,  D(p) = Σᵢ sᵢH(pᵢ) - C/2 ‖Σᵢ sᵢyᵢpᵢxᵢ‖².
//
// So D(p) bounds F for all w, without b or where Σᵢ sᵢyᵢpᵢ = 0. Newton's step for b, pᵢ ∓ δpᵢ(1-pᵢ), gets
// there, and stays between 0 and 1 for |δ| ≤ 1; beyond, the dual stays as it is, at least D(0) = 0.
// At the optimum F = D. Without b the gap F - D is C/2 ‖∇F‖².
func (o *objective) bound(ctx context.Context) error {
	if !o.s.NoBias {
		off, bend := 0.0, 0.0
		for i, c := range o.coef {
			p := math.Abs(c) / o.price(i)
			off, bend = off+c, bend+float64(o.price(i)*float64(p*(1-p)))
		}
		by := off / bend
		if !(math.Abs(by) <= 1) {
			return nil
		}
		for i, c := range o.coef {
			p := math.Abs(c) / o.price(i)
			o.coef[i] -= float64(by * float64(o.price(i)*float64(p*(1-p))))
		}
	}
	v := make([]float64, len(o.Terms))
	err := o.Gather(ctx, o.workers, o.coef, v)
	entropy := 0.0
	for i, c := range o.coef {
		s := o.price(i)
		for _, p := range [2]float64{math.Abs(c) / s, 1 - math.Abs(c)/s} {
			if p > 0 {
				entropy -= float64(s * float64(p*math.Log(p)))
			}
		}
	}
	if d := entropy - o.s.C/2*lbfgs.Product(v, v); err == nil && d > o.dual {
		o.dual = d
	}
	return err
}
