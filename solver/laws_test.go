package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// counted is a matrix without rows in memory. It counts and checks the calls of its methods.
type counted struct {
	*Dense
	t     *testing.T
	mu    sync.Mutex
	rows  int
	panel int // maximum number of rows in one call
	wait  func()
}

// Row hides the method of the embedded matrix, so that no row is used in place.
func (c *counted) Row() {}

func (c *counted) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	if c.wait != nil {
		c.wait()
	}
	c.mu.Lock()
	c.rows += len(rows)
	c.panel = max(c.panel, len(rows))
	c.mu.Unlock()
	n, last := 0, -1
	for _, r := range columns {
		if r[0] <= last || r[1] <= r[0] || r[1] > c.Len() {
			c.t.Errorf("columns %v aren't disjoint and increasing", columns)
		}
		last, n = r[1], n+r[1]-r[0]
	}
	seen := map[int]bool{}
	for i, r := range rows {
		if seen[r] || len(dst[i]) != n {
			c.t.Errorf("row %d twice, or %d places for %d values", r, len(dst[i]), n)
		}
		seen[r] = true
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.Dense.Rows(ctx, rows, columns, dst)
}

// If no value is computed on demand, the result doesn't depend on the number of workers, the memory
// for rows, the source of rows or the instruction set.
func TestSameBits(t *testing.T) {
	const n, k = 700, 4
	m, x := gaussian(t, 3, n, 4, 0.3)
	labels := classes(x, k)
	for _, scheme := range []Scheme{OneVsOne, OneVsRest} {
		train := func(m Matrix, opt Options) *Classifier {
			t.Helper()
			opt.workingSet = 32
			return musttest.Get(Train(
				context.Background(), m,
				Training{
					Labels: labels, Classes: k, Scheme: scheme,
					Parameters: Parameters{Regularization: Regularization{C: 5}, Probabilities: true, Seed: 3},
				},
				opt,
			))(t)
		}
		want := train(m, Options{Workers: 1})
		asked := &counted{Dense: m, t: t}
		small := &counted{Dense: m, t: t}
		results := map[string]*Classifier{
			"again":        train(m, Options{Workers: 1}),
			"two workers":  train(m, Options{Workers: 2}),
			"many workers": train(m, Options{Workers: 20}),
			"asked":        train(asked, Options{Workers: 2}),
			"least memory": train(small, Options{Workers: 1, RowBytes: 32 * n * 4}),
		}
		for _, isa := range asm.Available() {
			k := musttest.Get(asm.KernelsFor(isa))(t)
			results[string(isa)] = train(m, Options{Kernels: k})
		}
		for name, got := range results {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %s: another result", scheme, name)
			}
		}
		if small.rows <= asked.rows {
			t.Errorf("%v: %d rows were asked for with little memory, %d with much", scheme, small.rows, asked.rows)
		}
		if asked.panel < 16 {
			t.Errorf("%v: at most %d rows were asked for at a time", scheme, asked.panel)
		}
	}
}

func TestShrinkingReachesTheSameOptimum(t *testing.T) {
	const n = 900
	m, x := gaussian(t, 4, n, 2, 2)
	positive := make([]bool, n) // separable except near the boundary, so that most α are 0 at the end
	for i := range positive {
		positive[i] = x[i][0]+0.05*x[i][1] > 0
	}
	for _, matrix := range []Matrix{m, &counted{Dense: m, t: t}} {
		least := n
		watch := func(p Progress) { least = min(least, p.ActiveDocuments) }
		par := Parameters{Regularization: Regularization{C: 1000}, Weights: []float64{1, 2}}
		old := reportInterval
		reportInterval = 0
		opt := Options{Progress: watch, RowBytes: 64 * n * 4}
		got, err := trainBinary(context.Background(), matrix, run.Range(0, n), positive, par, opt)
		reportInterval = old
		musttest.NoError(t, err)
		if least > n/2 {
			t.Errorf("never less than %d of %d documents in the problem: nothing was left out", least, n)
		}
		checkOptimal(t, m, run.Range(0, n), positive, [2]float64{1000, 2000}, got, defaultTolerance)
	}
}

// Permuting the documents doesn't change the decision function f. Multiplying the kernel by a
// factor and dividing C by this factor doesn't change f.
func TestPermutationAndScale(t *testing.T) {
	const n, factor = 200, 4 // a power of two, so that kernel values aren't rounded
	m, x := gaussian(t, 6, n, 3, 0.5)
	positive := noisySigns(6, x)
	fine := Options{Tolerance: 1e-7}
	want := musttest.Get(trainBinary(context.Background(), m, run.Range(0, n), positive, withC(2), fine))(t)
	perm := rand.New(rand.NewPCG(1, 2)).Perm(n)
	permuted := matrixOf(t, n, func(i, j int) float64 { return factor * float64(m.Row(perm[i])[perm[j]]) })
	signs := make([]bool, n)
	for i, from := range perm {
		signs[i] = positive[from]
	}
	par := withC(2. / factor)
	got := musttest.Get(trainBinary(context.Background(), permuted, run.Range(0, n), signs, par, fine))(t)
	size := sizeOf(want)
	// Each objective is within 10^-7·Σα of the optimum.
	if !(math.Abs(got.Objective*factor-want.Objective) <= 1e-7*size) {
		t.Errorf("objective %v, expected %v", got.Objective*factor, want.Objective)
	}
	// f differs by d, plus the difference of rho. In the norm of the kernel, whose diagonal is 1,
	// ½|d|² is at most the difference of the objectives.
	for i := range n {
		a, b := -want.Rho, -got.Rho
		for s, doc := range want.Support {
			a += want.Coef[s] * float64(m.Row(perm[i])[doc])
		}
		for s, doc := range got.Support {
			b += got.Coef[s] * float64(permuted.Row(i)[doc])
		}
		if tol := 2*math.Sqrt(2e-7*size) + 1e-6; !(math.Abs(a-b) <= tol) {
			t.Fatalf("document %d: decision %v, expected %v within %v", i, b, a, tol)
		}
	}
}

func TestStrangeProblems(t *testing.T) {
	ctx := context.Background()
	m, x := gaussian(t, 7, 60, 2, 1)
	positive := noisySigns(7, x)
	docs := run.Range(0, 60)
	t.Run("indefinite", func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		bad := matrixOf(t, 120, func(i, j int) float64 { return r.NormFloat64() })
		signs := musttest.MakeSlice(120, func(i int) bool { return i%3 == 0 })
		got := musttest.Get(trainBinary(ctx, bad, run.Range(0, 120), signs, withC(10), Options{}))(t)
		checkOptimal(t, bad, run.Range(0, 120), signs, [2]float64{10, 10}, got, defaultTolerance)
	})
	t.Run("duplicates", func(t *testing.T) {
		same := matrixOf(t, 40, func(i, j int) float64 { return float64(m.Row(i / 2)[j/2]) })
		signs := musttest.MakeSlice(40, func(i int) bool { return i%2 == 0 }) // the same document in both classes
		for _, c := range []float64{1e-6, 1, 1e6} {
			got := musttest.Get(trainBinary(ctx, same, run.Range(0, 40), signs, withC(c), Options{}))(t)
			checkOptimal(t, same, run.Range(0, 40), signs, [2]float64{c, c}, got, defaultTolerance)
			if !(math.Abs(got.Objective+40*c) <= 1e-9*c) { // all variables are at their bounds: f is 0 everywhere
				t.Errorf("C = %v: objective %v, expected %v", c, got.Objective, -40*c)
			}
		}
	})
	t.Run("large C", func(t *testing.T) {
		got := musttest.Get(trainBinary(ctx, m, docs, positive, withC(1e6), Options{}))(t)
		checkOptimal(t, m, docs, positive, [2]float64{1e6, 1e6}, got, defaultTolerance)
	})
	t.Run("end of iterations", func(t *testing.T) {
		got, err := trainBinary(ctx, m, docs, positive, withC(1e6), Options{MaxIterations: 7})
		if err != nil || got.Converged || got.Iterations != 7 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestCancel(t *testing.T) {
	const n = 400
	m, x := gaussian(t, 8, n, 3, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	slow := &counted{Dense: m, t: t, wait: func() {
		if calls++; calls == 3 {
			cancel()
		}
	}}
	_, err := trainBinary(ctx, slow, run.Range(0, n), noisySigns(8, x), withC(1e4), Options{workingSet: 16})
	if err == nil || calls > 3 {
		t.Errorf("error %v after %d calls, expected the end after 3", err, calls)
	}
	if _, err := Train(ctx, m, Training{Labels: classes(x, 4), Classes: 4}, Options{}); err != context.Canceled {
		t.Errorf("error %v, expected %v", err, context.Canceled)
	}
}
