// Package lbfgs minimises functions of many variables by L-BFGS, and contains vector operations.
package lbfgs

import (
	"context"
	"math"
)

// Function returns the value of a function at w, and sets g to the gradient at w.
type Function func(ctx context.Context, w, g []float64) (float64, error)

// Minimum is the result of a minimisation.
type Minimum struct {
	W            []float64
	Value        float64
	GradientNorm float64
	Iterations   int
	Evaluations  int
	Converged    bool // true if a threshold of Criteria was reached, or if no step decreases the value
}

// Criteria holds the stopping criteria of a minimisation.
type Criteria struct {
	GradientThreshold float64 // gradient norm at which the minimisation stops
	MinDecrease       float64 // minimum relative decrease of the value in lookBack steps
	MaxIterations     int
	OnStep            func() // called before each step; may be nil

	// MayStop, if not nil, must return true before GradientThreshold or MinDecrease stops the
	// minimisation.
	MayStop func(*Minimum) bool

	history [lookBack]float64 // circular buffer of values before the last lookBack steps
	n       int
}

// lookBack is the number of steps over which the decrease is compared with MinDecrease. MinDecrease
// is for functions with kinks, whose gradient norm may stay large near the minimum.
const lookBack = 10

// ShouldStop calls OnStep and sets m.Converged. It reports whether the minimisation must stop.
func (s *Criteria) ShouldStop(m *Minimum) bool {
	if s.OnStep != nil {
		s.OnStep()
	}
	before := s.history[s.n%lookBack]
	s.history[s.n%lookBack] = m.Value
	s.n++
	m.Converged = (m.GradientNorm <= s.GradientThreshold || s.n > lookBack &&
		before-m.Value <= s.MinDecrease*math.Abs(m.Value)) &&
		(s.MayStop == nil || s.MayStop(m))
	return m.Converged || m.Iterations >= s.MaxIterations || math.IsNaN(m.GradientNorm)
}

// HistorySize is the number of previous steps from which a direction is computed.
const HistorySize = 7

const (
	armijoFraction = 1e-4
	MaxStepLengths = 30 // maximum number of step lengths per line search

	// maxRestarts is the maximum number of restarts after a failed line search. A line search may
	// fail because f isn't continuous, like the margins in package sphere.
	maxRestarts = 3
)

// Minimise minimises f by L-BFGS, starting from w, which it overwrites. Until the value decreases
// enough (Armijo condition), the line search shortens the step to the minimum of a parabola,
// limited to between 0.1 and 0.5 times the previous length. Steps with too little curvature aren't
// stored, so that every direction is a descent direction, even if f isn't convex.
//
// Source: Nocedal and Wright, Numerical Optimization, 2006, algorithms 7.4 and 7.5.
func Minimise(ctx context.Context, f Function, w []float64, stop Criteria) (Minimum, error) {
	n := len(w)
	m := Minimum{W: w}
	g, d := make([]float64, n), make([]float64, n)
	next, gNext := make([]float64, n), make([]float64, n)
	var s, y [][]float64 // steps and gradient differences, oldest first
	var rho []float64
	var err error
	if m.Value, err = f(ctx, w, g); err != nil {
		return m, err
	}
	m.Evaluations++
	alpha, failed := make([]float64, HistorySize), 0
	for {
		if m.GradientNorm = math.Sqrt(Dot(g, g)); stop.ShouldStop(&m) {
			return m, nil
		}
		copy(d, g)
		for i := len(s) - 1; i >= 0; i-- {
			alpha[i] = rho[i] * Dot(s[i], d)
			AddScaled(d, -alpha[i], y[i])
		}
		if k := len(s) - 1; k >= 0 {
			Scale(d, 1/(rho[k]*Dot(y[k], y[k])))
		} else {
			Scale(d, 1/m.GradientNorm)
		}
		for i := range s {
			beta := rho[i] * Dot(y[i], d)
			AddScaled(d, alpha[i]-beta, s[i])
		}
		slope := -Dot(g, d)
		if !(slope < 0) {
			s, y, rho = nil, nil, nil // restart, because d isn't a descent direction after rounding errors
			copy(d, g)
			Scale(d, 1/m.GradientNorm)
			slope = -m.GradientNorm
		}
		t, ok := 1.0, false
		var value float64
		for range MaxStepLengths {
			for j := range next {
				next[j] = w[j] - t*d[j]
			}
			if value, err = f(ctx, next, gNext); err != nil {
				return m, err
			}
			m.Evaluations++
			if value <= m.Value+armijoFraction*t*slope {
				ok = true
				break
			}
			shorter := -slope * t * t / (2 * (value - m.Value - t*slope)) // minimum of the parabola
			if !(shorter >= 0.1*t) {
				shorter = 0.1 * t
			}
			t = min(shorter, 0.5*t)
		}
		if !ok {
			if s == nil || failed == maxRestarts {
				m.Converged = true // no step decreases the value, because of rounding or a kink
				return m, nil
			}
			failed++
			s, y, rho, stop.n = nil, nil, nil, 0
			continue
		}
		m.Iterations++
		var step, change []float64
		if len(s) == HistorySize {
			step, change = s[0], y[0]
			copy(s, s[1:])
			copy(y, y[1:])
			copy(rho, rho[1:])
			s, y, rho = s[:HistorySize-1], y[:HistorySize-1], rho[:HistorySize-1]
		} else {
			step, change = make([]float64, n), make([]float64, n)
		}
		for j := range step {
			step[j], change[j] = next[j]-w[j], gNext[j]-g[j]
		}
		if sy, yy := Dot(step, change), Dot(change, change); sy > 1e-12*yy*math.Sqrt(Dot(step, step)/yy) {
			s, y, rho = append(s, step), append(y, change), append(rho, 1/sy)
		}
		copy(w, next)
		g, gNext = gNext, g
		m.Value = value
	}
}

func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var p, q, r, s float64
	k := 0
	for ; k+4 <= len(a); k += 4 {
		p += float64(a[k] * b[k])
		q += float64(a[k+1] * b[k+1])
		r += float64(a[k+2] * b[k+2])
		s += float64(a[k+3] * b[k+3])
	}
	for ; k < len(a); k++ {
		p += float64(a[k] * b[k])
	}
	return (p + q) + (r + s)
}

func AddScaled(a []float64, f float64, b []float64) {
	b = b[:len(a)]
	for k := range a {
		a[k] += float64(f * b[k])
	}
}

func Scale(a []float64, f float64) {
	for k := range a {
		a[k] *= f
	}
}
