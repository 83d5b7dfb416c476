package logistic

import (
	"context"
	"math"
)

// ascend searches as the paper does: by steps along the gradient of û and θ, û scaled to length 1
// behind each. The paper leaves the length of the step open; here it grows by a tenth after a step
// that gains, and is halved until one does. It is the reference of minimise, which is never worse; it
// may end at a kink, where a document lies on the hyperplane.
//
// Source: Lebanon and Lafferty (2004), §5.
func ascend(ctx context.Context, f function, w []float64, stop stopping) (minimum, error) {
	n := len(w)
	m := minimum{w: w}
	g, next, gNext := make([]float64, n), make([]float64, n), make([]float64, n)
	u := make([]float64, n)
	var err error
	if m.value, err = f(ctx, w, g); err != nil {
		return m, err
	}
	m.evaluations++
	step, grow := 1.0, 1.1
	for {
		if m.gradient = math.Sqrt(product(g, g)); stop.at(&m) {
			return m, nil
		}
		// With w = θû, the gradient by û is θ times the part of g that is tangent to the sphere.
		theta := math.Sqrt(product(w, w))
		for j := range u {
			u[j] = w[j] / theta
		}
		radial := product(g, u)
		ok := false
		for range halving {
			longer := 0.0
			for j := range next {
				next[j] = u[j] - step*theta*(g[j]-radial*u[j])
				longer += float64(next[j] * next[j])
			}
			by := (theta - step*radial) / math.Sqrt(longer)
			scale(next, by)
			value, err := f(ctx, next, gNext)
			if err != nil {
				return m, err
			}
			m.evaluations++
			if value < m.value { // below 0, θ becomes -θ and û becomes -û, which is the same
				ok, m.value = true, value
				break
			}
			step /= 2
		}
		if !ok {
			m.converged = true // no value is lower, up to rounding
			return m, nil
		}
		step *= grow
		m.iterations++
		copy(w, next)
		g, gNext = gNext, g
	}
}
