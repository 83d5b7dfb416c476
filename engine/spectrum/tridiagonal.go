package spectrum

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// extremes solves the tridiagonal problem; worst is the greatest residual of the values that are
// wanted, relative to the largest absolute value.
func (l *lanczos) extremes(k int, tolerance float64) (e *Extremes, worst float64, err error) {
	m := len(l.alpha)
	d := append([]float64(nil), l.alpha...)
	if !(lapackgonum.Implementation{}).Dsterf(m, d, append([]float64(nil), l.beta[:m-1]...)) {
		return nil, 0, errors.New("spectrum: the iteration for the eigenvalues doesn't converge")
	}
	largest := max(math.Abs(d[0]), math.Abs(d[m-1]))
	t := newTridiagonal(l.alpha, l.beta[:m-1], largest)
	of := func(i int) Value {
		off, last := t.near(d[i])
		residual := math.Hypot(off, l.beta[m-1]*last) + l.dropped + float64(l.n)*0x1p-53*largest
		relative := 0.0
		if largest > 0 {
			relative = residual / largest
		}
		worst = max(worst, relative)
		return Value{d[i], residual, relative <= tolerance}
	}
	e = &Extremes{Steps: m}
	for i := range min(k, m) {
		e.Largest = append(e.Largest, of(m-1-i))
		e.Smallest = append(e.Smallest, of(i))
	}
	return e, worst, nil
}

// tridiagonal finds eigenvectors of a symmetric tridiagonal matrix.
type tridiagonal struct {
	diagonal, off []float64
	norm          float64
	start         []float64

	v, before, d, lower, upper []float64
}

func newTridiagonal(diagonal, off []float64, norm float64) *tridiagonal {
	m := len(diagonal)
	t := &tridiagonal{
		diagonal: diagonal, off: off, norm: norm,
		start: make([]float64, m), v: make([]float64, m), before: make([]float64, m), d: make([]float64, m),
		lower: make([]float64, m-1), upper: make([]float64, m-1),
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range t.start {
		// has a part in every eigenvector but by a rare chance, which the residual would show
		t.start[i] = 1 + r.Float64()
	}
	return t
}

// near returns the residual ‖T v - θ v‖ and the absolute last component of a unit vector v that
// inverse iteration makes of the start vector for an eigenvalue θ. Source: Golub and Van Loan,
// Matrix Computations, 4th ed., §8.2.2.
func (t *tridiagonal) near(theta float64) (residual, last float64) {
	m := len(t.diagonal)
	if t.norm == 0 {
		return 0, 1 // any unit vector would do; the last one has the greatest component
	}
	copy(t.v, t.start)
	shift := theta
	for range 3 {
		for attempt := 1.0; ; attempt *= 2 {
			copy(t.lower, t.off)
			copy(t.upper, t.off)
			for i, a := range t.diagonal {
				t.d[i] = a - shift
			}
			copy(t.before, t.v)
			if (lapackgonum.Implementation{}).Dgtsv(m, 1, t.lower, t.d, t.upper, t.v, 1) &&
				floats.Norm(t.v, 2) <= math.MaxFloat64 {
				break
			}
			copy(t.v, t.before)
			shift = theta + attempt*0x1p-52*t.norm // exactly singular: a shift next to it is as good
		}
		floats.Scale(1/floats.Norm(t.v, 2), t.v)
	}
	sum := 0.0
	for i, v := range t.v {
		r := (t.diagonal[i] - theta) * v
		if i > 0 {
			r += t.off[i-1] * t.v[i-1]
		}
		if i < m-1 {
			r += t.off[i] * t.v[i+1]
		}
		sum += r * r
	}
	return math.Sqrt(sum), math.Abs(t.v[m-1])
}
