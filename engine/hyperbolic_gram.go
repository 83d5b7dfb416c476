package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/run"
)

// HyperbolicGram computes Gram matrices of a [kernel.Hyperbolic] kernel on distributions. Each value is
// computed in float64 from a table of ln K and rounded to float32 once; Error says how exact that
// is. Values are the same bits from any number of workers, for (i, j) and (j, i), and from Gram and
// Rows. It may be used concurrently.
type HyperbolicGram struct {
	spec     kernel.Hyperbolic // resolved
	heat     *normal.Heat
	workers  int
	memory   int64
	progress func(Progress)
}

// normalTile is the number of distributions whose means are read against as many others while both
// are near.
const normalTile = 32

// NewHyperbolic makes a table of the kernel up to the greatest distance that the distributions x
// may have. Of opt, Workers, MemoryBytes and Progress count. Errors: an n that the kernel is not
// made for, such as that of points of 2,000 coordinates and more, MemoryBytes, the end of ctx.
func NewHyperbolic(
	ctx context.Context, h kernel.Hyperbolic, x *normal.Distributions, opt Options,
) (*HyperbolicGram, error) {
	if err := run.Given(ctx, "engine"); err != nil {
		return nil, err
	}
	if x == nil {
		return nil, errors.New("engine: no distributions, expected some")
	}
	if h.N == 0 {
		h.N = x.P() + 1
	}
	g := &HyperbolicGram{spec: h, memory: opt.MemoryBytes, progress: opt.Progress}
	var err error
	if g.workers, err = opt.resolveWorkers(); err != nil {
		return nil, err
	}
	if err := compute.Allowed("the distributions", x.Bytes(), g.memory); err != nil {
		return nil, err
	}
	g.heat, err = normal.NewHeat(ctx, h.T, h.N, h.Full, x)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("engine: %s on %w", h, err)
	}
	return g, nil
}

// Kernel returns the kernel, its n filled in.
func (g *HyperbolicGram) Kernel() kernel.Hyperbolic { return g.spec }

// Len returns the number of distributions.
func (g *HyperbolicGram) Len() int { return g.heat.Of().Len() }

// Eval returns the value for distributions i and j in float64, from the kernel's definition without
// the table: the reference.
func (g *HyperbolicGram) Eval(i, j int) float64 { return g.heat.Eval(i, j) }

// Error bounds how far the value of distributions i and j in a matrix is from Eval.
func (g *HyperbolicGram) Error(i, j int) float64 { return g.heat.Error(i, j) }

// Against writes the values of the distributions with distribution j of others, of as many
// coordinates: dst[i] belongs to distribution i.
func (g *HyperbolicGram) Against(others *normal.Distributions, j int, dst []float32) error {
	if err := g.heat.Against(others, j, dst); err != nil {
		return err
	}
	return compute.Finite(g.spec, dst, func(i int) (int, int) { return i, j })
}

// GramBytes returns the memory that Gram allocates, in bytes.
func (g *HyperbolicGram) GramBytes() int64 { return compute.MatrixBytes(g.Len(), g.Len()) }

// Gram returns the matrix of all pairs; each is computed once. It returns within a second of the
// end of ctx, with its cause.
func (g *HyperbolicGram) Gram(ctx context.Context) (m *Symmetric, err error) {
	err = compute.Allowed("the Gram matrix", run.AddBytes(g.heat.Of().Bytes(), g.GramBytes()), g.memory)
	if err == nil {
		err = compute.Affordable("the Gram matrix", g.GramBytes())
	}
	if err != nil {
		return nil, err
	}
	n := g.Len()
	if m, err = newSymmetric(ctx, n); err != nil {
		return nil, err
	}
	ctx, report := compute.Start(ctx, g.progress, compute.PairsOf(n))
	defer func() {
		if report.Finish(&err); err != nil {
			m = nil
		}
	}()
	err = run.Tasks(ctx, g.workers, (n+normalTile-1)/normalTile, func(ctx context.Context, _, task int) error {
		first := task * normalTile
		last := min(first+normalTile, n)
		for lo := first; lo < n; lo += normalTile {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			hi := min(lo+normalTile, n)
			pairs := 0
			for i := first; i < last; i++ {
				pairs += max(hi-max(lo, i), 0)
				for j := max(lo, i); j < hi; j++ {
					v := g.heat.At(i, j)
					m.Data[i*n+j], m.Data[j*n+i] = v, v
				}
			}
			report.Add(int64(pairs))
		}
		return nil
	})
	if err == nil {
		err = g.finite(0, m.Data)
	}
	return m, err
}

// Rows writes the rows from first on: as many as dst has, whose columns are all distributions. It
// returns within a second of the end of ctx.
func (g *HyperbolicGram) Rows(ctx context.Context, first int, dst *Dense) error {
	n := g.Len()
	if dst == nil {
		return errors.New("engine: no destination, expected a matrix")
	}
	if first < 0 || first > n || dst.Rows < 0 || dst.Rows > n-first || dst.Cols != n || len(dst.Data) != dst.Rows*n {
		return fmt.Errorf(
			"engine: destination of rows %d to %d, %d columns and %d values, expected rows up to %d of %d columns",
			first, first+dst.Rows, dst.Cols, len(dst.Data), n, n)
	}
	err := run.Tasks(ctx, g.workers, (n+normalTile-1)/normalTile, func(ctx context.Context, _, task int) error {
		lo := task * normalTile
		hi := min(lo+normalTile, n)
		for i := range dst.Rows {
			if i%normalTile == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for j := lo; j < hi; j++ {
				dst.Data[i*n+j] = g.heat.At(first+i, j)
			}
		}
		return nil
	})
	if err == nil {
		err = g.finite(first, dst.Data)
	}
	return err
}

// finite is [compute.Finite] for whole rows from one on.
func (g *HyperbolicGram) finite(first int, rows []float32) error {
	n := g.Len()
	return compute.Finite(g.spec, rows, func(i int) (int, int) { return first + i/n, i % n })
}
