package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/learn/landmark"
	"github.com/gramengine/gram/learn/linear"
	"github.com/gramengine/gram/learn/lmnn"
	"github.com/gramengine/gram/learn/logistic"
	"github.com/gramengine/gram/learn/mkm"
	svmodel "github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// predictor predicts documents, in a process that holds a number of bytes beside what it makes.
type predictor func(ctx context.Context, docs *sparse.CSR, held int64) (*svm.Prediction, error)

// model is what a line needs to know of a model of any kind.
type model struct {
	classes       []string // nil for numbers
	machines      []string // names of the decision values
	oneClass      bool
	probabilities bool
	vocabulary    []string // nil where it learnt from vectors
	tokenizer     sparse.Tokenizer

	// ready makes it ready, by so many workers, within a bound of memory, 0 for none.
	ready func(ctx context.Context, isa string, workers int, memory, held int64) (predictor, error)
}

// read reads a model of any kind that grambench train writes.
func read(ctx context.Context, b []byte) (*model, error) {
	r := bytes.NewReader(b)
	is := func(form string) bool { return bytes.HasPrefix(b, []byte(form)) }
	// learned is a model that needs no making ready.
	learned := func(
		classes, vocabulary []string, t sparse.Tokenizer, probabilities bool,
		predict func(ctx context.Context, docs *sparse.CSR, isa string, workers int, memory int64) (*svm.Prediction, error),
	) *model {
		m := &model{classes: classes, machines: classes, vocabulary: vocabulary, tokenizer: t, probabilities: probabilities}
		m.ready = func(_ context.Context, isa string, workers int, memory, _ int64) (predictor, error) {
			return func(ctx context.Context, docs *sparse.CSR, held int64) (*svm.Prediction, error) {
				left := memory
				if memory > 0 {
					left = max(memory-held, 1)
				}
				return predict(ctx, docs, isa, workers, left)
			}, nil
		}
		return m
	}
	switch {
	case is(linear.Form):
		m, err := linear.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, m.Vocabulary, m.Tokenizer, false,
			func(ctx context.Context, docs *sparse.CSR, _ string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, linear.Options{Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				return &svm.Prediction{Decisions: p.Decisions, Class: p.Class, Labels: p.Labels}, nil
			}), nil
	case is(logistic.Form):
		m, err := logistic.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, m.Vocabulary, m.Tokenizer, true,
			func(ctx context.Context, docs *sparse.CSR, _ string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, logistic.Options{Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				return &svm.Prediction{Decisions: p.Decisions, Probabilities: p.Probabilities, Class: p.Class,
					Labels: p.Labels}, nil
			}), nil
	case is(landmark.Form):
		m, err := landmark.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, m.Vocabulary, m.Tokenizer, m.Settings.Loss == landmark.Logistic,
			func(ctx context.Context, docs *sparse.CSR, isa string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, landmark.Options{ISA: isa, Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				return &svm.Prediction{Decisions: p.Decisions, Probabilities: p.Probabilities, Class: p.Class,
					Labels: p.Labels}, nil
			}), nil
	case is(knn.Form):
		m, err := knn.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, m.Vocabulary, m.Tokenizer, m.Settings.Scheme != solver.Labels,
			func(ctx context.Context, docs *sparse.CSR, isa string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, knn.Options{ISA: isa, Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				out := &svm.Prediction{Decisions: p.Shares, Class: p.Class, Labels: p.Labels}
				if p.Class != nil {
					out.Probabilities = p.Shares
				}
				return out, nil
			}), nil
	case is(lmnn.Form):
		m, err := lmnn.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, nil, sparse.Tokenizer{}, false,
			func(ctx context.Context, docs *sparse.CSR, _ string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, lmnn.Options{Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				for _, energies := range p.Energies {
					for c := range energies {
						energies[c] = -energies[c]
					}
				}
				return &svm.Prediction{Decisions: p.Energies, Class: p.Class}, nil
			}), nil
	case is(mkm.Form):
		m, err := mkm.Read(ctx, r)
		if err != nil {
			return nil, err
		}
		return learned(m.Classes, m.Vocabulary, m.Tokenizer, false,
			func(ctx context.Context, docs *sparse.CSR, isa string, workers int, memory int64) (*svm.Prediction, error) {
				p, err := m.Predict(ctx, docs, mkm.Options{ISA: isa, Workers: workers, MemoryBytes: memory})
				if err != nil {
					return nil, err
				}
				return &svm.Prediction{Decisions: p.Decisions, Class: p.Class}, nil
			}), nil
	}
	m, err := svmodel.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return machines(m)
}

// machines is a model of support vector machines.
func machines(m *svmodel.Model) (*model, error) {
	switch {
	case m.Kernel == svmodel.Precomputed:
		return nil, errors.New("it learnt from a precomputed kernel, expected one of documents")
	case engine.IsHyperbolic(m.Kernel):
		return nil, fmt.Errorf("it learnt from sets of points, by the kernel %s, expected one of documents", m.Kernel)
	}
	out := &model{machines: []string{string(m.Type)}, oneClass: m.Type == svmodel.OneClass, vocabulary: m.Vocabulary,
		tokenizer: m.Tokenizer}
	if m.Type.Classifies() {
		out.classes, out.machines, out.probabilities = m.Classes, m.Classes, true
		for _, machine := range m.Classifier.Machines {
			out.probabilities = out.probabilities && (machine == nil || machine.Sigmoid != nil)
		}
		if m.Classifier.Scheme == solver.OneVsOne {
			out.machines = nil
			for a, class := range m.Classes {
				for _, other := range m.Classes[a+1:] {
					out.machines = append(out.machines, class+"/"+other)
				}
			}
		}
	}
	out.ready = func(ctx context.Context, isa string, workers int, memory, held int64) (predictor, error) {
		p, err := svm.NewPredictorContext(ctx, m, svm.PredictOptions{
			ISA: isa, Workers: workers, MemoryBytes: memory, HeldBytes: held,
		})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, docs *sparse.CSR, held int64) (*svm.Prediction, error) {
			return p.Holding(held).Predict(ctx, docs)
		}, nil
	}
	return out, nil
}
