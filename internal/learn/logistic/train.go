package logistic

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Train trains a model on the labelled documents of a corpus, or on all documents with independent
// labels. It neither changes nor keeps the corpus. Models are bit-identical for any number of
// workers.
//
// It fails if the corpus has no documents or too few classes, if documents of e aren't compared by
// dot products, if e refuses a value, if a setting is out of range, if it needs more memory than
// allowed, and within a second after ctx is done.
func Train(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, opt Options,
) (*Model, error) {
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
	t, err := newTraining(ctx, c, e, s, prices, opt)
	if err != nil {
		return nil, err
	}
	p := task.NewPoints(t.x, t.rows)
	p.Weights = task.DocumentWeights(t.c, t.rows)
	machines, err := t.trainAll(ctx, p)
	if err != nil {
		return nil, err
	}
	origin := archive.OriginOf(c, c.Digest())
	var out []*Model
	for i, price := range t.prices {
		m := &Model{Origin: origin, Settings: t.s, Embedder: t.x.Embedder}
		m.Settings.C = price
		for k := range c.Classes {
			m.Machines = append(m.Machines, machines[k][i])
		}
		out = append(out, m)
	}
	return out, nil
}

// training is the state of a training run.
type training struct {
	c      *corpus.Corpus
	s      Settings
	opt    Options
	prices []float64
	x      *sparse.Embedded
	rows   []int // training documents

	weights []float64 // class weights
}

func newTraining(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, prices []float64, opt Options,
) (*training, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if prices == nil {
		prices = []float64{s.C}
	}
	t := &training{c: c, s: s, opt: opt, prices: prices}
	t.opt.Workers = run.Workers(opt.Workers)
	err = task.CheckPrices(prices)
	if err == nil {
		t.rows, err = task.Check(ctx, c, e, s.Scheme)
	}
	if err == nil {
		t.weights, err = task.Weights(c, t.rows, s.Weights, s.Balanced, s.Scheme)
		t.s.Weights, t.s.Balanced = nil, false
	}
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	err = run.Fits(Need(c.Size(), len(prices), opt.Workers), opt.MemoryBytes,
		"logistic: training on %d documents of %d values", c.Documents.Rows(), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	t.x, err = e.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, t.opt.Workers)
	return t, err
}

// Need bounds the memory that training needs in addition to the corpus, in bytes: embedded
// documents, their copies by rows and by columns, a binary classifier per class and C, and the
// vectors of concurrent searches.
func Need(s corpus.Size, prices, workers int) int64 {
	const vectors = 2*lbfgs.Memory + 8
	rows, n := int64(s.Documents), int64(s.Terms+1)
	return sparse.EmbeddedBytes(s.Documents, s.Values+rows) + 16*s.Values + 16*n + 16*rows +
		8*n*int64(s.Classes*prices) + 8*(vectors*n+8*rows)*int64(min(run.Workers(workers), s.Classes))
}

// trainAll trains the binary classifiers of all classes for each C, several at a time, each on its
// share of the workers. With two classes, the second one is the negated first.
func (t *training) trainAll(ctx context.Context, p *task.Points) (out [][]*Machine, err error) {
	n := len(t.c.Classes)
	mirrored := n == 2 && t.s.Scheme == solver.OneVsRest
	if mirrored {
		n = 1
	}
	out = make([][]*Machine, n)
	atOnce := min(t.opt.Workers, n)
	var iterations atomic.Int64
	var report func(int64)
	if t.opt.Progress != nil {
		report = func(done int64) {
			p := run.Progress{Stage: "training", Done: done, Total: int64(n)}
			if steps := iterations.Load(); steps > 0 {
				p.Details = []string{fmt.Sprintf("%d steps", steps)}
			}
			t.opt.Progress(p)
		}
	}
	ctx, r := run.StartReporter(ctx, "logistic: Options.Progress", report)
	defer func() {
		if r.Finish(&err); err != nil {
			out = nil
		}
	}()
	err = run.Tasks(ctx, atOnce, n, func(ctx context.Context, _, k int) (err error) {
		inner := max(t.opt.Workers/atOnce, 1)
		s := t.s
		if s.prices = [2]float64{1, t.weights[k]}; mirrored {
			s.prices[0] = t.weights[1]
		}
		out[k], err = train(ctx, p, t.x.Cols, task.Of(t.c, k, t.rows), t.prices, s, inner, func() { iterations.Add(1) })
		r.Add(1)
		return err
	})
	if mirrored && err == nil {
		var other []*Machine
		for _, m := range out[0] {
			other = append(other, m.mirrored())
		}
		out = append(out, other)
	}
	return out, err
}

// mirrored returns the classifier of the other of two classes.
func (m *Machine) mirrored() *Machine {
	out := *m
	out.Bias = -m.Bias
	out.Weights = make([]float64, len(m.Weights))
	for j, w := range m.Weights {
		out.Weights[j] = -w
	}
	return &out
}
