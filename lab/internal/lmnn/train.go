package lmnn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/run"
	"gonum.org/v1/gonum/mat"
)

// Initial and maximum number of iterations per round. Each round ends with an update of the list of
// pairs within reach, see findImpostors. The first rounds are short, because the metric changes
// most in the first rounds.
const (
	initialRoundIterations = 2
	maxRoundIterations     = 30
)

// Train learns a metric from a corpus of vectors. Documents that don't have exactly one class are
// ignored. Results are bit-identical for any number of workers. Training takes about ten rounds.
// The time per round is quadratic in the number of documents. Training needs memory for 21 dense
// float64 copies of the documents and 22 copies of L, plus 4 bytes per pair that violates a margin
// or nearly does.
//
// Train fails if settings are out of range. It fails if there are more than MaxColumns columns or
// fewer than two classes, or if no class has two documents. It also fails if memory is
// insufficient, and within a second after ctx is done.
func Train(ctx context.Context, c *corpus.Corpus, s Settings, o Options) (*Model, error) {
	p, m, by, err := prepare(ctx, c, s, o, 0)
	if err != nil {
		return nil, err
	}
	if err := p.minimise(ctx, m, o); err != nil {
		return nil, err
	}
	m.Transform = scaled(m.Transform, by)
	return m, nil
}

// prepare returns a problem, a model in which L is the identity matrix, and the factor by which the
// documents are scaled. The problem contains the documents with exactly one class. tests is the
// number of documents that are classified during training.
func prepare(
	ctx context.Context, c *corpus.Corpus, s Settings, o Options, tests int,
) (_ *problem, _ *Model, by float64, _ error) {
	fail := func(err error) (*problem, *Model, float64, error) { return nil, nil, 0, err }
	s, err := s.resolve()
	if err != nil {
		return fail(err)
	}
	if err := context.Cause(ctx); err != nil {
		return fail(err)
	}
	if name, twice := archive.FindDuplicate(c.Classes); twice {
		return fail(fmt.Errorf("lmnn: %s has two classes named %q", c.Source, name))
	}
	m := &Model{Settings: s, Source: c.Source, CorpusDigest: c.Digest(), Classes: c.Classes, Cols: c.Documents.Cols}
	if m.Cols > MaxColumns || m.Cols < 1 {
		return fail(fmt.Errorf("lmnn: number of columns must be between 1 and %d, got %d; reduce it with gram pca",
			MaxColumns, m.Cols))
	}
	rows, labels := singleLabel(c)
	m.Labels = labels
	most, classes := 0, map[int32]int{}
	for _, y := range labels {
		classes[y]++
		most = max(most, classes[y])
	}
	if len(classes) < 2 || most < 2 {
		return fail(fmt.Errorf("lmnn: training requires at least two classes, and a class with at least two documents, "+
			"got %d documents in %d classes", len(rows), len(classes)))
	}
	numbers := TrainBytes(len(rows), tests, m.Cols) / 8
	if err := o.checkMemory("a metric", numbers); err != nil {
		return fail(err)
	}
	m.Documents = toDense(c.Documents.SelectRows(rows), m.Cols)
	p := &problem{y: m.Labels, k: s.K, push: s.Push, workers: run.NumWorkers(o.Workers)}
	if o.MemoryBytes > 0 {
		p.maxPairs = (o.MemoryBytes-8*numbers)/8 + pairsPerDocument*int64(len(rows)) // append may double memory
	}
	unit := mat.NewDense(m.Cols, m.Cols, nil)
	for i := range m.Cols {
		unit.Set(i, i, 1)
	}
	p.x = toMatrix(m.Documents, m.Cols)
	if err := p.findTargets(ctx, p.x); err != nil {
		return fail(err)
	}
	m.Targets = p.targets
	by = p.scaleFactor()
	p.x.Scale(by, p.x)
	m.Transform = unit.RawMatrix().Data
	return p, m, by, nil
}

// singleLabel returns the indices and classes of the documents with exactly one class.
func singleLabel(c *corpus.Corpus) (rows []int, labels []int32) {
	for i := range c.Documents.Rows() {
		if of := c.Labels.Classes(i); len(of) == 1 {
			rows, labels = append(rows, i), append(labels, of[0])
		}
	}
	return rows, labels
}

func trainValueCount(rows, columns int) int64 {
	n, d := int64(rows), int64(columns)
	return n*d*(rangeCount+5) + d*d*(2*lbfgs.HistorySize+8)
}

// pairsPerDocument is the assumed number of pairs within reach (see findImpostors) per document.
const pairsPerDocument = 100

// TrainBytes returns the memory in bytes that Train or, if tests > 0, ChooseIterations needs. It
// assumes that 100 pairs per document violate a margin or nearly do.
func TrainBytes(documents, tests, columns int) int64 {
	numbers := trainValueCount(documents, columns)
	if tests > 0 {
		numbers += predictValueCount(documents, tests, columns)
	}
	return 8 * (numbers + pairsPerDocument*int64(documents))
}

func scaled(l []float64, by float64) []float64 {
	out := make([]float64, len(l))
	for i, v := range l {
		out[i] = by * v
	}
	return out
}

// scaleFactor returns the factor by which documents must be scaled so that the mean squared
// distance between documents and targets is 4. A margin of 1 is then neither negligible nor
// dominant.
func (p *problem) scaleFactor() float64 {
	sum, count := 0.0, 0.0
	for t, j := range p.targets {
		if j >= 0 {
			sum += squaredDistance(p.x.RawRowView(t/p.k), p.x.RawRowView(int(j)))
			count++
		}
	}
	if sum > 0 {
		return math.Sqrt(4 * count / sum)
	}
	return 1
}

// smoothingSchedule lists the values of problem.smoothing for successive optimisations. Without
// smoothing, L-BFGS would stop too early at kinks of ε.
var smoothingSchedule = []float64{1, 0.2, 0.05, 0.01, 0.002}

// minimise minimises ε, starting from m.Transform.
func (p *problem) minimise(ctx context.Context, m *Model, o Options) (err error) {
	gradient := make([]float64, len(m.Transform))
	exact := func() (float64, error) {
		p.smoothing = 0
		if _, err := p.findImpostors(ctx, m.Transform, 0); err != nil {
			return 0, err
		}
		return p.loss(ctx, m.Transform, gradient)
	}
	if m.InitialLoss, err = exact(); err != nil {
		return err
	}
	for _, p.smoothing = range smoothingSchedule {
		if err := p.runRounds(ctx, m, o); err != nil {
			return err
		}
	}
	m.Loss, err = exact()
	return err
}

// runRounds runs rounds of L-BFGS on the pairs within reach. If ε increases because of pairs that
// weren't within reach, the round is undone. The next rounds are then shorter and include more
// pairs.
func (p *problem) runRounds(ctx context.Context, m *Model, o Options) error {
	slack, most := 1.0, maxRoundIterations
	if m.Iterations == 0 {
		most = initialRoundIterations
	}
	near, err := p.findImpostors(ctx, m.Transform, slack)
	if err != nil {
		return err
	}
	gradient := make([]float64, len(m.Transform))
	if m.Loss, err = p.loss(ctx, m.Transform, gradient); err != nil {
		return err
	}
	for m.Iterations < m.Settings.Iterations {
		if o.Progress != nil {
			tell := func() error { o.Progress(m.Iterations, m.Settings.Iterations, m.Loss, near); return nil }
			if err := run.CatchPanic("lmnn: Options.Progress", tell); err != nil {
				return err
			}
		}
		next, done := slices.Clone(m.Transform), m.Iterations
		found, err := lbfgs.Minimise(ctx, p.loss, next, lbfgs.Criteria{
			MinDecrease: m.Settings.Tolerance / 10, MaxIterations: min(most, m.Settings.Iterations-m.Iterations),
			OnStep: func() { p.notify(ctx, done, next); done++ },
		})
		if err != nil {
			return err
		}
		if found.GradientNorm == 0 && found.Iterations > 0 {
			// With one column, a first step of length 1 can lead to L = 0, where the gradient is 0.
			// In this case, use L/2.
			for i, v := range m.Transform {
				next[i] = v / 2
			}
		}
		if near, err = p.findImpostors(ctx, next, slack); err != nil {
			return err
		}
		value, err := p.loss(ctx, next, gradient)
		if err != nil {
			return err
		}
		m.Iterations += max(found.Iterations, 1)
		gained := m.Loss - value
		if gained > 0 {
			m.Transform, m.Loss = next, value
		}
		switch {
		case gained > m.Settings.Tolerance*m.Loss:
			most = min(2*most, maxRoundIterations)
		case value == found.Value || most == 1:
			return nil // the loss has no terms from unlisted pairs, or rounds can't be shorter
		default:
			most, slack = max(most/2, 1), 2*slack
			if near, err = p.findImpostors(ctx, m.Transform, slack); err != nil {
				return err
			}
		}
	}
	return nil
}
