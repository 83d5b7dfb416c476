package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Predictor predicts with a model. It may be used concurrently; Options.Progress is then called
// concurrently, too.
type Predictor struct {
	m   *model.Model
	opt Options
	k   kernel.Kernel
	p   *solver.Predictor // predictor from kernel values with the support vectors
	w   *Weights          // weights for inner products; nil if predictions use kernel values

	rows, columns int // for a precomputed kernel: documents per batch, kernel values per document

	own *supportEngine // shared with predictors from Holding
}

// NewPredictor embeds the support vectors of a model and makes an engine on them. If the kernel is
// an inner product and there is no device, it computes [Weights] instead of an engine, provided
// that memory suffices for weights and engine. It fails if the kernel is unknown, if the support
// vectors of a precomputed kernel have no document indices, if more memory is needed than allowed,
// if the device fails, and within a second after ctx is done.
func NewPredictor(ctx context.Context, m *model.Model, opt Options) (*Predictor, error) {
	p := &Predictor{m: m, opt: opt, own: &supportEngine{}}
	k, err := p.kernel()
	if err != nil {
		return nil, err
	}
	p.k = kernel.Resolve(k, len(m.Embedder.Terms))
	columns := run.Numbers(0, m.Support.Rows())
	loops, err := kernels(opt.ISA)
	if err != nil {
		return nil, err
	}
	if p.p, err = m.Classifier.NewPredictor(columns, loops); err != nil {
		return nil, err
	}
	if want, have := k.Embedding(), m.Embedder.Embedding; want != have {
		return nil, fmt.Errorf(
			"svm: kernel %s requires the embedding %s, but the model has the embedding %s", k, want,
			have)
	}
	if len(columns) == 0 {
		return p, nil
	}
	if kernel.IsPrecomputed(k) {
		return p, p.precomputed(loops)
	}
	if p.hasWeights() {
		p.w, err = WeightsOf(ctx, m, p.k, opt.Workers)
	} else {
		_, err = p.SupportEngine(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close frees device memory, if any. It is idempotent. Predictions must not run during or after it.
func (p *Predictor) Close() error {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	if p.own.e == nil {
		return nil
	}
	e := p.own.e
	p.own.e = nil
	return e.Close()
}

// kernels returns the assembly kernels of an instruction set. For "" it returns the best kernels.
func kernels(isa string) (*asm.Kernels, error) {
	if isa == "" {
		return asm.Best(), nil
	}
	return asm.For(asm.ISA(isa))
}

// Holding returns a predictor with the same engine, for another value of Options.HeldBytes.
func (p *Predictor) Holding(bytes int64) *Predictor {
	q := *p
	q.opt.HeldBytes = bytes
	return &q
}

// Model returns the model.
func (p *Predictor) Model() *model.Model { return p.m }

// Weights returns the weights that predictions use, or nil if predictions use kernel values.
func (p *Predictor) Weights() *Weights { return p.w }

// Kernel returns the kernel, with all its parameters.
func (p *Predictor) Kernel() kernel.Kernel { return p.k }

// chunkDocuments is the number of documents that a worker embeds and predicts at a time: several
// panels, but so few documents that workers finish at about the same time.
const chunkDocuments = 256

// Predict returns the predictions for documents. Terms must be numbered as in the training corpus.
// Unknown terms are ignored. With a precomputed kernel, column j of the row of document x is K(x,
// xⱼ) for training document j. Values are the same bit for bit with any number of workers. It fails
// if the embedding rejects a value, if more memory is needed than allowed, and within a second
// after ctx is done.
func (p *Predictor) Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error) {
	if p.rows > 0 {
		if err := p.hasColumns(docs); err != nil {
			return nil, err
		}
	}
	rows, err := p.rowsAtATime(docs)
	if err != nil {
		return nil, err
	}
	r := &predicting{Predictor: p, e: p.decides(), docs: docs, out: p.room(docs.Rows())}
	r.sums = summing{p: p.p, under: map[int]*solver.Sums{}, free: map[int][]*solver.Sums{}}
	ctx, r.report = startReporter(ctx, p.opt.Progress, "predicting", int64(docs.Rows()))
	err = r.run(ctx, rows)
	if r.report.Finish(&err); err != nil {
		return nil, err
	}
	return r.out, nil
}

// KernelRows returns the kernel values of documents (rows) with support vectors (columns). The
// result is nil if the model has no support vectors or has a precomputed kernel. It fails for the
// same reasons as Predict.
func (p *Predictor) KernelRows(ctx context.Context, docs *sparse.CSR) (*engine.Dense, error) {
	e, err := p.SupportEngine(ctx)
	if e == nil || err != nil {
		return nil, err
	}
	x, err := p.m.Embedder.TransformRows(ctx, docs, run.Numbers(0, docs.Rows()), 1)
	if err != nil {
		return nil, err
	}
	return e.Rows(ctx, p.k, engine.Request{Test: x}, nil)
}

type predicting struct {
	*Predictor
	e      *engine.Engine // nil if predictions don't use kernel values
	docs   *sparse.CSR
	out    *model.Prediction
	report *run.Reporter
	sums   summing
}

func (p *predicting) run(ctx context.Context, rows int) error {
	n, atOnce := p.docs.Rows(), 1
	if p.rows > 0 || p.w != nil {
		atOnce = run.Workers(p.opt.Workers)
	}
	if p.e != nil {
		atOnce = p.e.Info().Batches
	}
	var most atomic.Int64 // documents per chunk; halved if device memory doesn't suffice
	most.Store(int64(rows))
	return run.Tasks(ctx, atOnce, (n+rows-1)/rows, func(ctx context.Context, _, task int) error {
		first := task * rows
		for end := min(first+rows, n); first < end; {
			size := int(most.Load())
			to := min(first+size, end)
			err := p.chunk(ctx, first, to)
			if errors.Is(err, device.ErrMemory) && size > p.width() {
				most.CompareAndSwap(int64(size), int64(max(size/2, p.width())))
				continue
			}
			if err != nil {
				return err
			}
			first = to
		}
		return nil
	})
}

func (p *predicting) embed(ctx context.Context, first, end, workers int) (*sparse.Embedded, error) {
	return p.m.Embedder.TransformRows(ctx, p.docs, run.Numbers(first, end), workers)
}

// summing keeps the sums of unfinished panels of documents, indexed by first document.
type summing struct {
	p *solver.Predictor

	mu    sync.Mutex
	under map[int]*solver.Sums
	free  map[int][]*solver.Sums // unused sums for panels of each width
}

// of returns the sums of a panel of up to width documents, reset if begins is true.
func (s *summing) of(panel int, begins bool, width int) *solver.Sums {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := s.under[panel]
	if free := s.free[width]; sums == nil && len(free) > 0 {
		sums, s.free[width] = free[len(free)-1], free[:len(free)-1]
	} else if sums == nil {
		sums = s.p.NewSums(width)
	}
	s.under[panel] = sums
	if begins {
		sums.Start()
	}
	return sums
}

// end releases the sums of a panel for reuse.
func (s *summing) end(panel, width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[width] = append(s.free[width], s.under[panel])
	delete(s.under, panel)
}

// decides returns the engine whose kernel values predictions use, or nil.
func (p *Predictor) decides() *engine.Engine {
	if p.w != nil {
		return nil
	}
	return p.Engine()
}

// width returns the number of documents that are predicted together.
func (p *Predictor) width() int {
	if e := p.decides(); e != nil {
		return e.Info().Kernels.Panel
	}
	return max(p.rows, 1)
}

func (p *Predictor) room(n int) *model.Prediction {
	rows := func(width int) [][]float64 {
		all := make([]float64, n*width)
		out := make([][]float64, n)
		for i := range out {
			out[i] = all[i*width : (i+1)*width : (i+1)*width]
		}
		return out
	}
	out := &model.Prediction{Decisions: rows(len(p.m.Classifier.Functions))}
	switch {
	case !p.m.Type.Classifies():
		out.Value = make([]float64, n)
	case p.m.Classifier.Scheme == solver.Labels:
		out.Labels = make([][]int, n)
	default:
		out.Class = make([]int, n)
	}
	if p.m.Type.Classifies() && probable(p.m) {
		out.Probabilities = rows(len(p.m.Classes))
		if p.m.Classifier.Rejection != nil {
			out.Rejected = make([]bool, n)
		}
	}
	return out
}

func probable(m *model.Model) bool {
	some := false
	for _, machine := range m.Classifier.Functions {
		if machine != nil && machine.Sigmoid == nil {
			return false
		}
		some = some || machine != nil
	}
	return some
}

func (p *predicting) chunk(ctx context.Context, first, end int) error {
	if p.rows > 0 {
		return p.valuesChunk(ctx, first, end)
	}
	if p.w != nil {
		return p.weightsChunk(ctx, first, end)
	}
	if p.e == nil {
		sums := p.sums.of(first, true, p.width())
		defer p.sums.end(first, p.width())
		for i := first; i < end; i++ {
			sums.Start()
			if err := p.results(sums, i, 1); err != nil {
				return err
			}
		}
		return nil
	}
	workers := p.e.Info().BatchWorkers
	x, err := p.embed(ctx, first, end, workers)
	if err != nil {
		return err
	}
	last := p.e.Len()
	return p.e.Each(ctx, p.k, engine.Request{Test: x, Workers: workers}, func(t *engine.Tile) error {
		panel := first + t.Column
		sums := p.sums.of(panel, t.First == 0, t.Width)
		if sums.Add(t.First, t.C); t.First+t.Rows < last {
			return nil
		}
		defer p.sums.end(panel, t.Width)
		return p.results(sums, panel, t.Cols)
	})
}

// results sets the decision values and predictions of documents from first on, from sums.
func (p *predicting) results(sums *solver.Sums, first, documents int) error {
	for r := range documents {
		sums.Result(r, p.out.Decisions[first+r])
		if err := p.decide(first + r); err != nil {
			return err
		}
	}
	p.report.Add(int64(documents))
	return nil
}

// decide computes the prediction of document i from its decision values.
func (p *predicting) decide(i int) error {
	c, out := &p.m.Classifier, p.out
	decisions := out.Decisions[i]
	if out.Probabilities != nil {
		if err := c.Probabilities(out.Probabilities[i], decisions); err != nil {
			return err
		}
	}
	switch {
	case out.Value != nil:
		out.Value[i] = decisions[0]
	case out.Labels != nil:
		out.Labels[i] = c.LabelsOf([]int{}, decisions)
	default:
		out.Class[i] = c.Decide(decisions)
		if out.Probabilities == nil {
			break
		}
		own := out.Probabilities[i]
		most := slices.Max(own)
		if own[out.Class[i]] < most {
			out.Class[i] = slices.Index(own, most)
		}
		if out.Rejected != nil {
			out.Rejected[i] = most < c.Rejection.MinProbability
		}
	}
	return nil
}
