package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
)

// ascend searches as the paper does: by steps along the gradient of û and θ, û scaled to length 1
// after each. The paper leaves the length of the step open; here it grows by a tenth after a step
// that gains, and is halved until one does. It is the reference of lbfgs.Minimise, which is never worse; it
// may end at a kink, where a document lies on the hyperplane.
//
// Source: Lebanon and Lafferty (2004), §5.
func ascend(ctx context.Context, f lbfgs.Function, w []float64, stop lbfgs.Stopping) (lbfgs.Minimum, error) {
	n := len(w)
	m := lbfgs.Minimum{W: w}
	g, next, gNext := make([]float64, n), make([]float64, n), make([]float64, n)
	u := make([]float64, n)
	var err error
	if m.Value, err = f(ctx, w, g); err != nil {
		return m, err
	}
	m.Evaluations++
	step, grow := 1.0, 1.1
	for {
		if m.Gradient = math.Sqrt(lbfgs.Product(g, g)); stop.At(&m) {
			return m, nil
		}
		// With w = θû, the gradient by û is θ times the part of g that is tangent to the sphere.
		theta := math.Sqrt(lbfgs.Product(w, w))
		for j := range u {
			u[j] = w[j] / theta
		}
		radial := lbfgs.Product(g, u)
		ok := false
		for range lbfgs.Halving {
			longer := 0.0
			for j := range next {
				next[j] = u[j] - step*theta*(g[j]-radial*u[j])
				longer += float64(next[j] * next[j])
			}
			by := (theta - step*radial) / math.Sqrt(longer)
			lbfgs.Scale(next, by)
			value, err := f(ctx, next, gNext)
			if err != nil {
				return m, err
			}
			m.Evaluations++
			if value < m.Value { // below 0, θ becomes -θ and û becomes -û, which is the same
				ok, m.Value = true, value
				break
			}
			step /= 2
		}
		if !ok {
			m.Converged = true // no value is lower, up to rounding
			return m, nil
		}
		step *= grow
		m.Iterations++
		copy(w, next)
		g, gNext = gNext, g
	}
}
