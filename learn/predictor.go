package learn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Predictor is a model made ready for predictions. It may be used concurrently, but then progress is
// told concurrently, too.
type Predictor interface {
	Predict(ctx context.Context, docs *sparse.CSR) (*svm.Prediction, error)

	// Holding returns it for a process that holds so many bytes beside it.
	Holding(bytes int64) Predictor

	// Close frees what a device holds; without one it does nothing.
	Close() error
}

// Ready makes a model ready: what predictions share is computed once. Of o it takes how to compute,
// and [Options.HeldBytes]: what the process holds beside it, counted against MemoryBytes.
func Ready(ctx context.Context, m Model, o Options) (Predictor, error) {
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

func (p *direct) Predict(ctx context.Context, docs *sparse.CSR) (*svm.Prediction, error) {
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

// Enough adds to an error that knows how many bytes a learner needs what -m would do beside what is
// held.
func Enough(err error, held int64) error {
	if short := (*run.MemoryError)(nil); errors.As(err, &short) && short.Enough {
		need := short.Need + held
		return fmt.Errorf("%w: -m %dM or more", err, (need+need/200)>>20+1) // not below what FormatNeed names
	}
	return err
}

// Left returns what a bound of memory leaves beside what is held, 0 for no bound.
func Left(bound, held int64) int64 {
	if bound == 0 {
		return 0
	}
	return max(bound-held, 1)
}

// Load reads a model of any kind from a file. It calls early, if not nil, as soon as it knows how
// text is cut, so that documents can be read meanwhile.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (Model, error) {
	if l := Of(path); l != nil {
		return l.Load(ctx, path, early)
	}
	m, err := model.LoadEarly(ctx, path, early)
	if err != nil {
		return nil, err
	}
	return Machines{Model: m}, nil
}

// Read reads a model of any kind, to the end of r.
func Read(ctx context.Context, r io.Reader) (Model, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	begin, err := b.Peek(longestForm)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, l := range All {
		if bytes.HasPrefix(begin, []byte(l.Form)) {
			return l.Read(ctx, b)
		}
	}
	m, err := model.Read(ctx, b)
	if err != nil {
		return nil, err
	}
	return Machines{Model: m}, nil
}

// Score compares predictions with labels.
func (a *About) Score(p *svm.Prediction, truth *sparse.Corpus) (*svm.Score, error) {
	switch {
	case a.OneClass:
		return p.Score(&model.Model{Type: model.OneClass}, truth)
	case a.Numbers:
		return svm.ScoreValues(p.Value, truth)
	case a.Scheme == solver.Labels:
		return svm.ScoreLabels(a.Classes, p.Labels, truth)
	}
	return svm.ScoreClasses(a.Classes, p.Class, truth)
}
