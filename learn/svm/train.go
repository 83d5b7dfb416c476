package svm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Report says how a training went.
type Report struct {
	Machines   int // how many machines there are
	Support    int // different support vectors
	Bounded    int // coefficients at their bound, over all machines
	Iterations int64
	Unfinished int     // machines that didn't reach the tolerance
	Objective  float64 // sum over the machines
	Gap        float64 // the greatest of the machines

	Gram  time.Duration // computing tiles before the solver began
	Solve time.Duration // the solver, with the rows it asked for

	Thresholds *solver.Thresholds // of labels, where Settings ask for them

	Warnings []string // what deserves notice, in sentences without a full stop
}

// Train trains a model. It computes the tiles first where the whole matrix fits into memory,
// otherwise as they are asked for.
//
// The result has the same bits from any number of workers and from run to run with the same
// settings and memory. Errors: a kernel of another embedding, labels that don't suit the type,
// documents of one class only, parameters out of range, the end of ctx.
func (p *Problem) Train(ctx context.Context, s Settings) (*model.Model, *Report, error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	s, err := p.withKernel(s).resolve()
	if err != nil {
		return nil, nil, err
	}
	rows, err := p.rowsFor(Task{Settings: s})
	if err != nil {
		return nil, nil, err
	}
	report := &Report{Warnings: p.before(&s)}
	c, err := p.trainWith(ctx, engine.Resolve(s.Kernel, p.Terms()), &s, nil, rows, report)
	if err != nil {
		return nil, nil, err
	}
	report.Thresholds = c.Thresholds
	out := p.model(c, &s)
	report.count(c, out)
	report.Warnings = append(report.Warnings, p.after(report)...)
	return out, report, nil
}

// trainWith trains the machines, or only some of them where these aren't nil, on a matrix that is
// computed first where it fits into memory and most of it is looked at.
func (p *Problem) trainWith(
	ctx context.Context, k engine.Kernel, s *Settings, only []int, rows int64, report *Report,
) (*solver.Classifier, error) {
	begin := time.Now()
	docs := p.few(k, s, only) // that the matrix has; nil for all
	m, free, err := p.matrix(ctx, k, docs)
	if err != nil {
		return nil, err
	}
	defer free()
	report.Gram = time.Since(begin)
	opt := p.solverOptions(s)
	opt.RowBytes = rows
	begin = time.Now()
	p.training.Store(true)
	defer p.training.Store(false)
	c, err := p.classifier(ctx, m, s, only, docs, opt)
	report.Solve = time.Since(begin)
	return c, err
}

// matrix returns the matrix of a kernel to train on, of some documents where these aren't nil, computed
// where all of it fits into memory, and a function that frees it.
func (p *Problem) matrix(ctx context.Context, k engine.Kernel, docs []int) (solver.Matrix, func(), error) {
	keep := func() {}
	if docs != nil {
		g, err := p.Engine().GramOf(ctx, k, docs)
		if err != nil {
			return nil, nil, err
		}
		m, err := solver.NewDense(g.N, g.Data)
		return m, keep, err
	}
	if m, err := p.elsewhere(ctx, k, nil); m != nil || err != nil {
		return m, keep, err
	}
	if p.opt.Once {
		ready, err := p.cached.Ready(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		if ready != nil {
			m, err := solver.NewDense(ready.N, ready.Data)
			return m, ready.Close, err // the next training has its room
		}
	}
	m, err := p.cached.Matrix(k)
	if err != nil {
		return nil, nil, err
	}
	return m, keep, p.cached.Build(ctx)
}

// classes returns what the solver trains on where a type tells classes apart.
func (p *Problem) classes(s *Settings) (t solver.Training, err error) {
	t = solver.Training{Classes: len(p.corpus.classes), Scheme: s.Scheme, Alone: s.Alone}
	if t.Parameters, err = p.parameters(s); err != nil {
		return t, err
	}
	if s.Scheme != solver.Labels {
		t.Labels, err = p.single()
		return t, err
	}
	t.Sets = p.several()
	if s.Thresholds {
		f, err := p.fold(s, ChoiceFolds, s.Seed, false)
		if err != nil {
			return t, err
		}
		t.Parts = f.parts
	}
	return t, nil
}

// classifier trains the machines of a type, only some of classes where these aren't nil, on a matrix
// of docs where these aren't nil.
func (p *Problem) classifier(
	ctx context.Context, m solver.Matrix, s *Settings, only, docs []int, opt solver.Options,
) (*solver.Classifier, error) {
	if s.Type.Classifies() {
		t, err := p.classes(s)
		if err != nil {
			return nil, err
		}
		if t.Only = only; docs != nil {
			return p.trainFew(ctx, m, t, docs, opt)
		}
		return solver.Train(ctx, m, t, opt)
	}
	all := sequence(0, p.Len())
	var machine *solver.Machine
	var err error
	if s.Type == model.OneClass {
		machine, err = solver.TrainOneClass(ctx, m, all, s.Nu, opt)
	} else {
		t := solver.RegressionTraining{Docs: all, Regression: solver.Regression{C: s.C, Epsilon: s.Epsilon, Nu: s.Nu}}
		if t.Targets, err = p.targets(); err != nil {
			return nil, err
		}
		machine, err = solver.TrainRegression(ctx, m, t, opt)
	}
	if err != nil {
		return nil, err
	}
	return &solver.Classifier{Scheme: solver.OneVsRest, Classes: 1, Machines: []*solver.Machine{machine}}, nil
}

// parameters translates settings for the solver: weights go by number of the class instead of its
// name.
func (p *Problem) parameters(s *Settings) (solver.Parameters, error) {
	par := solver.Parameters{C: s.C, Nu: s.Nu, Probabilities: s.Probabilities, Seed: s.Seed}
	weights := p.weights(s)
	if len(weights) == 0 {
		return par, nil
	}
	par.Weights = slices.Repeat([]float64{1}, len(p.corpus.classes))
	for name, w := range weights {
		c := slices.Index(p.corpus.classes, name)
		if c < 0 {
			return par, fmt.Errorf("svm: a weight for class %q, which %s doesn't have", name, p.corpus.source)
		}
		par.Weights[c] = w
	}
	return par, nil
}

// weights are the multiples of C of settings.
func (p *Problem) weights(s *Settings) map[string]float64 {
	if !s.Balanced {
		return s.Weights
	}
	documents := make([]int, len(p.corpus.classes))
	n := 0
	for i := range p.Len() {
		own := p.corpus.labels.Of(i)
		if len(own) > 0 || s.Scheme == solver.Labels {
			n++
		}
		for _, c := range own {
			documents[c]++
		}
	}
	out := map[string]float64{}
	for c, of := range documents {
		switch {
		case of == 0 || of == n:
		case s.Scheme == solver.OneVsOne:
			out[p.corpus.classes[c]] = float64(n) / (float64(len(documents)) * float64(of))
		default:
			out[p.corpus.classes[c]] = float64(n-of) / float64(of)
		}
		if own, ok := s.Weights[p.corpus.classes[c]]; ok { // given beside
			out[p.corpus.classes[c]] = own
		}
	}
	return out
}

// model puts a classifier together with all that a prediction needs.
func (p *Problem) model(c *solver.Classifier, s *Settings) *model.Model {
	rows := c.Support()
	at := make(map[int]int, len(rows))
	out := &model.Model{
		Type: s.Type, Kernel: engine.Resolve(s.Kernel, p.Terms()).String(),
		Settings: model.Settings{
			C: s.C, Nu: s.Nu, Epsilon: s.Epsilon, Weights: p.weights(s), Tolerance: s.Tolerance,
			Probabilities: s.Probabilities, Thresholds: s.Thresholds, Seed: s.Seed,
		},
		Source: p.corpus.source, Corpus: p.corpus.digest, Documents: p.Len(),
		Vocabulary: p.corpus.vocabulary, Tokenizer: p.corpus.tokenizer, Embedder: p.x.Embedder,
		Support: p.raw(rows), SupportDoc: make([]int64, len(rows)), SupportClass: make([]int32, len(rows)),
		Classifier: solver.Classifier{
			Scheme: c.Scheme, Classes: c.Classes, Machines: make([]*solver.Machine, len(c.Machines)),
			AtLeastOne: c.AtLeastOne,
		},
	}
	if s.Type.Classifies() {
		out.Classes = p.corpus.classes
	}
	for k, i := range rows {
		at[i] = k
		out.SupportDoc[k], out.SupportClass[k] = int64(p.corpus.order[i]), -1
		if ids := p.corpus.labels.Of(i); s.Type.Classifies() && len(ids) == 1 {
			out.SupportClass[k] = ids[0]
		}
	}
	for i, machine := range c.Machines {
		if machine == nil {
			continue
		}
		own := *machine
		own.Support = make([]int, len(machine.Support))
		for t, row := range machine.Support {
			own.Support[t] = at[row]
		}
		out.Classifier.Machines[i] = &own
	}
	return out
}

// raw returns documents of the problem as the corpus had them, without values that the embedding
// leaves out.
func (p *Problem) raw(rows []int) *sparse.CSR {
	var most int64 // in room of the right size: lists that grow would take twice as much
	for _, i := range rows {
		most += p.x.Offsets[i+1] - p.x.Offsets[i]
	}
	out := &sparse.CSR{
		Cols: p.corpus.cols, Offsets: make([]int64, 1, len(rows)+1), Terms: make([]uint32, 0, most),
		Values: make([]float32, 0, most), Views: p.x.Embedder.Views,
	}
	for _, i := range rows {
		out.Terms, out.Values = p.x.AppendRaw(i, out.Terms, out.Values)
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}

// count adds up what the machines report.
func (r *Report) count(c *solver.Classifier, m *model.Model) {
	r.Support = m.Support.Rows()
	for _, machine := range c.Machines {
		if machine == nil {
			continue
		}
		r.Machines++
		r.Bounded += machine.Bounded
		r.Iterations += int64(machine.Iterations)
		r.Objective += machine.Objective
		r.Gap = max(r.Gap, machine.Gap)
		if !machine.Converged {
			r.Unfinished++
		}
	}
}

// before lists warnings about a problem and its settings.
func (p *Problem) before(s *Settings) (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if known := engine.PropertiesOf(s.Kernel); known.Doubtful() != "" {
		switch {
		case known.Definite != engine.ConditionallyPositive:
			warn(
				"the kernel %s need not be positive definite (%s): training may end at a solution that isn't optimal",
				s.Kernel, known.Doubtful(),
			)
		case s.Type == model.OneClass:
			warn(
				"the kernel %s is conditionally positive definite only, and the coefficients of a machine of one "+
					"class don't add to 0: training may end at a solution that isn't optimal",
				s.Kernel,
			)
		default:
			warn(
				"the kernel %s is conditionally positive definite only, which is enough: the coefficients of a "+
					"machine add to 0",
				s.Kernel,
			)
		}
	}
	if s.Type != model.OneClass && s.Scheme != solver.Labels {
		if n := p.unlabelled(); n > 0 {
			warn("%d documents without a label are left out", n)
		}
	}
	if n := p.Empty(); n > 0 && p.values == nil {
		warn("%d documents have no terms that the embedding keeps: they are all the same to the kernel", n)
	}
	if p.opt.Store != nil && !p.cached.Whole() {
		n := int64(p.Len())
		warn(
			"no tile files are read or written: the whole matrix, %s, doesn't fit into the %s that there are for it",
			run.FormatBytes(4*n*n), run.FormatBytes(p.budget.tiles),
		)
	}
	return warnings
}

// after lists warnings about a training that has ended.
func (p *Problem) after(r *Report) (warnings []string) {
	if r.Unfinished > 0 {
		warnings = append(
			warnings,
			fmt.Sprintf(
				"%d of %d machines ended before they reached the tolerance, the greatest gap is %.3g", r.Unfinished,
				r.Machines, r.Gap,
			),
		)
	}
	c := p.Cache()
	if c.Damaged > 0 {
		warnings = append(warnings, fmt.Sprintf("%d tile files were damaged and have been computed again", c.Damaged))
	}
	if c.StoreErr != nil {
		warnings = append(warnings, fmt.Sprintf("%d tile files were written, then no more: %v", c.Saved, c.StoreErr))
	}
	return warnings
}

// unlabelled counts the documents without a label.
func (p *Problem) unlabelled() (n int) {
	for i := range p.Len() {
		if len(p.corpus.labels.Of(i)) == 0 {
			n++
		}
	}
	return n
}
