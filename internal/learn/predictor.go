package learn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Predictor is a model prepared for predictions. It may be used concurrently. Concurrent
// predictions call the progress callback concurrently.
type Predictor interface {
	Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error)

	// WithHeldBytes returns the predictor with another value of HeldBytes.
	WithHeldBytes(bytes int64) Predictor

	// Close frees device memory, if there is any.
	Close() error
}

// NewPredictor prepares a model: it precomputes data that all predictions share. o.HeldBytes, the
// memory in use by the rest of the process, is subtracted from o.MemoryBytes.
func NewPredictor(ctx context.Context, m Model, o Options) (Predictor, error) {
	if own, ok := m.(interface {
		newPredictor(ctx context.Context, o Options) (Predictor, error)
	}); ok {
		return own.newPredictor(ctx, o)
	}
	return &directPredictor{m, o}, nil
}

type directPredictor struct {
	m Model
	o Options
}

func (p *directPredictor) Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error) {
	o := p.o
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, o.HeldBytes)
	out, err := p.m.Predict(ctx, docs, o)
	return out, err
}

func (p *directPredictor) WithHeldBytes(bytes int64) Predictor {
	q := *p
	q.o.HeldBytes = bytes
	return &q
}

func (p *directPredictor) Close() error { return nil }

// MemoryLeft returns bound - held, but at least 1. If bound is 0 (no limit), it returns 0.
func MemoryLeft(bound, held int64) int64 {
	if bound == 0 {
		return 0
	}
	return max(bound-held, 1)
}

// Load reads a model of any kind from a file or a pipe. If early isn't nil, Load calls it as soon
// as the tokenizer is read, so that documents can be read meanwhile.
func Load(ctx context.Context, path string, early HeaderFunc) (Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return read(ctx, f, info.Size(), path, early)
	}
	in, stop := run.ContextReader(ctx, "learn: "+path, f)
	defer stop()
	return read(ctx, in, -1, path, early)
}

// Read reads a model of any kind to the end of r. When ctx is done, it returns even if r.Read
// blocks.
func Read(ctx context.Context, r io.Reader) (Model, error) {
	in, stop := run.ContextReader(ctx, "learn: the reader", r)
	defer stop()
	return read(ctx, in, -1, "", nil)
}

// maxFilePrefix is the number of bytes that are read to recognise the learner of a file.
const maxFilePrefix = 64

// read reads a model of any learner, or a LIBSVM model. Errors name path, unless path is "".
func read(ctx context.Context, r io.Reader, size int64, path string, early HeaderFunc) (_ Model, err error) {
	defer func() {
		if err != nil && path != "" && !errors.As(err, new(*model.SyntaxError)) {
			err = fmt.Errorf("learn: %s: %w", path, err)
		}
	}()
	b := bufio.NewReaderSize(r, 64<<10)
	begin, err := b.Peek(maxFilePrefix)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if model.IsLIBSVM(begin) { // read completely, because any line may show that indices start at 0
		m, err := model.ReadLIBSVM(ctx, b, cmp.Or(path, "the reader"))
		if err != nil {
			return nil, err
		}
		if early != nil {
			early(m.Tokenizer, m.Form)
		}
		return KernelMachine{Model: m}, nil
	}
	l := svmLearners[0] // its Read reports that the file isn't a model
	if at := slices.IndexFunc(Learners, func(l *Learner) bool {
		return bytes.HasPrefix(begin,
			[]byte(l.FilePrefix))
	}); at >= 0 {
		l = Learners[at]
	} else if rest, is := strings.CutPrefix(string(begin), "gram "); is {
		kind, _, _ := strings.Cut(rest, " ")
		return nil, fmt.Errorf("%w: %.20q is not a model type of this program", archive.ErrFormat, kind)
	}
	return l.Read(ctx, b, size, early)
}

// Score compares predictions, and probabilities if there are any, with labels. For a one-class
// model, labels must be 1 for documents like the training documents, and -1 for others.
func (a *About) Score(p *model.Prediction, truth *corpus.Corpus) (*score.Score, error) {
	switch {
	case a.TargetMean != nil:
		return score.ComputeRegression(p.Values, slices.Repeat([]float64{*a.TargetMean}, len(p.Values)), truth)
	case !a.OneClass:
		return score.Compute(a.Classes, p, truth)
	}
	const insider, stranger = "1", "-1"
	if !slices.Contains(truth.Classes, insider) && !slices.Contains(truth.Classes, stranger) {
		return nil, fmt.Errorf("learn: for a one-class model, labels of %s must be %s (inliers) or %s (outliers)",
			truth.Source, insider, stranger)
	}
	class := make([]int, len(p.Values))
	for i, v := range p.Values {
		if !(v > 0) {
			class[i] = 1
		}
	}
	return score.Compute([]string{insider, stranger}, &model.Prediction{ClassIndices: class}, truth)
}
