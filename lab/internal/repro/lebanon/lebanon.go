// Package lebanon repeats §7 of Lebanon and Lafferty, Hyperplane Margin Classifiers on the
// Multinomial Manifold, ICML 2004. It compares spherical and Euclidean margins in logistic
// regression.
package lebanon

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/logistic"
	learntask "github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/sphere"
	"github.com/gramengine/gram/sparse"
)

// Experiment repeats Figure 4 of the paper.
var Experiment = repro.Experiment{
	Name:  "lebanon-lafferty",
	Paper: "Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML 2004, §5, §7",
	Data:  "webkb, reuters-modapte",
	Time:  "a few minutes on two cores",
	Help: `
Figure 4: test errors of logistic regression with spherical margins, and with Euclidean margins on
term frequencies normalised by L1 and L2, for a class of WebKB or a topic of Reuters-21578 against
the rest. Two controls that the paper lacks have Euclidean margins on the roots of L1-normalised
term frequencies, which are the points on the sphere: root with an offset, root0 without. Half of a
training set is of the class; a smaller set is part of a larger one. Paired t tests over the splits
compare each method with spherical margins. -report draws the curves.`,
	New: func() repro.Settings {
		return &settings{Sets: sets, Sizes: repro.Ints{40, 100, 200, 400}, C: repro.Numbers{1, 10, 100, 1000, 10000},
			Splits: 20, Folds: 3, Terms: repro.Terms{MinDF: 1}}
	},
}

type settings struct {
	Sets   repro.Words   `param:"sets" wants:"names of corpora" help:"corpora"`
	Sizes  repro.Ints    `param:"sizes" wants:"positive integers" help:"sizes of training sets"`
	C      repro.Numbers `param:"c" wants:"positive numbers" help:"values of C, chosen by cross-validation"`
	Splits int           `param:"splits" min:"2" help:"random splits of each task"`
	Folds  int           `param:"folds" min:"2" help:"folds of the cross-validation"`
	repro.Terms
}

var sets = repro.Words{repro.WebKB.Name, repro.Reuters.Name}

// classes lists the classes of each corpus. The paper doesn't name its topics of Reuters-21578. The
// eight topics listed are the most frequent.
var classes = map[string][]string{
	repro.WebKB.Name:   {"course", "faculty", "project", "student"},
	repro.Reuters.Name: {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship"},
}

// method describes a curve of Figure 4.
type method struct {
	name, embedding string
	spherical       bool // true for spherical margins
	origin          bool // true if the hyperplane contains the origin
}

// tolerance is the solver tolerance of all training runs.
const tolerance = 1e-3

// methods lists the curves of Figure 4. All other curves are compared with the first curve.
var methods = []method{
	{"spherical", "tf-l1-sqrt", true, false},
	{"L1", "tf-l1", false, false},
	{"L2", "tf-l2", false, false},
	{"root", "tf-l1-sqrt", false, false},
	{"root0", "tf-l1-sqrt", false, true},
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Run) (*repro.Report, error) {
	chosen, err := p.Sets.Of("sets", sets...)
	if err != nil {
		return nil, err
	}
	if p.Sizes[0] < 2*p.Folds {
		return nil, cli.Usagef("sizes must be at least %d for %d folds, got sizes=%s", 2*p.Folds, p.Folds, p.Sizes)
	}
	report := &repro.Report{}
	report.Set("training sets", "%s documents, half of them from the class, %d random splits", p.Sizes, p.Splits)
	report.Set("C", "%s, chosen by %d-fold cross-validation on the training documents", p.C, p.Folds)
	report.Set("terms", "%s", p.Terms)
	report.Set("seed", "%d", r.Seed)
	for _, name := range chosen {
		c, err := p.read(ctx, r, name)
		if err == nil {
			report.Set(name, "%d documents", c.Documents.Rows())
			err = p.corpus(ctx, r, name, c, report)
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// read reads a corpus and checks that each class has enough documents.
func (p *settings) read(ctx context.Context, r *repro.Run, name string) (c *corpus.Corpus, err error) {
	if name == repro.WebKB.Name {
		if err = r.Require(repro.WebKB); err == nil {
			c, _, err = r.ReadWebKB(ctx, p.Terms)
		}
	} else if err = r.Require(repro.Reuters); err == nil {
		c, _, err = r.ReadReuters(ctx, p.Terms)
	}
	if err != nil {
		return nil, err
	}
	for _, class := range classes[name] {
		count, most := 0, p.Sizes[len(p.Sizes)-1]
		for i := range c.Documents.Rows() {
			if repro.HasClass(c, i, class) {
				count++
			}
		}
		if others := c.Documents.Rows() - count; (most+1)/2 >= count || most/2 >= others {
			return nil, fmt.Errorf("%s: %d documents of %s and %d others are too few for training sets of %d", name,
				count, class, others, most)
		}
	}
	return c, nil
}

// corpus adds the table of a corpus, with a row for each class and size.
func (p *settings) corpus(ctx context.Context, r *repro.Run, name string, c *corpus.Corpus,
	report *repro.Report) error {
	step := r.Counter(name, len(methods)*len(classes[name])*p.Splits)
	var wrong [][][][]float64 // error rates, indexed by method, class, size and split
	for _, m := range methods {
		e, err := sparse.ParseEmbedding(m.embedding)
		if err != nil {
			return err
		}
		x, err := e.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, r.Threads())
		if err != nil {
			return err
		}
		var of [][][]float64
		for _, class := range classes[name] {
			found, err := p.task(ctx, r, newTask(c, x, class, m), report, step)
			if err != nil {
				return err
			}
			of = append(of, found)
		}
		wrong = append(wrong, of)
	}
	p.table(name, wrong, report)
	return nil
}

func (p *settings) table(name string, wrong [][][][]float64, report *repro.Report) {
	t := report.NewTable(name, fmt.Sprintf("%s: test error, mean ± standard deviation over %d splits, and p of paired t "+
		"tests against spherical", name, p.Splits), "class", ">L")
	for _, m := range methods {
		t.Columns = append(t.Columns, ">"+m.name)
	}
	t.Columns = append(t.Columns, "lowest")
	for _, m := range methods[1:] {
		t.Columns = append(t.Columns, ">p "+m.name)
	}
	better, worse := make([]int, len(methods)), make([]int, len(methods))
	for k, class := range classes[name] {
		curves := make([]repro.Curve, len(methods))
		for s, size := range p.Sizes {
			row, ps := []string{class, fmt.Sprint(size)}, []string(nil)
			lowest, least := "", 1.
			for i, m := range methods {
				measured := repro.Measure(wrong[i][k][s])
				if row = append(row, measured.Text(4)); lowest == "" || measured.Mean < least {
					lowest, least = m.name, measured.Mean
				}
				curves[i].Name, curves[i].SD = m.name, append(curves[i].SD, measured.SD)
				curves[i].Points = append(curves[i].Points, chart.Point{X: float64(size), Y: measured.Mean})
				if i == 0 {
					continue
				}
				test := repro.PairedT(wrong[0][k][s], wrong[i][k][s])
				if ps = append(ps, repro.Probability(test.P)); test.P < 0.05 && test.Statistic < 0 {
					better[i]++
				} else if test.P < 0.05 {
					worse[i]++
				}
			}
			t.Add(slices.Concat(row, []string{lowest}, ps)...)
		}
		report.Draw(name+", "+class+" against the rest", "training documents", "test error", curves...)
	}
	for i, m := range methods[1:] {
		report.Note("%s: spherical is better than %s in %d of %d rows and worse in %d (p < 0.05)", name, m.name,
			better[i+1], len(t.Rows), worse[i+1])
	}
}

// task is the classification of a class against the rest with one method.
type task struct {
	name     string
	docs     *sparse.CSR
	x        *sparse.Embedded // embedding of docs
	positive []bool           // true for documents of the class
	method
}

func newTask(c *corpus.Corpus, x *sparse.Embedded, class string, m method) *task {
	t := &task{class, c.Documents, x, make([]bool, c.Documents.Rows()), m}
	for i := range t.positive {
		t.positive[i] = repro.HasClass(c, i, class)
	}
	return t
}

// task returns the test error rates, indexed by size and split. Splits run in parallel.
func (p *settings) task(ctx context.Context, r *repro.Run, t *task, report *repro.Report, step func()) ([][]float64,
	error) {
	out := make([][]float64, len(p.Sizes))
	for s := range out {
		out[s] = make([]float64, p.Splits)
	}
	most := p.Sizes[len(p.Sizes)-1]
	err := run.Tasks(ctx, r.Threads(), p.Splits, func(ctx context.Context, _, n int) error {
		name, docs := fmt.Sprintf("%s/%d", t.name, n), run.Numbers(0, len(t.positive))
		positive, negative := repro.Split(r.Seed, name, docs, t.positive)
		test := slices.Concat(positive[(most+1)/2:], negative[most/2:])
		for s, size := range p.Sizes {
			train := slices.Concat(positive[:(size+1)/2], negative[:size/2])
			c, err := p.choose(ctx, t, train)
			if err != nil {
				return err
			}
			wrong, err := t.wrong(ctx, train, test, []float64{c})
			if err != nil {
				return err
			}
			out[s][n] = float64(wrong[0]) / float64(len(test))
		}
		step()
		return nil
	})
	report.Trainings += int64(p.Splits * len(p.Sizes) * (p.Folds*len(p.C) + 1))
	return out, err
}

// choose returns the C with the fewest cross-validation errors. Ties go to the smallest C.
func (p *settings) choose(ctx context.Context, t *task, train []int) (c float64, err error) {
	wrong := make([]int, len(p.C))
	for fold := range p.Folds {
		var rest, held []int
		for i, doc := range train { // the classes are contiguous, so cyclic folds are stratified
			if i%p.Folds == fold {
				held = append(held, doc)
			} else {
				rest = append(rest, doc)
			}
		}
		found, err := t.wrong(ctx, rest, held, p.C)
		if err != nil {
			return 0, err
		}
		for i, n := range found {
			wrong[i] += n
		}
	}
	return p.C[slices.Index(wrong, slices.Min(wrong))], nil
}

// wrong trains on train and returns the number of errors on test for each C.
func (t *task) wrong(ctx context.Context, train, test []int, c []float64) (wrong []int, err error) {
	positive := run.Pick(t.positive, train)
	var decisions [][]float64
	if t.spherical {
		decisions, err = t.onSphere(ctx, positive, train, test, c)
	} else {
		decisions, err = t.euclidean(ctx, positive, train, test, c)
	}
	for _, values := range decisions {
		n := 0
		for i, doc := range test {
			if (values[i] > 0) != t.positive[doc] {
				n++
			}
		}
		wrong = append(wrong, n)
	}
	return wrong, err
}

// onSphere trains with spherical margins. It returns the decision values of test documents for each
// C.
func (t *task) onSphere(
	ctx context.Context, positive []bool, train, test []int, c []float64,
) (out [][]float64, err error) {
	p, err := sphere.NewProblem(t.x, train)
	if err != nil {
		return nil, err
	}
	machines, err := p.Train(ctx, positive, c, sphere.Settings{Tolerance: tolerance}, 1)
	for _, m := range machines {
		out = append(out, m.Decisions(t.x, test))
	}
	return out, err
}

// euclidean is like onSphere, but with Euclidean margins. The norms of test documents include terms
// that occur in no training document.
func (t *task) euclidean(
	ctx context.Context, positive []bool, train, test []int, c []float64,
) (out [][]float64, err error) {
	labelled := &corpus.Corpus{Documents: t.docs.SelectRows(train), Classes: []string{"class", "others"}}
	for _, is := range positive {
		label := int32(1)
		if is {
			label = 0
		}
		labelled.Labels.Add(label)
	}
	s := logistic.Settings{NoBias: t.origin, Tolerance: tolerance}
	models, err := logistic.TrainPath(ctx, labelled, t.x.Embedder.Embedding, s, c, logistic.Options{Workers: 1})
	for _, m := range models {
		machine, weights := m.Functions[0], make([]float64, t.x.Cols)
		for k, term := range m.Embedder.Terms {
			at, _ := slices.BinarySearch(t.x.Embedder.Terms, term)
			weights[at] = machine.Weights[k]
		}
		values := make([]float64, len(test))
		for k, i := range test {
			terms, x := t.x.Row(i)
			values[k] = learntask.Dot(terms, x, weights)*t.x.Norms[i] + machine.Bias
		}
		out = append(out, values)
	}
	return out, err
}
