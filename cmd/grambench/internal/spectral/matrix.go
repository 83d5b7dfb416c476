package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
)

const (
	mostWhole   = 1000 // documents, of which all eigenvalues are computed without being asked for
	longSeconds = 5    // what a computation may take without being announced
	taskRows    = 16   // rows that a worker takes at a time
)

// matrix is a Gram matrix by its products: of whole where it is kept, otherwise of its rows as they
// are computed, a stripe at a time. Each value of a product is added up by one goroutine in the
// order of the columns, so that products have the same bits either way and from any number of
// workers.
type matrix struct {
	what         string // it is of
	n, workers   int
	held         int64 // bytes of the program and of what the matrix is computed from
	bytes        int64 // the matrix takes where it is kept
	stripesBytes int64 // and where it isn't
	compute      func(ctx context.Context) (*engine.Symmetric, error)
	stripes      func(ctx context.Context, visit func(first int, stripe *engine.Dense) error) error
	whole        *engine.Symmetric
}

// Len is spectrum.Operator's.
func (m *matrix) Len() int { return m.n }

// Apply is spectrum.Operator's.
func (m *matrix) Apply(ctx context.Context, dst, src []float64) error {
	return m.rows(ctx, func(i int, row []float32) { dst[i] = dot(row, src) })
}

// rows calls visit for every row, from several goroutines.
func (m *matrix) rows(ctx context.Context, visit func(i int, row []float32)) error {
	share := func(first int, part *engine.Dense) error {
		tasks := (part.Rows + taskRows - 1) / taskRows
		return run.Tasks(ctx, m.workers, tasks, func(_ context.Context, _, task int) error {
			for i := task * taskRows; i < min((task+1)*taskRows, part.Rows); i++ {
				visit(first+i, part.Row(i))
			}
			return nil
		})
	}
	if m.whole != nil {
		return share(0, &engine.Dense{Rows: m.n, Cols: m.n, Data: m.whole.Data})
	}
	return m.stripes(ctx, share)
}

// dot returns Σ a[i] b[i] in float64, in four sums: one alone waits for itself at every addition.
func dot(a []float32, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * b[i]
		s1 += float64(a[i+1]) * b[i+1]
		s2 += float64(a[i+2]) * b[i+2]
		s3 += float64(a[i+3]) * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// traces returns the trace, and the sum of all squared values, which is that of the squared
// eigenvalues: of the centred matrix P K P, if asked,
//
//	tr PKP = tr K - n m,   ‖PKP‖² = ‖K‖² - 2n Σ mᵢ² + n² m²,   mᵢ the mean of row i, m that of all
func (m *matrix) traces(ctx context.Context, centre bool) (trace, squares float64, err error) {
	n := float64(m.n)
	diagonal, square, mean := make([]float64, m.n), make([]float64, m.n), make([]float64, m.n)
	err = m.rows(ctx, func(i int, row []float32) {
		diagonal[i] = float64(row[i])
		for _, v := range row {
			square[i] += float64(v) * float64(v)
			mean[i] += float64(v)
		}
		mean[i] /= n
	})
	all, meanSquares := 0.0, 0.0
	for i := range m.n {
		trace += diagonal[i]
		squares += square[i]
		all += mean[i] / n
		meanSquares += mean[i] * mean[i]
	}
	if centre {
		trace -= n * all
		squares -= 2*n*meanSquares - n*n*all*all
	}
	return trace, max(squares, 0), err
}

// beside returns what is computed of a matrix of n rows, the memory that takes beside the matrix, and
// whether that is kept whole.
func (c *call) beside(of string, n int) (what string, bytes int64, all bool) {
	switch {
	case c.logs != nil:
		return "all eigenvectors of " + of, vectorsBytes(n), true
	case c.whole || n <= mostWhole && !c.lanczos:
		return "all eigenvalues of " + of + " (-lanczos finds the extremes in less)", spectrum.AllBytes(n), true
	}
	return "the extreme eigenvalues of " + of, spectrum.LanczosBytes(n, max(c.steps, 2*c.k)), false
}

// measure fills the row of a matrix: from all eigenvalues, or from the extremes.
func (c *call) measure(ctx context.Context, e *cli.Env, p *cli.Progress, m *matrix, row *row) error {
	begin := time.Now()
	what, beside, all := c.beside(m.what, m.n)
	need, budget := m.held+beside+m.bytes, c.Budget()
	kept := all || budget == 0 || need <= budget
	if !kept {
		need += m.stripesBytes - m.bytes
	}
	if err := c.Fits(what, need); err != nil {
		return err
	}
	p.Stage("computing " + row.Kernel)
	var err error
	if kept {
		if m.whole, err = m.compute(ctx); err != nil {
			return err
		}
	}
	if all {
		err = c.all(ctx, e, p, m.whole, need, row)
	} else {
		err = c.extremes(ctx, p, m, row)
	}
	row.Seconds, row.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return err
}

// all fills the row from all eigenvalues of a matrix, for which so many bytes are needed in all.
func (c *call) all(
	ctx context.Context, e *cli.Env, p *cli.Progress, m *engine.Symmetric, need int64, row *row,
) error {
	seconds := estimate(ctx, m.N, c.NumWorkers())
	if seconds > longSeconds {
		p.Clear()
		e.Say("all %s eigenvalues of %s take about %.0f s and %s of memory", report.Count(m.N), row.Kernel, seconds,
			report.Bytes(need))
	}
	p.Stage("eigenvalues of " + row.Kernel)
	stop := p.Expect(seconds)
	values, err := allOf(ctx, m, c.centre, c.NumWorkers())
	stop()
	if err != nil {
		return err
	}
	row.take(values, c.k, c.radii)
	if c.logs != nil {
		p.Stage("eigenvectors of " + row.Kernel)
		row.Bounds, err = newBounds(ctx, symmetric(m, c.centre), float64(row.Rounding), c.logs, c.radii, c.seed)
	}
	return err
}

// symmetric is m, centred if asked.
func symmetric(m *engine.Symmetric, centre bool) mat.Symmetric {
	if centre {
		return spectrum.Centre(m)
	}
	return m
}

// allOf returns all eigenvalues of m, centred if asked.
func allOf(ctx context.Context, m *engine.Symmetric, centre bool, workers int) ([]float64, error) {
	return spectrum.All(ctx, symmetric(m, centre), workers)
}

// estimate returns about how many seconds all eigenvalues of n rows take: by a small matrix, whose
// time grows as n³ and some more once it has left the cache.
func estimate(ctx context.Context, n, workers int) float64 {
	const small, cache = 512, 1.3
	if n <= small {
		return 0
	}
	r := rand.New(rand.NewPCG(1, 1))
	a := mat.NewSymDense(small, nil)
	for i := range small {
		for j := range i + 1 {
			a.SetSym(i, j, r.NormFloat64())
		}
	}
	begin := time.Now()
	if _, err := spectrum.All(ctx, a, workers); err != nil {
		return 0
	}
	return cache * time.Since(begin).Seconds() * math.Pow(float64(n)/small, 3)
}

// extremes fills the row from what the method of Lanczos finds.
func (c *call) extremes(ctx context.Context, p *cli.Progress, m *matrix, row *row) error {
	trace, squares, err := m.traces(ctx, c.centre)
	if err != nil {
		return err
	}
	p.Stage("Lanczos for " + row.Kernel)
	defer p.Hold()() // a product's progress is not the whole's
	found, err := spectrum.Lanczos(ctx, m.operator(c.centre), spectrum.Options{
		K: c.k, Steps: c.steps, Seed: c.seed, Workers: c.NumWorkers(),
		Progress: func(step, steps int, _ float64) { p.Update(int64(step), int64(steps)) },
	})
	if err == nil {
		row.takeExtremes(found, trace, squares, c.radii)
	}
	return err
}

// operator returns the matrix, centred if asked.
func (m *matrix) operator(centre bool) spectrum.Operator {
	if centre {
		return spectrum.CentreOperator(m)
	}
	return m
}
