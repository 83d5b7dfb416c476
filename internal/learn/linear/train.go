package linear

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Train trains a model on the labelled documents of a corpus, or on all documents with independent
// labels. It neither changes nor keeps the corpus. Models are bit-identical for any number of
// workers. In addition to the corpus it needs 8 bytes per value, 36 per document, and 13 per
// document and concurrently trained class.
//
// It fails if the corpus has no documents or too few classes, if documents of e aren't compared by
// dot products, if e refuses a value, if a setting or option is out of range, if a squared norm
// overflows, if it needs more memory than allowed, and within a second after ctx is done.
func Train(ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, opt Options) (*Model, error) {
	models, err := TrainPath(ctx, c, e, s, nil, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath is [Train] for each C of prices, ascending, each warm-started from the previous one;
// nil stands for Settings.C.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, prices []float64, opt Options,
) ([]*Model, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if len(prices) == 0 {
		prices = []float64{s.C}
	}
	err = task.CheckPrices(prices)
	var rows []int
	if err == nil {
		rows, err = task.Check(ctx, c, e, s.Scheme)
	}
	var weights []float64
	if err == nil {
		weights, err = task.Weights(c, rows, s.Weights, s.Balanced, s.Scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("linear: %w", err)
	}
	heaviest := slices.Max(weights)
	if c.Weights != nil {
		heaviest *= slices.Max(c.Weights)
	}
	if most := prices[len(prices)-1]; !(most*heaviest <= maxC) {
		return nil, fmt.Errorf("linear: cost C = %v with weights of up to %v, expected a product of at most %v", most,
			heaviest, maxC)
	}
	s.Weights, s.Balanced = nil, false
	workers := run.Workers(opt.Workers)
	f := corpus.Fit(e, c)
	size := c.Size()
	size.Terms, size.Longest = f.Cols(), size.Longest+f.Filled() // columns that scaling fills
	size.Values += int64(size.Documents) * int64(f.Filled())
	err = run.Fits(Need(size, len(prices), workers), opt.MemoryBytes,
		"linear: training on %d documents of %d values", c.Documents.Rows(), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, c.Documents, rows, f, workers)
	if err != nil {
		return nil, err
	}
	if sum := p.largest(); !(sum*maxC*float64(p.rows()) < 1e300) {
		return nil, fmt.Errorf("linear: a document of %s has the squared length %v, expected a finite one",
			c.Source, sum)
	}
	origin := archive.OriginOf(c, c.Digest())
	var models []*Model
	for _, price := range prices {
		m := &Model{
			Origin: origin, Settings: s, Embedder: f, Machines: make([]*Machine, len(c.Classes)),
			Weights: make([]float64, f.Cols()*len(c.Classes)),
		}
		m.Settings.C = price
		models = append(models, m)
	}
	return models, trainAll(ctx, c, p, rows, weights, models, workers, opt.Progress)
}

// largest returns the largest squared norm of a document.
func (p *problem) largest() float64 {
	most := 0.0
	for _, v := range p.norm2 {
		most = max(most, v)
	}
	return most
}

// Need bounds the memory that training needs in addition to the corpus, in bytes.
func Need(s corpus.Size, prices, workers int) int64 {
	rows, cols := int64(s.Documents), int64(s.Terms+1)
	embedding := int64(run.Workers(workers)) * sparse.EmbeddedBytes(chunk, chunk*int64(s.Longest))
	return bytesOf(s.Documents, s.Values, s.Terms+1) + 8*rows + 32*cols + embedding +
		8*cols*int64(s.Classes*prices) + (13*rows+8*cols)*int64(min(run.Workers(workers), s.Classes))
}

// trainAll trains the binary classifiers of all classes, several at a time. With two classes, the
// second one is the negated first.
func trainAll(
	ctx context.Context, c *corpus.Corpus, p *problem, rows []int, weights []float64, models []*Model, workers int,
	told func(run.Progress),
) (err error) {
	s, n := &models[0].Settings, len(c.Classes)
	mirrored := n == 2 && s.Scheme == solver.OneVsRest
	if mirrored {
		n = 1
	}
	var passes atomic.Int64
	var report func(int64)
	if told != nil {
		report = func(done int64) {
			p := run.Progress{Stage: "training", Done: done, Total: int64(n)}
			if count := passes.Load(); count > 0 {
				p.Details = []string{fmt.Sprintf("%d passes", count)}
			}
			told(p)
		}
	}
	ctx, r := run.StartReporter(ctx, "linear: Options.Progress", report)
	defer r.Finish(&err)
	own := task.DocumentWeights(c, rows)
	return run.Tasks(ctx, min(workers, n), n, func(ctx context.Context, _, k int) error {
		d := newDual(ctx, p, task.Of(c, k, rows), s, k, func() { passes.Add(1) })
		d.own = own
		if d.weights[1] = weights[k]; mirrored {
			d.weights[0] = weights[1]
		}
		for _, m := range models {
			found, err := d.search(m.Settings.C, s.Tolerance)
			if err != nil {
				return err
			}
			m.take(k, found, d, 1)
			if mirrored {
				found.Bias = -found.Bias
				m.take(1, found, d, -1)
			}
		}
		r.Add(1)
		return nil
	})
}

// take stores a binary classifier with the weights of a search, times sign.
func (m *Model) take(k int, found Machine, d *dual, sign float64) {
	m.Machines[k] = &found
	classes := len(m.Classes)
	for j, at := range d.p.place {
		m.Weights[j*classes+k] = sign * d.w[at]
	}
}
