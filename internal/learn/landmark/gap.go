package landmark

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// boundGaps computes an upper bound on the duality gap of each column, without a pass over the
// documents. For the notation, see the package documentation. A column has converged if this bound
// is at most Tolerance times the objective P. For every a,
//
//	min P ≥ D(a) = -½‖Φᵀa‖² - C Σᵢ ℓ*(-aᵢ/C),  Φ = KₙₘT⁻¹,
//
// where ℓ* is the convex conjugate of ℓ with respect to f. If documents have weights sᵢ, Csᵢ
// replaces C inside the sums. If aᵢ = -Cℓ′(fᵢ), then P - D = ½‖g‖² for the gradient g with respect
// to u. The rows of Φ at landmarks are the rows of Tᵀ, so adding b to a at the landmarks gives
//
//	P - D(a + b) = ½‖g - Tb‖² + C Σⱼ (ℓ(fⱼ) + ℓ*(qⱼ) - qⱼfⱼ),  qⱼ = ℓ′(fⱼ) - bⱼ/C.
//
// The [preconditioner] gives b = Cℓ″Tᵀ(AᵀA)⁻¹g, scaled by the best factor if ℓ″ isn't constant. The
// bound is the minimum of P - D(a + b), ½‖g‖², and P. P itself is a bound because D(0) = 0.
func (t *training) boundGaps(
	ctx context.Context, columns []*column, gradients [][]float64, p *preconditioner,
) error {
	m := t.factor.N
	v, err := p.solve(ctx, columns, gradients)
	if err != nil {
		return err
	}
	for _, c := range columns {
		v = append(v, c.u)
	}
	both, err := t.factor.Multiply(ctx, t.config, slices.Concat(v...), true)
	if err != nil {
		return err
	}
	b, f := both[:len(both)/2], both[len(both)/2:]
	y, bend := make([]float64, len(b)), make([]float64, len(columns))
	for at := range b {
		c := columns[at/m]
		y[at] = t.sign(t.landmarks[at%m], c.class)
		_, _, second := t.s.Loss.eval(y[at], f[at])
		penalty := c.penalty * t.weight(t.landmarks[at%m])
		bend[at/m] += penalty * second * b[at] * b[at]
		b[at] *= penalty * second
	}
	tb, err := t.factor.Multiply(ctx, t.config, b, false)
	if err != nil {
		return err
	}
	losses := make([]float64, len(columns))
	for at := range b {
		c, own := columns[at/m], tb[at/m*m:][:m]
		_, first, _ := t.s.Loss.eval(y[at], f[at])
		by := floats.Dot(own, gradients[at/m]) / max(floats.Dot(own, own)+bend[at/m], math.SmallestNonzeroFloat64)
		penalty := c.penalty * t.weight(t.landmarks[at%m])
		slope, apart := t.s.Loss.fenchelYoung(y[at], f[at], first-by*b[at]/penalty)
		losses[at/m] += penalty * apart
		b[at] = penalty * (first - slope)
	}
	if tb, err = t.factor.Multiply(ctx, t.config, b, false); err != nil {
		return err
	}
	for i, c := range columns {
		g, own := gradients[i], tb[i*m:][:m]
		c.gap = min(floats.Dot(g, g)/2, c.objective)
		floats.Sub(own, g)
		if gap := floats.Dot(own, own)/2 + losses[i]; gap < c.gap {
			c.gap = gap
		}
		c.converged = c.gap <= t.s.Tolerance*c.objective
	}
	return nil
}

// fenchelYoung returns the slope nearest to q for which ℓ* is finite, and apart = ℓ(f) + ℓ*(slope)
// - slope·f. apart is 0 if the slope equals ℓ′(f).
func (l Loss) fenchelYoung(y, f, q float64) (slope, apart float64) {
	p, margin := -y*q, y*f
	switch l {
	case Logistic: // KL divergence of p and 1/(1 + e^margin)
		p = min(max(p, 0), 1)
		for _, v := range [][2]float64{{p, margin}, {1 - p, -margin}} {
			if v[0] > 0 { // log(1 + e^m) without overflow
				apart += v[0] * (math.Log(v[0]) + max(v[1], 0) + math.Log1p(math.Exp(-math.Abs(v[1]))))
			}
		}
		return -y * p, max(apart, 0)
	case SquaredHinge:
		p = max(p, 0)
		d := p - max(1-margin, 0)
		return -y * p, d*d/2 + p*max(margin-1, 0)
	}
	d := p - (1 - margin)
	return q, d * d / 2
}
