package learn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Predictor is a model made ready for predictions. It may be used concurrently, but then progress is
// told concurrently, too.
type Predictor interface {
	Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error)

	// Holding returns it for a process that holds so many bytes beside it.
	Holding(bytes int64) Predictor

	// Close frees what a device holds; without one it does nothing.
	Close() error
}

// Ready makes a model ready: what predictions share is computed once. Of o it takes how to compute,
// and [Options.HeldBytes]: what the process holds beside it, counted against MemoryBytes.
func Ready(ctx context.Context, m Model, o Options) (Predictor, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if own, ok := m.(interface {
		ready(ctx context.Context, o Options) (Predictor, error)
	}); ok {
		return own.ready(ctx, o)
	}
	return &direct{m, o}, nil
}

// direct is a model that shares nothing between predictions.
type direct struct {
	m Model
	o Options
}

func (p *direct) Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error) {
	o := p.o
	o.MemoryBytes = Left(o.MemoryBytes, o.HeldBytes)
	out, err := p.m.Predict(ctx, docs, o)
	return out, Enough(err, o.HeldBytes)
}

func (p *direct) Holding(bytes int64) Predictor {
	q := *p
	q.o.HeldBytes = bytes
	return &q
}

func (p *direct) Close() error { return nil }

// Enough adds to a memory error the value of -m that would suffice, where the process already holds the given
// number of bytes.
func Enough(err error, held int64) error {
	if short := (*run.MemoryError)(nil); errors.As(err, &short) && short.Enough {
		need := short.Need + held
		return fmt.Errorf("%w: -m %dM or more", err, (need+need/200)>>20+1) // not below what FormatNeed names
	}
	return err
}

// Left returns how much of a memory limit remains after the bytes already held; 0 means no limit.
func Left(bound, held int64) int64 {
	if bound == 0 {
		return 0
	}
	return max(bound-held, 1)
}

// Load reads a model of any kind from a file. It calls early, if not nil, as soon as it knows how
// text is cut, so that documents can be read meanwhile.
func Load(ctx context.Context, path string, early func(corpus.Tokenizer, corpus.Form)) (Model, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return loadStream(ctx, path, early)
	}
	if l := Of(path); l != nil {
		return l.Load(ctx, path, early)
	}
	m, err := model.Load(ctx, path, early)
	if err != nil {
		return nil, err
	}
	return Machines{Model: m}, nil
}

// loadStream is Load from a pipe, which can be read once.
func loadStream(ctx context.Context, path string, early func(corpus.Tokenizer, corpus.Form)) (Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	defer f.Close()
	in, stop := run.Stream(ctx, "learn: "+path, f)
	defer stop()
	b := bufio.NewReaderSize(in, 64<<10)
	l, err := of(b)
	if err != nil {
		return nil, fmt.Errorf("learn: %s: %w", path, err)
	}
	if l == nil {
		m, err := model.ReadEarly(ctx, b, -1, path, early)
		if err != nil {
			return nil, err
		}
		return Machines{Model: m}, nil
	}
	m, err := l.Read(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("learn: %s: %w", path, err)
	}
	if early != nil {
		a := m.About()
		early(a.Tokenizer, a.Form)
	}
	return m, nil
}

// Read reads a model of any kind, to the end of r. After the end of ctx it doesn't wait for a call of r.Read that
// blocks.
func Read(ctx context.Context, r io.Reader) (Model, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	in, stop := run.Stream(ctx, "learn: the reader", r)
	defer stop()
	b := bufio.NewReaderSize(in, 64<<10)
	if l, err := of(b); l != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return l.Read(ctx, b)
	}
	m, err := model.Read(ctx, b)
	if err != nil {
		return nil, err
	}
	return Machines{Model: m}, nil
}

// Score compares predictions with labels, and probabilities, where there are any.
func (a *About) Score(p *model.Prediction, truth *corpus.Corpus) (s *svm.Score, err error) {
	switch {
	case a.OneClass:
		return svm.ScoreModel(&model.Model{Type: model.OneClass}, p, truth)
	case a.Numbers:
		return svm.ScoreValues(p.Value, truth)
	case a.Scheme == solver.Labels:
		s, err = svm.ScoreLabels(a.Classes, p.Labels, truth)
	default:
		s, err = svm.ScoreClasses(a.Classes, p.Class, truth)
	}
	if err == nil && p.Probabilities != nil {
		s.Calibration, err = svm.ScoreProbabilities(a.Classes, p.Probabilities, a.Scheme == solver.Labels, truth)
		if err != nil {
			return nil, err
		}
	}
	if err == nil && len(p.Rejected) > 0 {
		class := slices.Clone(p.Class)
		for i := range min(len(class), len(p.Rejected)) {
			if p.Rejected[i] {
				class[i] = -1
			}
		}
		answered, err := svm.ScoreClasses(a.Classes, class, truth)
		if err != nil {
			return nil, err
		}
		s.Answers = &svm.Answers{Given: answered.Documents, Right: answered.Right}
	}
	return s, err
}
