package solver

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// interiorPoint solves min ½xᵀQx + pᵀx subject to yᵀx = 0, 0 <= x <= u by a primal-dual
// interior-point method in float64, which shares nothing with the solver, and returns the least
// value, known to a duality gap of 10^-9.
func interiorPoint(t *testing.T, q *mat.SymDense, p, y, u []float64) float64 {
	t.Helper()
	n := len(p)
	x, z, w, lambda := make([]float64, n), make([]float64, n), make([]float64, n), 0.0
	for i := range x {
		x[i], z[i], w[i] = u[i]/2, 1, 1
	}
	qx := mat.NewVecDense(n, nil)
	for range 200 {
		qx.MulVec(q, mat.NewVecDense(n, x))
		var gap, equation, dual float64
		for i := range x {
			gap += x[i]*z[i] + (u[i]-x[i])*w[i]
			equation += y[i] * x[i]
			dual = math.Max(dual, math.Abs(qx.AtVec(i)+p[i]+lambda*y[i]-z[i]+w[i]))
		}
		if gap < 1e-9 && math.Abs(equation) < 1e-10 && dual < 1e-10 {
			var f float64
			for i := range x {
				f += x[i] * (qx.AtVec(i)/2 + p[i])
			}
			return f
		}
		mu := 0.1 * gap / float64(2*n)
		m, r := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		m.CopySym(q)
		for i := range x {
			m.SetSym(i, i, m.At(i, i)+z[i]/x[i]+w[i]/(u[i]-x[i]))
			r.SetVec(i, -(qx.AtVec(i) + p[i] + lambda*y[i] - mu/x[i] + mu/(u[i]-x[i])))
		}
		var c mat.Cholesky
		if !c.Factorize(m) {
			t.Fatal("the matrix of the interior-point method isn't positive definite")
		}
		var a, b mat.VecDense
		musttest.Do(t, c.SolveVecTo(&a, r))
		yv := mat.NewVecDense(n, y)
		musttest.Do(t, c.SolveVecTo(&b, yv))
		dl := (equation + mat.Dot(yv, &a)) / mat.Dot(yv, &b)
		step := 1.0
		dx, dz, dw := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			dx[i] = a.AtVec(i) - dl*b.AtVec(i)
			dz[i] = (mu-z[i]*dx[i])/x[i] - z[i]
			dw[i] = (mu+w[i]*dx[i])/(u[i]-x[i]) - w[i]
			for _, v := range [][2]float64{{x[i], dx[i]}, {u[i] - x[i], -dx[i]}, {z[i], dz[i]}, {w[i], dw[i]}} {
				if v[1] < 0 {
					step = math.Min(step, -0.99*v[0]/v[1])
				}
			}
		}
		for i := range x {
			x[i] += step * dx[i]
			z[i] += step * dz[i]
			w[i] += step * dw[i]
		}
		lambda += step * dl
	}
	t.Fatal("the interior-point method doesn't end")
	return 0
}

// The objective is within the tolerance times Σα of the least value, by weak duality: a violation
// of ε means that the multiplier can be chosen such that no score is wrong by more than ε.
func TestObjectiveAgainstInteriorPoint(t *testing.T) {
	for seed := range uint64(6) {
		for _, c := range []float64{0.01, 1, 100} {
			t.Run(fmt.Sprintf("seed=%d/C=%v", seed, c), func(t *testing.T) {
				const n = 70
				m, x := gaussian(t, 10+seed, n, 3, 0.5)
				positive := noisySigns(seed, x)
				q, p, y, u := mat.NewSymDense(n, nil), make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range n {
					p[i], y[i], u[i] = -1, -1, 3*c
					if positive[i] {
						y[i], u[i] = 1, c
					}
				}
				for i := range n {
					for j := range i + 1 {
						q.SetSym(i, j, y[i]*y[j]*float64(m.Row(i)[j]))
					}
				}
				want := interiorPoint(t, q, p, y, u)
				for _, opt := range []Options{{}, {Tolerance: 1e-7}, {workingSet: 4}, {workingSet: 10, KeepAll: true}} {
					par := Parameters{Regularization: Regularization{C: c}, Weights: []float64{1, 3}}
					got := musttest.Get(trainBinary(context.Background(), m, run.Numbers(0, n), positive, par, opt))(t)
					sum := sizeOf(got)
					tol := max(opt.Tolerance, map[bool]float64{true: defaultTolerance}[opt.Tolerance == 0])
					if !(got.Objective >= want-1e-9 && got.Objective <= want+tol*(sum+1e-9)+1e-9) {
						t.Errorf("%+v: objective %.12g, expected %.12g and at most %v more", opt, got.Objective, want,
							tol*sum)
					}
				}
			})
		}
	}
}
