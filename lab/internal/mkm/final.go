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

func (t *training) trainModel(ctx context.Context, lv *level, f FinalClassifier) (m *Model, err error) {
	l := lv.number
	m = &Model{
		Origin: archive.OriginOf(t.c, t.digest), Settings: t.s, Choices: slices.Clone(t.choices[:l+1]),
	}
	m.NumDocuments = lv.n
	for i := range m.Choices { // keep Steps only for the level of this classifier
		if c := &m.Choices[i]; i < l || f != FinalLMNN {
			c.Steps, c.StepsWrong = 0, 0
		}
	}
	m.Settings.Classifier, m.Settings.Layers = f, t.s.Layers[:l:l]
	if len(t.s.Widths) > 1 {
		m.Settings.Widths = t.s.Widths[: l+1 : l+1]
	}
	if l == 0 {
		m.Columns = lv.columns
	} else if !t.s.KeepAllFeatures {
		m.Columns = t.columns
	}
	x := lv.selectedFeatures(0, lv.n)
	switch f {
	case FinalKNN:
		k := t.s.K
		if k == 0 {
			k = t.choices[l].K
		}
		m.KNN = &KNN{K: k, Features: x.values, Labels: lv.y[:lv.n]}
	case FinalLMNN:
		steps := t.s.Steps
		if steps == 0 {
			steps = t.choices[l].Steps
		}
		m.LMNN, err = lmnn.Train(ctx, t.newCorpus(x.toCSR(), lv.y, lv.n), lmnn.Settings{Iterations: steps},
			t.metricOptions(lv))
	case FinalSVM:
		c := t.s.C
		if c == 0 {
			c = t.cValues[l]
		}
		err = t.withSVMProblem(ctx, lv, t.newCorpus(x.toCSR(), lv.y, lv.n),
			func(p *svm.Problem, s svm.Settings, _ float64) error {
				s.C = c
				m.SVM, _, err = p.Train(ctx, s)
				return err
			})
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("mkm: %d features of level %d: %w", len(lv.columns), l, err)
	}
	return m, err
}

func (t *training) metricOptions(lv *level) lmnn.Options {
	return lmnn.Options{
		Workers: t.o.Workers, MemoryBytes: t.remainingBytes(lv.x.Bytes()),
		Progress: func(done, most int, _ float64, _ int64) {
			t.o.reportProgress("metric", lv.number, int64(done), int64(most))
		},
	}
}

func (t *training) chooseSteps(ctx context.Context, lv *level, to *LevelChoice) error {
	test := t.newCorpus(lv.selectedFeatures(lv.n, len(lv.y)).toCSR(), lv.y[lv.n:], len(lv.y)-lv.n)
	found, err := lmnn.ChooseIterations(ctx, t.newCorpus(lv.selectedFeatures(0, lv.n).toCSR(), lv.y, lv.n), test,
		lmnn.Settings{}, t.metricOptions(lv))
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("mkm: choosing iterations with %d features of level %d and 1/%d of the documents: %w",
			len(lv.columns), lv.number, t.s.Folds, err)
	}
	to.Steps, to.StepsWrong = found.Iterations, found.ErrorCount
	return err
}

// cCandidates lists the candidates for C, in multiples of 1 / mean k(x, x).
var cCandidates = []float64{1, 10, 100}

// chooseC selects C on the held-out documents. Ties go to the smallest C.
func (t *training) chooseC(ctx context.Context, lv *level) (best float64, err error) {
	train, test := t.newCorpus(lv.selectedFeatures(0, lv.n).toCSR(), lv.y, lv.n),
		lv.selectedFeatures(lv.n, len(lv.y)).toCSR()
	least := math.MaxInt
	err = t.withSVMProblem(ctx, lv, train, func(p *svm.Problem, s svm.Settings, unit float64) error {
		for i, price := range cCandidates {
			t.o.reportProgress("C", lv.number, int64(i), int64(len(cCandidates)))
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
			for i, class := range found.ClassIndices {
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

// withSVMProblem prepares an SVM problem, and calls train with the problem, settings in which C is
// unset, and 1 / mean k(x, x).
func (t *training) withSVMProblem(
	ctx context.Context, lv *level, c *corpus.Corpus, train func(*svm.Problem, svm.Settings, float64) error,
) error {
	k, err := parseKernel(t.s.Kernel, 1)
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
	room := t.remainingBytes(lv.x.Bytes())
	p, err := svm.NewProblem(ctx, c, k.Embedding(), svm.Options{
		ISA: t.o.ISA, Workers: t.o.Workers, MemoryBytes: room,
		Progress: func(p svm.Progress) { t.o.reportProgress(p.Stage, lv.number, p.Done, p.Total) },
	})
	if err != nil {
		return err
	}
	return train(p, svm.Settings{Kernel: k, Scheme: solver.OneVsRest, Seed: t.s.Seed}, 1/mean)
}

// KNN holds the training documents of a k-nearest-neighbour classifier.
type KNN struct {
	K        int
	Features []float32 // features, in row-major order
	Labels   []int32
}

func (q *KNN) predict(ctx context.Context, x featureMatrix, o Options) ([]int32, error) {
	own := featureMatrix{q.Features, x.cols}
	return width.Classify(ctx, width.Dataset{Features: own.toDense(), Labels: q.Labels}, x.toDense(), x.cols, q.K,
		width.Options{Workers: o.Workers})
}
