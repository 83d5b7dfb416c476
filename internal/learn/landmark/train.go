package landmark

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/dense"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// minPivotFraction is the minimum fraction of a landmark's squared norm that must remain after
// eliminating the previous landmarks. Kernel values have errors of about 10⁻⁶, and the remainder of
// a near copy has about four times this error.
const minPivotFraction = 1e-5

// Train trains a model. For errors, see package task.
func Train(ctx context.Context, c *corpus.Corpus, s Settings, opt Options) (*Model, error) {
	models, err := TrainPath(ctx, c, s, nil, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath trains a model for each C in cValues, which must be ascending, with the same landmarks.
// If cValues is nil, C is Settings.C. With the squared loss, all classifiers share each pass over
// the documents. With other losses, each classifier warm-starts from the next smaller C.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, s Settings, cValues []float64, opt Options,
) ([]*Model, error) {
	t, err := newTraining(ctx, c, s, cValues, opt)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	defer t.e.Close()
	columns, err := t.fit(ctx)
	if err != nil {
		return nil, err
	}
	return t.models(ctx, columns)
}

type training struct {
	c       *corpus.Corpus
	s       Settings
	k       kernel.Kernel
	opt     Options
	config  dense.Config
	cValues []float64
	rows    []int            // indices of the training documents
	x       *sparse.Embedded // embedded training documents

	landmarks []int // landmarks, as indices into rows
	e         *engine.Engine
	matrix    *engine.CrossMatrix
	factor    *dense.Matrix // Cholesky factor of k + 1 on the landmarks
	passes    int

	gradientRequest *Request  // request of the last gradients
	gradientColumns []*column // columns of gradientRequest
}

func newTraining(
	ctx context.Context, c *corpus.Corpus, s Settings, cValues []float64, opt Options,
) (*training, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if cValues == nil {
		cValues = []float64{s.C}
	}
	if err := task.CheckCValues(cValues); err != nil {
		return nil, fmt.Errorf("landmark: %w", err)
	}
	t := &training{c: c, s: s, opt: opt, cValues: cValues}
	if t.config, err = opt.config(); err != nil {
		return nil, err
	}
	if t.rows, err = task.TrainingRows(ctx, c, sparse.Embedding{}, s.Scheme); err != nil { // any embedding is allowed
		return nil, fmt.Errorf("landmark: %w", err)
	}
	for _, i := range t.rows {
		if own := len(c.Labels.Classes(i)); own > 1 && s.Scheme != solver.MultiLabel {
			return nil, fmt.Errorf("landmark: document %d of %s has %d classes, which requires scheme \"labels\"",
				c.DocumentNumber(i), c.Source, own)
		}
	}
	t.s.Landmarks = min(s.Landmarks, len(t.rows))
	err = run.CheckMemory(t.bytes(), opt.memoryLimit(),
		"landmark: training with %d landmarks on %d documents with %d values in total",
		t.s.Landmarks, len(t.rows), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	embedder := k.Embedding().Fit(c.Documents)
	t.k = kernel.Resolve(k, len(embedder.Terms))
	if err := opt.reportProgress(run.Progress{Stage: "embedding"}); err != nil {
		return nil, err
	}
	t.x, err = embedder.TransformRows(ctx, c.Documents, t.rows, t.config.Workers)
	return t, err
}

func (o Options) memoryLimit() int64 {
	if o.MemoryBytes > 0 {
		return o.MemoryBytes
	}
	left, _ := run.AvailableBytes()
	return left
}

func (o Options) config() (dense.Config, error) {
	do := dense.Config{Kernels: asm.BestKernels(), Workers: run.NumWorkers(o.Workers)}
	if o.ISA == "" {
		return do, nil
	}
	var err error
	if do.Kernels, err = asm.KernelsFor(asm.ISA(o.ISA)); err != nil {
		err = fmt.Errorf("landmark: %w", err)
	}
	return do, err
}

// numFunctions returns the number of binary classifiers to train. It is the number of classes, but
// 1 for two exclusive classes, because the second classifier is the negated first.
func (t *training) numFunctions() int {
	if len(t.c.Classes) == 2 && t.s.Scheme != solver.MultiLabel {
		return 1
	}
	return len(t.c.Classes)
}

func (t *training) bytes() int64 {
	s := t.c.Size()
	s.Documents, s.Classes = len(t.rows), t.numFunctions()
	return TrainBytes(s, t.s, len(t.cValues), t.config.Workers)
}

// TrainBytes returns an upper bound in bytes on the memory of training in addition to the corpus:
// embedded documents, landmark matrices, the vectors of the optimisation, and the buffers of a
// pass. It doesn't include stored kernel rows.
func TrainBytes(s corpus.Size, q Settings, numC, workers int) int64 {
	n, m, p := int64(s.Documents), int64(min(max(q.Landmarks, 1), s.Documents)), int64(s.Classes)
	if q.Loss == SquaredError {
		p *= int64(numC)
	}
	values := (s.Values/max(n, 1) + 1) * m
	need := sparse.EmbeddedBytes(int(n), s.Values) + engine.MaxEngineBytes(int(m), s.Terms+1, values) + 4*m*m +
		dense.Bytes(int(m))*int64(numC+1) + 8*m*p*(12+5*int64(run.NumWorkers(workers)+1)) + 64<<20
	if q.Loss != SquaredError {
		need += 4 * n * p
	}
	return need
}

func (o Options) reportProgress(p run.Progress) error {
	if o.Progress == nil {
		return nil
	}
	return run.CatchPanic("landmark: Options.Progress", func() error { o.Progress(p); return nil })
}

func (t *training) embed(ctx context.Context, at []int) (*sparse.Embedded, error) {
	docs := make([]int, len(at))
	for i, row := range at {
		docs[i] = t.rows[row]
	}
	return t.x.Embedder.TransformRows(ctx, t.c.Documents, docs, t.config.Workers)
}

func (t *training) newEngine(ctx context.Context, x *sparse.Embedded) (*engine.Engine, error) {
	o := engine.Options{ISA: t.opt.ISA, Workers: t.config.Workers}
	if f := t.opt.Progress; f != nil {
		o.Progress = func(p engine.Progress) {
			f(run.Progress{Stage: fmt.Sprintf("pass %d", t.passes+1), Done: p.Done, Total: p.Total})
		}
	}
	return engine.NewContext(ctx, x, o)
}

func (t *training) prepare(ctx context.Context) error {
	if err := t.opt.reportProgress(run.Progress{Stage: "landmarks"}); err != nil {
		return err
	}
	chosen := Choose(len(t.rows), t.s.Landmarks, t.s.Seed)
	if err := t.setLandmarks(ctx, chosen); err != nil {
		return err
	}
	g, err := t.e.Gram(ctx, t.k, nil)
	if err != nil {
		return err
	}
	t.factor = dense.New(len(chosen))
	for i := range chosen {
		row := t.factor.Row(i)
		for j, v := range g.Row(i) {
			row[j] = float64(v) + 1
		}
	}
	kept, err := t.factor.Cholesky(ctx, t.config, minPivotFraction)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return fmt.Errorf("landmark: kernel must be positive definite, but k(x, x) + 1 of %s is not positive on the "+
			"landmarks", t.k)
	}
	if len(kept) < len(chosen) {
		some := make([]int, len(kept))
		for i, k := range kept {
			some[i] = chosen[k]
		}
		if err := t.e.Close(); err != nil {
			return err
		}
		if err := t.setLandmarks(ctx, some); err != nil {
			return err
		}
	}
	t.matrix, err = t.e.CrossMatrix(t.k, t.x, t.storageLimit())
	return err
}

func (t *training) setLandmarks(ctx context.Context, chosen []int) error {
	z, err := t.embed(ctx, chosen)
	if err != nil {
		return err
	}
	t.landmarks = chosen
	t.e, err = t.newEngine(ctx, z)
	return err
}

const defaultStorageBytes = 1 << 30

// storageLimit returns the limit on stored kernel rows in bytes. It is 90% of the memory limit's
// remainder, because the garbage collector frees memory late. Without a memory limit it is half of
// the available memory, or defaultStorageBytes if the available memory is unknown.
func (t *training) storageLimit() (bytes int64) {
	if t.opt.MemoryBytes > 0 {
		bytes = max(t.opt.MemoryBytes-t.bytes(), 0) / 10 * 9
	} else if left, known := run.AvailableBytes(); known {
		bytes = max(left-t.bytes(), 0) / 2
	} else {
		bytes = defaultStorageBytes
	}
	return bytes
}

func (t *training) models(ctx context.Context, columns []*column) ([]*Model, error) {
	residual, err := t.residual(ctx)
	if err != nil {
		return nil, err
	}
	docs := make([]int, len(t.landmarks))
	for i, at := range t.landmarks {
		docs[i] = t.rows[at]
	}
	landmarks, origin := t.c.Documents.SelectRows(docs), archive.OriginOf(t.c, t.c.Digest())
	origin.NumDocuments = len(t.rows)
	var out []*Model
	for which, penalty := range t.cValues {
		m := &Model{
			Origin: origin, Settings: t.s, Passes: t.passes, Residual: residual,
			Embedder: kernel.OpenEmbedder(t.k, t.x.Embedder, t.c.Vocabulary), Landmarks: landmarks,
		}
		m.Settings.C = penalty
		for _, c := range columns {
			if c.indexOfC == which {
				machine, err := t.decisionFunction(ctx, c)
				if err != nil {
					return nil, err
				}
				m.Functions = append(m.Functions, machine)
			}
		}
		if len(m.Functions) == 1 && len(m.Classes) == 2 {
			m.Functions = append(m.Functions, m.Functions[0].negated())
		}
		out = append(out, m)
	}
	return out, nil
}

func (t *training) decisionFunction(ctx context.Context, c *column) (*DecisionFunction, error) {
	m := &DecisionFunction{
		Coefficients: slices.Clone(c.u), Objective: c.objective, Gap: c.gap, GradientNorm: c.gradientNorm,
		Steps: c.steps, Converged: c.converged,
	}
	if err := t.factor.BackSolve(ctx, t.config, m.Coefficients); err != nil {
		return nil, err
	}
	for _, a := range m.Coefficients {
		m.Bias += a
	}
	return m, nil
}
