package linear

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Train trains a model. It fails if a document's squared norm is too large. For other errors, see
// package task.
func Train(ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, opt Options) (*Model, error) {
	models, err := TrainPath(ctx, c, e, s, nil, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath trains a model for each C in cValues, which must be ascending. Each model warm-starts
// from the previous model. If cValues is nil, C is Settings.C.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, cValues []float64, opt Options,
) ([]*Model, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	t := &task.Training{Options: opt, Name: "linear", StepUnit: "passes", Corpus: c, Scheme: s.Scheme, CValues: cValues}
	if err := t.Prepare(ctx, e, s.C, s.Weights, s.Balanced); err != nil {
		return nil, err
	}
	cValues = t.CValues
	heaviest := slices.Max(t.ClassWeights)
	if c.Weights != nil {
		heaviest *= slices.Max(c.Weights)
	}
	if most := cValues[len(cValues)-1]; !(most*heaviest <= maxC) {
		return nil, fmt.Errorf("linear: C times the largest weight must be at most %v, got %v * %v", maxC, most, heaviest)
	}
	s.Weights, s.Balanced = nil, false
	f := corpus.Fit(e, c)
	size := c.Size()
	size.Terms, size.LongestRow = f.Cols(), size.LongestRow+f.FilledCount() // include values added by scaling
	size.Values += int64(size.Documents) * int64(f.FilledCount())
	err = run.CheckMemory(TrainBytes(size, len(cValues), t.Workers), opt.MemoryBytes,
		"linear: training on %d documents with %d values in total", c.Documents.Rows(), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, c.Documents, t.Rows, f, t.Workers)
	if err != nil {
		return nil, err
	}
	limit := 1e300 / maxC / float64(p.rows())
	if sum := p.maxSquaredNorm(); !(sum < limit) {
		return nil, fmt.Errorf("linear: squared norm of a document of %s must be below %.3g, got %v", c.Source, limit, sum)
	}
	origin := archive.OriginOf(c, c.Digest())
	var models []*Model
	for _, penalty := range cValues {
		m := &Model{
			Origin: origin, Settings: s, Embedder: f, Functions: make([]*DecisionFunction, len(c.Classes)),
			Weights: make([]float64, f.Cols()*len(c.Classes)),
		}
		m.Settings.C = penalty
		models = append(models, m)
	}
	return models, t.ForEachClass(ctx, func(ctx context.Context, k task.BinaryProblem) error {
		d := newDualSolver(ctx, p, s, k, t.DocumentWeights)
		for _, m := range models {
			found, err := d.solve(m.Settings.C, s.Tolerance)
			if err != nil {
				return err
			}
			m.setFunction(k.Index, found, d, 1)
			if t.IsBinary() {
				found.Bias = -found.Bias
				m.setFunction(1, found, d, -1)
			}
		}
		return nil
	})
}

func (p *problem) maxSquaredNorm() float64 {
	most := 0.0
	for _, v := range p.squaredNorms {
		most = max(most, v)
	}
	return most
}

// TrainBytes returns an upper bound in bytes on the memory that training needs in addition to the
// corpus.
func TrainBytes(s corpus.Size, numC, workers int) int64 {
	rows, cols := int64(s.Documents), int64(s.Terms+1)
	embedding := int64(run.NumWorkers(workers)) * sparse.EmbeddedBytes(chunkRows, chunkRows*int64(s.LongestRow))
	return problemBytes(s.Documents, s.Values, s.Terms+1) + 8*rows + 32*cols + embedding +
		8*cols*int64(s.Classes*numC) + (13*rows+8*cols)*int64(min(run.NumWorkers(workers), s.Classes))
}

func (m *Model) setFunction(k int, found DecisionFunction, d *dualSolver, sign float64) {
	m.Functions[k] = &found
	classes := len(m.Classes)
	for j, at := range d.p.columns {
		m.Weights[j*classes+k] = sign * d.w[at]
	}
}
