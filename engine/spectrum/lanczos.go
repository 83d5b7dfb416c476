package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/internal/run"
)

// Operator is a symmetric matrix by its products.
type Operator interface {
	// Len returns the number of rows.
	Len() int
	// Apply writes A·src to dst; both have Len values and are different slices. It returns within a
	// second of the end of ctx.
	Apply(ctx context.Context, dst, src []float64) error
}

// Options says what Lanczos is to find. The zero value works.
type Options struct {
	K     int // so many of the largest and of the smallest eigenvalues; default 6
	Steps int // at most so many products; default DefaultSteps
	// Tolerance is the residual, relative to the largest absolute eigenvalue, that counts as
	// converged; default 2⁻²⁴, a float32's rounding.
	Tolerance float64

	Seed    uint64 // of the start vector
	Workers int    // goroutines that orthogonalise; default all processors. Results don't depend on it

	// Progress, if not nil, is called now and then with the greatest relative residual of those
	// that are wanted.
	Progress func(step, steps int, worst float64)
}

func (o *Options) validate() error {
	switch {
	case o.K < 0:
		return fmt.Errorf("spectrum: K is %d, expected 0 at least", o.K)
	case o.Workers < 0:
		return fmt.Errorf("spectrum: Workers is %d, expected 0 at least", o.Workers)
	case o.Steps < 0:
		return fmt.Errorf("spectrum: Steps is %d, expected 0 at least", o.Steps)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("spectrum: Tolerance is %v, expected 0 at least", o.Tolerance)
	}
	return nil
}

// DefaultSteps is how many products Lanczos takes at most where Options name no number.
const DefaultSteps = 600

// Value is an eigenvalue as Lanczos knows it: the matrix has an eigenvalue within Residual of
// Value. Residual counts in what rounding does to the products of n values each, n·2⁻⁵³ of the
// largest absolute eigenvalue, and what was left of directions that counted as exhausted.
type Value struct {
	Value, Residual float64
	Converged       bool
}

// Extremes is what Lanczos finds.
type Extremes struct {
	Largest  []Value // the largest first
	Smallest []Value // the smallest first
	Steps    int     // products that it took
}

// LanczosBytes returns the memory that Lanczos takes for n rows and so many steps: its basis and
// some vectors of the tridiagonal matrix. Numbers below 0 count as 0, and a result beyond int64 is
// the greatest one.
func LanczosBytes(n, steps int) int64 {
	n = max(n, 0)
	steps = min(max(steps, 0), n)
	if 8*(float64(steps)+3)*float64(n)+96*float64(steps) >= math.MaxInt64 {
		return math.MaxInt64
	}
	return 8 * (int64(steps+3)*int64(n) + 12*int64(steps))
}

// Lanczos returns the extreme eigenvalues of a by the method of Lanczos with full
// reorthogonalisation, twice a step: after m products the eigenvalues θ of a tridiagonal m×m matrix
// stand for those of a, each with the residual
//
//	‖A y - θ y‖ = β_m |s_m|
//
// of its vector y, where s_m is the last component of the tridiagonal matrix's eigenvector. That
// has one by inverse iteration, whose own residual is added, so that solving for a few values takes
// m² operations and not m³. It ends when the residuals of all values that are wanted are within the
// tolerance, or after Steps products; Converged says which are. A largest value is never above the
// largest eigenvalue and a smallest never below the smallest. An eigenvalue of multiplicity m, or a
// tight cluster, may come as fewer than m values.
//
// The same seed gives the same bits as long as Apply does, from any number of Workers. Memory:
// LanczosBytes. Errors: what Apply returns, the end of ctx, products that aren't finite, numbers of
// Options below 0. No shift of the matrix, polynomial filter or restart finds more with as many
// products: after m of them the values are the best that any polynomial of degree m-1 makes of the
// start vector, and the spaces of a and a - σI are the same. What is slow is a dense low end: a gap
// g there beside a spread w of what isn't isolated takes some √(w/g) products for each factor of
// e⁴.
//
// Source: Golub and Van Loan, Matrix Computations, 4th ed., §10.1 and §10.3.
func Lanczos(ctx context.Context, a Operator, opt Options) (*Extremes, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if a == nil {
		return nil, errors.New("spectrum: no operator, expected one")
	}
	if err := opt.validate(); err != nil {
		return nil, err
	}
	n := a.Len()
	if n == 0 {
		return &Extremes{}, nil
	}
	if n < 0 {
		return nil, fmt.Errorf("spectrum: an operator of %d rows, expected 0 at least", n)
	}
	k := opt.K
	if k == 0 {
		k = 6
	}
	k = min(k, n)
	most := opt.Steps
	if most == 0 {
		most = DefaultSteps
	}
	most = min(max(most, 2*k), n)
	tolerance := opt.Tolerance
	if tolerance == 0 {
		tolerance = 0x1p-24
	}
	l := &lanczos{
		ctx: ctx, n: n, workers: run.Workers(opt.Workers),
		random: rand.New(rand.NewPCG(opt.Seed, 0x9e3779b97f4a7c15)),
	}
	next := min(max(2*k, 16), most)
	if err := affordable(LanczosBytes(n, next)); err != nil {
		return nil, err
	}
	if err := l.fresh(); err != nil {
		return nil, err
	}
	w := make([]float64, n)
	for {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		apply := func() error { return a.Apply(ctx, w, l.basis[len(l.basis)-1]) }
		if err := run.Guard("spectrum: Apply", apply); err != nil {
			return nil, err
		}
		if err := l.step(w); err != nil {
			return nil, err
		}
		m := len(l.alpha)
		if m < next && m < most {
			continue
		}
		e, worst, err := l.extremes(k, tolerance)
		if err != nil {
			return nil, err
		}
		if opt.Progress != nil {
			tell := func() error { opt.Progress(m, most, worst); return nil }
			if err := run.Guard("spectrum: Options.Progress", tell); err != nil {
				return nil, err
			}
		}
		if worst <= tolerance && m >= 2*k || m == most {
			return e, nil
		}
		next = m + 8
		if err := affordable(8 * 8 * int64(n)); err != nil {
			return nil, err
		}
	}
}

// affordable checks that the machine has so many bytes left: without them the runtime would end the
// program.
func affordable(bytes int64) error {
	const few = 64 << 20
	if bytes < few {
		return nil
	}
	left, known := run.Available()
	if known && bytes > left {
		debug.FreeOSMemory() // garbage doesn't count
		left, _ = run.Available()
	}
	if known && bytes > left || bytes >= math.MaxInt {
		return fmt.Errorf("spectrum: vectors of so many rows need %d bytes of memory, the system leaves %d",
			bytes, left)
	}
	return nil
}

// lanczos is the state: alpha and beta of the tridiagonal matrix, and the basis, a vector more than
// alpha has values as long as there are directions left.
type lanczos struct {
	ctx         context.Context
	n, workers  int
	random      *rand.Rand
	basis       [][]float64
	alpha, beta []float64 // beta[j] couples j and j+1
	scale       float64   // a lower bound of the matrix's norm
	dropped     float64   // the root of the sum of squares of couplings that count as 0
}

// fresh adds a random direction, orthogonal to the basis: the start vector, or another one once the
// space of the first is exhausted.
func (l *lanczos) fresh() error {
	for {
		v := make([]float64, l.n)
		for i := range v {
			v[i] = l.random.NormFloat64()
		}
		before := floats.Norm(v, 2)
		if err := l.orthogonalise(v); err != nil {
			return err
		}
		if norm := floats.Norm(v, 2); norm > 1e-8*before { // else all of it was rounding
			floats.Scale(1/norm, v)
			if err := l.orthogonalise(v); err != nil {
				return err
			}
			floats.Scale(1/floats.Norm(v, 2), v)
			l.basis = append(l.basis, v)
			return nil
		}
	}
}

// orthogonalise takes the basis Q off v by the method of Gram and Schmidt in its classical form,
//
//	v ← v - Q (Qᵀ v)
//
// whose products with the vectors of the basis don't wait for each other, twice: once is not enough,
// and twice is (Parlett, The Symmetric Eigenvalue Problem, §6.9; Giraud, Langou and Rozložník,
// Numerische Mathematik 101 (2005)). Each product, and each value of v, is added up by one goroutine
// in the order of the basis, so that the bits don't depend on the workers.
func (l *lanczos) orthogonalise(v []float64) error {
	const vectors, rows = 8, 1024 // of a task
	products := make([]float64, len(l.basis))
	for range 2 {
		err := l.share(len(l.basis), vectors, func(from, to int) {
			for j := from; j < to; j++ {
				products[j] = floats.Dot(l.basis[j], v)
			}
		})
		if err != nil {
			return err
		}
		err = l.share(l.n, rows, func(from, to int) {
			for j, b := range l.basis {
				floats.AddScaled(v[from:to], -products[j], b[from:to])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// share has the workers do n things, some a task, or does them itself where all is less work than to
// begin.
func (l *lanczos) share(n, some int, do func(from, to int)) error {
	const few = 1 << 16
	if len(l.basis)*l.n < few {
		do(0, n)
		return nil
	}
	return run.Tasks(l.ctx, l.workers, (n+some-1)/some, func(_ context.Context, _, task int) error {
		do(task*some, min((task+1)*some, n))
		return nil
	})
}

// step takes w = A·v for the last vector v of the basis in, and adds the next vector.
func (l *lanczos) step(w []float64) error {
	v := l.basis[len(l.basis)-1]
	alpha, norm := floats.Dot(v, w), floats.Norm(w, 2)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return fmt.Errorf("spectrum: product %d isn't finite", len(l.alpha)+1)
	}
	l.scale = max(l.scale, norm)
	l.alpha = append(l.alpha, alpha)
	if err := l.orthogonalise(w); err != nil {
		return err
	}
	beta := floats.Norm(w, 2)
	if len(l.basis) == l.n {
		l.beta = append(l.beta, 0)
		return nil
	}
	if beta <= 1e-14*l.scale*math.Sqrt(float64(l.n)) { // the space is invariant: what is left is rounding
		l.beta, l.dropped = append(l.beta, 0), math.Hypot(l.dropped, beta)
		return l.fresh()
	}
	next := make([]float64, l.n)
	floats.ScaleTo(next, 1/beta, w)
	l.beta, l.basis = append(l.beta, beta), append(l.basis, next)
	return nil
}
