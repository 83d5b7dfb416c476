package lbfgs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// rosenbrock has its minimum 0 at (1, 1), in a curved valley.
func rosenbrock(_ context.Context, w, g []float64) (float64, error) {
	a, b := 1-w[0], w[1]-w[0]*w[0]
	g[0], g[1] = -2*a-400*b*w[0], 200*b
	return a*a + 100*b*b, nil
}

// ellipsoid returns Σ c_j (w_j - j)²/2 - 1.
func ellipsoid(c ...float64) Function {
	return func(_ context.Context, w, g []float64) (float64, error) {
		sum := -1.0
		for j, v := range w {
			d := v - float64(j)
			g[j] = c[j] * d
			sum += c[j] * d * d / 2
		}
		return sum, nil
	}
}

// Minimise reaches the gradient tolerance in about as many evaluations as SciPy's L-BFGS-B with the
// same memory (46 for rosenbrock, 156 for ellipsoid).
func TestMinimise(t *testing.T) {
	for name, c := range map[string]struct {
		f           Function
		from, want  []float64
		least       float64
		evaluations int
	}{
		"rosenbrock": {rosenbrock, []float64{-1.2, 1}, []float64{1, 1}, 0, 60},
		"sphere":     {ellipsoid(2, 2, 2), []float64{5, 5, 5}, []float64{0, 1, 2}, -1, 12},
		"ellipsoid": {ellipsoid(1, 10, 100, 1000, 1e4, 3, 30, 300, 3000), make([]float64, 9),
			[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, -1, 200},
	} {
		told := 0
		m, err := Minimise(t.Context(), c.f, c.from, Criteria{
			GradientThreshold: 1e-7, MaxIterations: 1000, OnStep: func() { told++ },
		})
		if err != nil || !m.Converged || !(m.GradientNorm <= 1e-7) || told != m.Iterations+1 {
			t.Errorf("%s: %+v, told %d times, %v", name, m, told, err)
		}
		for j, w := range c.want { // error of the gradient divided by the smallest second derivative
			if !(math.Abs(m.W[j]-w) <= 1e-6) {
				t.Errorf("%s: ends at %v, expected %v", name, m.W, c.want)
				break
			}
		}
		if !(math.Abs(m.Value-c.least) <= 1e-12) || m.Evaluations > c.evaluations || m.Evaluations <= m.Iterations {
			t.Errorf("%s: value %v after %d evaluations, %d steps", name, m.Value, m.Evaluations, m.Iterations)
		}
	}
}

// Minimise stops after MaxIterations, if the value no longer decreases, at a kink, and on an error.
func TestEnds(t *testing.T) {
	for _, steps := range []int{0, 1, 7} {
		m, err := Minimise(t.Context(), rosenbrock, []float64{-1.2, 1},
			Criteria{GradientThreshold: 1e-9, MaxIterations: steps})
		if err != nil || m.Iterations != steps || m.Converged {
			t.Errorf("%+v, %v, expected %d steps", m, err, steps)
		}
	}
	whole := musttest.Get(Minimise(t.Context(), rosenbrock, []float64{-1.2, 1}, Criteria{MaxIterations: 1000}))(t)
	plus := func(ctx context.Context, w, g []float64) (float64, error) {
		v, err := rosenbrock(ctx, w, g)
		return v + 1e6, err
	}
	m, err := Minimise(t.Context(), plus, []float64{-1.2, 1}, Criteria{MinDecrease: 1e-4, MaxIterations: 1000})
	if err != nil || !m.Converged || m.Iterations != lookBack || m.Iterations >= whole.Iterations {
		t.Errorf("%+v, %v, expected %d steps that gain little", m, err, lookBack)
	}
	kink := func(_ context.Context, w, g []float64) (float64, error) {
		g[0], g[1] = math.Copysign(1, w[0]), w[1]
		return math.Abs(w[0]) + w[1]*w[1]/2, nil
	}
	m, err = Minimise(t.Context(), kink, []float64{0.3, 1}, Criteria{MaxIterations: 1000})
	if err != nil || !m.Converged || !(m.Value <= 1e-3) || m.Evaluations > 10*MaxStepLengths {
		t.Errorf("at a kink: %+v, %v", m, err)
	}
	failed := errors.New("no")
	for after := range 3 {
		calls := 0
		musttest.WantError(Minimise(t.Context(), func(ctx context.Context, w, g []float64) (float64, error) {
			if calls++; calls > after {
				return 0, failed
			}
			return rosenbrock(ctx, w, g)
		}, []float64{-1.2, 1}, Criteria{MaxIterations: 9}))(t, fmt.Sprintf("after %d calls", after), failed)
	}
	nan := func(_ context.Context, _, g []float64) (float64, error) { g[0] = math.NaN(); return 1, nil }
	if m, err := Minimise(t.Context(), nan, []float64{1}, Criteria{MaxIterations: 9}); err != nil || m.Evaluations != 1 {
		t.Errorf("a gradient of NaN: %+v, %v", m, err)
	}
}

func TestLoops(t *testing.T) {
	for n := range 12 {
		a, b, want := make([]float64, n), make([]float64, n), 0.0
		for k := range a {
			a[k], b[k] = float64(k+1), float64(2*k-3)
			want += a[k] * b[k]
		}
		if got := Dot(a, b); got != want { // exact, because values are integers
			t.Errorf("product of %d: %v, expected %v", n, got, want)
		}
		AddScaled(a, 3, b)
		Scale(a, 2)
		for k, v := range a {
			if w := 2 * (float64(k+1) + 3*float64(2*k-3)); v != w {
				t.Errorf("sum %d of %d: %v, expected %v", k, n, v, w)
			}
		}
	}
}
