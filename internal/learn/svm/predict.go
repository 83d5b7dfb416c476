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

// Predictor predicts with a model. It may be used concurrently. Concurrent predictions call
// Options.Progress concurrently.
type Predictor struct {
	m   *model.Model
	opt Options
	k   kernel.Kernel
	p   *solver.Predictor // predictor from kernel values with the support vectors
	w   *Weights          // weights for inner products; nil if predictions use kernel values

	rows, columns int // for a precomputed kernel: documents per batch, and kernel values per document

	support *supportEngine // shared with predictors from WithHeldBytes
}

// NewPredictor embeds the support vectors of a model and makes an engine on them. If the kernel is
// an inner product and there is no device, it computes [Weights] instead of an engine, provided
// that memory suffices for weights and engine. It fails if the instruction set isn't supported, if
// the kernel is unknown or needs another embedding than the model's, if the support vectors of a
// precomputed kernel have no document indices, if more memory is needed than allowed, if the device
// fails, and within a second after ctx is done.
func NewPredictor(ctx context.Context, m *model.Model, opt Options) (*Predictor, error) {
	p := &Predictor{m: m, opt: opt, support: &supportEngine{}}
	k, err := p.kernel()
	if err != nil {
		return nil, err
	}
	p.k = kernel.Resolve(k, len(m.Embedder.Terms))
	columns := run.Range(0, m.Support.Rows())
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
		return p, p.setPrecomputed(loops)
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

// Close frees device memory. Close is idempotent. Predictions must not run during or after Close.
func (p *Predictor) Close() error {
	p.support.mu.Lock()
	defer p.support.mu.Unlock()
	if p.support.e == nil {
		return nil
	}
	e := p.support.e
	p.support.e = nil
	return e.Close()
}

// kernels returns the assembly kernels of an instruction set. For "" it returns the best kernels.
func kernels(isa string) (*asm.Kernels, error) {
	if isa == "" {
		return asm.BestKernels(), nil
	}
	return asm.KernelsFor(asm.ISA(isa))
}

// WithHeldBytes returns a predictor with the same engine, for another value of Options.HeldBytes.
func (p *Predictor) WithHeldBytes(bytes int64) *Predictor {
	q := *p
	q.opt.HeldBytes = bytes
	return &q
}

func (p *Predictor) Model() *model.Model { return p.m }

// Weights returns the weights that predictions use, or nil if predictions use kernel values.
func (p *Predictor) Weights() *Weights { return p.w }

func (p *Predictor) Kernel() kernel.Kernel { return p.k }

// chunkDocuments is the number of documents that a worker predicts at a time if there is no engine:
// several panels, but so few documents that workers finish at about the same time.
const chunkDocuments = 256

// Predict returns the predictions for documents. Terms must be numbered as in the training corpus.
// Unknown terms are ignored. If the kernel is precomputed, column j of the row of document x is
// K(x, xⱼ) for training document j. Results are bit-identical for any number of workers. It fails
// if the embedding rejects a value, if a row has the wrong number of kernel values, if more memory
// is needed than allowed, if the device fails, and within a second after ctx is done.
func (p *Predictor) Predict(ctx context.Context, docs *sparse.CSR) (*model.Prediction, error) {
	if p.rows > 0 {
		if err := p.checkColumns(docs); err != nil {
			return nil, err
		}
	}
	rows, err := p.rowsAtATime(docs)
	if err != nil {
		return nil, err
	}
	r := &predictionRun{Predictor: p, e: p.decisionEngine(), docs: docs, out: p.newPrediction(docs.Rows())}
	r.pool = sumPool{p: p.p, inUse: map[int]*solver.Accumulator{}, free: map[int][]*solver.Accumulator{}}
	ctx, r.report = startReporter(ctx, p.opt.Progress, "predicting", int64(docs.Rows()))
	err = r.run(ctx, rows)
	if r.report.Finish(&err); err != nil {
		return nil, err
	}
	return r.out, nil
}

// KernelRows returns the kernel values of documents (rows) with support vectors (columns). The
// result is nil if the model has no support vectors or has a precomputed kernel. It fails if
// [Predictor.SupportEngine] fails, if the embedding rejects a value, if more memory is needed than
// allowed, and when ctx is done.
func (p *Predictor) KernelRows(ctx context.Context, docs *sparse.CSR) (*engine.Dense, error) {
	e, err := p.SupportEngine(ctx)
	if e == nil || err != nil {
		return nil, err
	}
	x, err := p.m.Embedder.TransformRows(ctx, docs, run.Range(0, docs.Rows()), 1)
	if err != nil {
		return nil, err
	}
	return e.Rows(ctx, p.k, engine.Request{TestDocuments: x}, nil)
}

type predictionRun struct {
	*Predictor
	e      *engine.Engine // engine that computes kernel values, or nil
	docs   *sparse.CSR
	out    *model.Prediction
	report *run.Reporter
	pool   sumPool
}

func (p *predictionRun) run(ctx context.Context, rows int) error {
	n, atOnce := p.docs.Rows(), 1
	if p.rows > 0 || p.w != nil {
		atOnce = run.NumWorkers(p.opt.Workers)
	}
	if p.e != nil {
		atOnce = p.e.Info().ConcurrentBatches
	}
	var most atomic.Int64 // documents per chunk; halved if device memory doesn't suffice
	most.Store(int64(rows))
	return run.Tasks(ctx, atOnce, (n+rows-1)/rows, func(ctx context.Context, _, task int) error {
		first := task * rows
		for end := min(first+rows, n); first < end; {
			size := int(most.Load())
			to := min(first+size, end)
			err := p.predictChunk(ctx, first, to)
			if errors.Is(err, device.ErrMemory) && size > p.batchDocuments() {
				most.CompareAndSwap(int64(size), int64(max(size/2, p.batchDocuments())))
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

func (p *predictionRun) embed(ctx context.Context, first, end, workers int) (*sparse.Embedded, error) {
	return p.m.Embedder.TransformRows(ctx, p.docs, run.Range(first, end), workers)
}

// sumPool keeps the sums of unfinished panels of documents, indexed by first document.
type sumPool struct {
	p *solver.Predictor

	mu    sync.Mutex
	inUse map[int]*solver.Accumulator
	free  map[int][]*solver.Accumulator // unused sums for panels of each width
}

// get returns the sums of a panel of up to width documents. If begins is true, the sums are 0.
func (s *sumPool) get(panel int, begins bool, width int) *solver.Accumulator {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := s.inUse[panel]
	if free := s.free[width]; sums == nil && len(free) > 0 {
		sums, s.free[width] = free[len(free)-1], free[:len(free)-1]
	} else if sums == nil {
		sums = s.p.NewAccumulator(width)
	}
	s.inUse[panel] = sums
	if begins {
		sums.Reset()
	}
	return sums
}

func (s *sumPool) release(panel, width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[width] = append(s.free[width], s.inUse[panel])
	delete(s.inUse, panel)
}

// decisionEngine returns the engine whose kernel values predictions use, or nil.
func (p *Predictor) decisionEngine() *engine.Engine {
	if p.w != nil {
		return nil
	}
	return p.Engine()
}

func (p *Predictor) batchDocuments() int {
	if e := p.decisionEngine(); e != nil {
		return e.Info().Kernels.PanelWidth
	}
	return max(p.rows, 1)
}

func (p *Predictor) newPrediction(n int) *model.Prediction {
	rows := func(width int) [][]float64 {
		all := make([]float64, n*width)
		out := make([][]float64, n)
		for i := range out {
			out[i] = all[i*width : (i+1)*width : (i+1)*width]
		}
		return out
	}
	out := &model.Prediction{DecisionValues: rows(len(p.m.Classifier.Functions))}
	switch {
	case !p.m.Type.Classifies():
		out.Values = make([]float64, n)
	case p.m.Classifier.Scheme == solver.MultiLabel:
		out.Labels = make([][]int, n)
	default:
		out.ClassIndices = make([]int, n)
	}
	if p.m.Type.Classifies() && hasProbabilities(p.m) {
		out.Probabilities = rows(len(p.m.Classes))
		if p.m.Classifier.Rejection != nil {
			out.Rejected = make([]bool, n)
		}
	}
	return out
}

func hasProbabilities(m *model.Model) bool {
	some := false
	for _, machine := range m.Classifier.Functions {
		if machine != nil && machine.Sigmoid == nil {
			return false
		}
		some = some || machine != nil
	}
	return some
}

func (p *predictionRun) predictChunk(ctx context.Context, first, end int) error {
	if p.rows > 0 {
		return p.predictPrecomputed(ctx, first, end)
	}
	if p.w != nil {
		return p.predictByWeights(ctx, first, end)
	}
	if p.e == nil {
		sums := p.pool.get(first, true, p.batchDocuments())
		defer p.pool.release(first, p.batchDocuments())
		for i := first; i < end; i++ {
			sums.Reset()
			if err := p.setResults(sums, i, 1); err != nil {
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
	return p.e.EachTile(ctx, p.k, engine.Request{TestDocuments: x, Workers: workers}, func(t *engine.Tile) error {
		panel := first + t.FirstColumn
		sums := p.pool.get(panel, t.FirstRow == 0, t.Stride)
		if sums.Add(t.FirstRow, t.Values); t.FirstRow+t.Rows < last {
			return nil
		}
		defer p.pool.release(panel, t.Stride)
		return p.setResults(sums, panel, t.Cols)
	})
}

func (p *predictionRun) setResults(sums *solver.Accumulator, first, documents int) error {
	for r := range documents {
		sums.Result(r, p.out.DecisionValues[first+r])
		if err := p.decide(first + r); err != nil {
			return err
		}
	}
	p.report.Add(int64(documents))
	return nil
}

func (p *predictionRun) decide(i int) error {
	c, out := &p.m.Classifier, p.out
	decisions := out.DecisionValues[i]
	if out.Probabilities != nil {
		if err := c.Probabilities(out.Probabilities[i], decisions); err != nil {
			return err
		}
	}
	switch {
	case out.Values != nil:
		out.Values[i] = decisions[0]
	case out.Labels != nil:
		out.Labels[i] = c.PredictLabels([]int{}, decisions)
	default:
		out.ClassIndices[i] = c.PredictClass(decisions)
		if out.Probabilities == nil {
			break
		}
		own := out.Probabilities[i]
		most := slices.Max(own)
		if own[out.ClassIndices[i]] < most {
			out.ClassIndices[i] = slices.Index(own, most)
		}
		if out.Rejected != nil {
			out.Rejected[i] = most < c.Rejection.MinProbability
		}
	}
	return nil
}
