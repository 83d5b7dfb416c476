package mkm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/lab/internal/width"
	"github.com/gramengine/gram/solver"
)

// model trains classifier f on the features of a level, and returns the model.
func (t *training) model(ctx context.Context, lv *level, f Final) (m *Model, err error) {
	l := lv.number
	m = &Model{
		Origin: archive.OriginOf(t.c, t.digest), Settings: t.s, Choices: slices.Clone(t.choices[:l+1]),
	}
	m.Documents = lv.n
	for i := range m.Choices { // keep Steps only for the level of this classifier
		if c := &m.Choices[i]; i < l || f != Metric {
			c.Steps, c.StepsWrong = 0, 0
		}
	}
	m.Settings.Final, m.Settings.Layers = f, t.s.Layers[:l:l]
	if len(t.s.Widths) > 1 {
		m.Settings.Widths = t.s.Widths[: l+1 : l+1]
	}
	if l == 0 {
		m.Columns = lv.columns
	} else if !t.s.Whole {
		m.Columns = t.columns
	}
	x := lv.gather(0, lv.n)
	switch f {
	case Neighbours:
		k := t.s.K
		if k == 0 {
			k = t.choices[l].K
		}
		m.Nearest = &Nearest{K: k, Features: x.values, Labels: lv.y[:lv.n]}
	case Metric:
		steps := t.s.Steps
		if steps == 0 {
			steps = t.choices[l].Steps
		}
		m.Metric, err = lmnn.Train(ctx, t.corpus(x.csr(), lv.y, lv.n), lmnn.Settings{Iterations: steps}, t.metric(lv))
	case Machines:
		c := t.s.C
		if c == 0 {
			c = t.cValues[l]
		}
		err = t.machines(ctx, lv, t.corpus(x.csr(), lv.y, lv.n), func(p *svm.Problem, s svm.Settings, _ float64) error {
			s.C = c
			m.Machines, _, err = p.Train(ctx, s)
			return err
		})
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("mkm: %d features of level %d: %w", len(lv.columns), l, err)
	}
	return m, err
}

func (t *training) metric(lv *level) lmnn.Options {
	return lmnn.Options{
		Workers: t.o.Workers, MemoryBytes: t.left(lv.x.Bytes()),
		Progress: func(done, most int, _ float64, _ int64) { t.o.tell("metric", lv.number, int64(done), int64(most)) },
	}
}

// steps selects the number of iterations for training a metric, on the held-out documents.
func (t *training) steps(ctx context.Context, lv *level, to *Choice) error {
	test := t.corpus(lv.gather(lv.n, len(lv.y)).csr(), lv.y[lv.n:], len(lv.y)-lv.n)
	found, err := lmnn.Choose(ctx, t.corpus(lv.gather(0, lv.n).csr(), lv.y, lv.n), test, lmnn.Settings{}, t.metric(lv))
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("mkm: choosing iterations with %d features of level %d and 1/%d of the documents: %w",
			len(lv.columns), lv.number, t.s.Parts, err)
	}
	to.Steps, to.StepsWrong = found.Iterations, found.Wrong
	return err
}

// cValues lists the candidates for C, in multiples of 1 / mean k(x, x).
var cValues = []float64{1, 10, 100}

// price selects C on the held-out documents. Ties go to the smallest C.
func (t *training) price(ctx context.Context, lv *level) (best float64, err error) {
	train, test := t.corpus(lv.gather(0, lv.n).csr(), lv.y, lv.n), lv.gather(lv.n, len(lv.y)).csr()
	least := math.MaxInt
	err = t.machines(ctx, lv, train, func(p *svm.Problem, s svm.Settings, unit float64) error {
		for i, price := range cValues {
			t.o.tell("C", lv.number, int64(i), int64(len(cValues)))
			s.C = price * unit
			m, _, err := p.Train(ctx, s)
			if err != nil {
				return err
			}
			q, err := svm.NewPredictor(ctx, m, svm.Options{ISA: t.o.ISA, Workers: t.o.Workers})
			if err != nil {
				return err
			}
			found, err := q.Predict(ctx, test)
			q.Close()
			if err != nil {
				return err
			}
			wrong := 0
			for i, class := range found.Class {
				if m.Classes[class] != t.c.Classes[lv.y[lv.n+i]] {
					wrong++
				}
			}
			if wrong < least {
				least, best = wrong, s.C
			}
		}
		return nil
	})
	return best, err
}

// machines prepares an SVM problem, and calls train with the problem, settings without C, and 1 /
// mean k(x, x).
func (t *training) machines(
	ctx context.Context, lv *level, c *corpus.Corpus, train func(*svm.Problem, svm.Settings, float64) error,
) error {
	k, err := parse(t.s.Kernel, 1)
	if err != nil {
		return err
	}
	x, err := k.Embedding().Fit(c.Documents).TransformRows(ctx, c.Documents, nil, t.o.Workers)
	if err != nil {
		return err
	}
	mean := 0.0
	for _, n := range x.Norms {
		mean += k.Eval(0, n, n) / float64(len(x.Norms))
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		return fmt.Errorf("kernel %s: mean of k(x, x) must be positive, got %v", k, mean)
	}
	room := t.left(lv.x.Bytes())
	p, err := svm.NewProblem(ctx, c, k.Embedding(), svm.Options{
		ISA: t.o.ISA, Workers: t.o.Workers, MemoryBytes: room,
		Progress: func(p svm.Progress) { t.o.tell(p.Stage, lv.number, p.Done, p.Total) },
	})
	if err != nil {
		return err
	}
	return train(p, svm.Settings{Kernel: k, Scheme: solver.OneVsRest, Seed: t.s.Seed}, 1/mean)
}

// Nearest holds the training documents of a k-nearest-neighbour classifier.
type Nearest struct {
	K        int
	Features []float32 // features, in row-major order
	Labels   []int32
}

func (q *Nearest) classes(ctx context.Context, x table, o Options) ([]int32, error) {
	own := table{q.Features, x.cols}
	return width.Classify(ctx, width.Set{Features: own.dense(), Labels: q.Labels}, x.dense(), x.cols, q.K,
		width.Options{Workers: o.Workers})
}
