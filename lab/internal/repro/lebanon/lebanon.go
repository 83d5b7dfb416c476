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
	Name:    "lebanon-lafferty",
	Paper:   "Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML 2004, §5, §7",
	Corpora: "webkb, reuters-modapte",
	RunTime: "a few minutes on two cores",
	Help: `
Figure 4: test errors of logistic regression with spherical margins, and with Euclidean margins on
term frequencies normalised by L1 and L2, for a class of WebKB or a topic of Reuters-21578 against
the rest. Two controls that the paper lacks have Euclidean margins on the roots of L1-normalised
term frequencies, which are the points on the sphere: root with an offset, root0 without. Half of a
training set is of the class; a smaller set is part of a larger one. Paired t tests over the splits
compare each method with spherical margins. -report draws the curves.`,
	New: func() repro.Settings {
		return &settings{Sets: corpusNames, Sizes: repro.Ints{40, 100, 200, 400}, C: repro.Floats{1, 10, 100, 1000, 10000},
			SplitCount: 20, FoldCount: 3, TermSettings: repro.TermSettings{MinDF: 1}}
	},
}

type settings struct {
	Sets       repro.Words  `param:"sets" wants:"names of corpora" help:"corpora"`
	Sizes      repro.Ints   `param:"sizes" wants:"positive integers" help:"training set sizes"`
	C          repro.Floats `param:"c" wants:"positive numbers" help:"values of C to select from by cross-validation"`
	SplitCount int          `param:"splits" min:"2" help:"number of random splits per task"`
	FoldCount  int          `param:"folds" min:"2" help:"number of cross-validation folds"`
	repro.TermSettings
}

var corpusNames = repro.Words{repro.WebKB.Name, repro.Reuters.Name}

// classes lists the classes of each corpus. The paper doesn't name its topics of Reuters-21578. The
// eight topics listed are the most frequent.
var classes = map[string][]string{
	repro.WebKB.Name:   {"course", "faculty", "project", "student"},
	repro.Reuters.Name: {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship"},
}

// method describes a method of Figure 4 or a control.
type method struct {
	name, embedding string
	spherical       bool // true for spherical margins
	throughOrigin   bool // true if the hyperplane contains the origin
}

const tolerance = 1e-3

// methods lists Figure 4's methods and two controls. All other methods are compared with the first.
var methods = []method{
	{"spherical", "tf-l1-sqrt", true, false},
	{"L1", "tf-l1", false, false},
	{"L2", "tf-l2", false, false},
	{"root", "tf-l1-sqrt", false, false},
	{"root0", "tf-l1-sqrt", false, true},
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	chosen, err := p.Sets.Select("sets", corpusNames...)
	if err != nil {
		return nil, err
	}
	if p.Sizes[0] < 2*p.FoldCount {
		return nil, cli.Usagef("sizes must be at least %d for %d folds, got sizes=%s", 2*p.FoldCount, p.FoldCount, p.Sizes)
	}
	report := &repro.Report{}
	report.AddSetting("training sets", "%s documents, half of them from the class, %d random splits", p.Sizes,
		p.SplitCount)
	report.AddSetting("C", "%s, chosen by %d-fold cross-validation on the training documents", p.C, p.FoldCount)
	report.AddSetting("terms", "%s", p.TermSettings)
	report.AddSetting("seed", "%d", r.Seed)
	for _, name := range chosen {
		c, err := p.read(ctx, r, name)
		if err == nil {
			report.AddSetting(name, "%d documents", c.Documents.Rows())
			err = p.measureCorpus(ctx, r, name, c, report)
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// read reads the corpus called name and checks that each class has enough documents.
func (p *settings) read(ctx context.Context, r *repro.Env, name string) (c *corpus.Corpus, err error) {
	if name == repro.WebKB.Name {
		if err = r.Require(repro.WebKB); err == nil {
			c, _, err = r.ReadWebKB(ctx, p.TermSettings)
		}
	} else if err = r.Require(repro.Reuters); err == nil {
		c, _, err = r.ReadReuters(ctx, p.TermSettings)
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

func (p *settings) measureCorpus(ctx context.Context, r *repro.Env, name string, c *corpus.Corpus,
	report *repro.Report) error {
	step := r.ProgressCounter(name, len(methods)*len(classes[name])*p.SplitCount)
	var wrong [][][][]float64 // error rates, indexed by method, class, size and split
	for _, m := range methods {
		e, err := sparse.ParseEmbedding(m.embedding)
		if err != nil {
			return err
		}
		x, err := e.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, r.NumWorkers())
		if err != nil {
			return err
		}
		var of [][][]float64
		for _, class := range classes[name] {
			found, err := p.measureTask(ctx, r, newTask(c, x, class, m), report, step)
			if err != nil {
				return err
			}
			of = append(of, found)
		}
		wrong = append(wrong, of)
	}
	p.addTable(name, wrong, report)
	return nil
}

func (p *settings) addTable(name string, wrong [][][][]float64, report *repro.Report) {
	t := report.AddTable(name, fmt.Sprintf("%s: test error, mean ± standard deviation over %d splits, and p of paired t "+
		"tests against spherical", name, p.SplitCount), "class", ">L")
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
				measured := repro.Summarise(wrong[i][k][s])
				if row = append(row, measured.Text(4)); lowest == "" || measured.Mean < least {
					lowest, least = m.name, measured.Mean
				}
				curves[i].Name, curves[i].SD = m.name, append(curves[i].SD, measured.SD)
				curves[i].Points = append(curves[i].Points, chart.Point{X: float64(size), Y: measured.Mean})
				if i == 0 {
					continue
				}
				test := repro.PairedTTest(wrong[0][k][s], wrong[i][k][s])
				if ps = append(ps, repro.FormatPValue(test.PValue)); test.PValue < 0.05 && test.Statistic < 0 {
					better[i]++
				} else if test.PValue < 0.05 {
					worse[i]++
				}
			}
			t.AddRow(slices.Concat(row, []string{lowest}, ps)...)
		}
		report.AddChart(name+", "+class+" against the rest", "training documents", "test error", curves...)
	}
	for i, m := range methods[1:] {
		report.AddNote("%s: spherical is better than %s in %d of %d rows and worse in %d (p < 0.05)", name, m.name,
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

// measureTask returns the test error rates, indexed by size and split. Splits run in parallel.
func (p *settings) measureTask(ctx context.Context, r *repro.Env, t *task, report *repro.Report,
	step func()) ([][]float64,
	error) {
	out := make([][]float64, len(p.Sizes))
	for s := range out {
		out[s] = make([]float64, p.SplitCount)
	}
	most := p.Sizes[len(p.Sizes)-1]
	err := run.Tasks(ctx, r.NumWorkers(), p.SplitCount, func(ctx context.Context, _, n int) error {
		name, docs := fmt.Sprintf("%s/%d", t.name, n), run.Range(0, len(t.positive))
		positive, negative := repro.SplitByClass(r.Seed, name, docs, t.positive)
		test := slices.Concat(positive[(most+1)/2:], negative[most/2:])
		for s, size := range p.Sizes {
			train := slices.Concat(positive[:(size+1)/2], negative[:size/2])
			c, err := p.chooseC(ctx, t, train)
			if err != nil {
				return err
			}
			wrong, err := t.errorCounts(ctx, train, test, []float64{c})
			if err != nil {
				return err
			}
			out[s][n] = float64(wrong[0]) / float64(len(test))
		}
		step()
		return nil
	})
	report.ClassifierCount += int64(p.SplitCount * len(p.Sizes) * (p.FoldCount*len(p.C) + 1))
	return out, err
}

// chooseC returns the C with the fewest cross-validation errors. Ties go to the smallest C.
func (p *settings) chooseC(ctx context.Context, t *task, train []int) (c float64, err error) {
	wrong := make([]int, len(p.C))
	for fold := range p.FoldCount {
		var rest, held []int
		for i, doc := range train { // documents are sorted by class, so cyclic folds are stratified
			if i%p.FoldCount == fold {
				held = append(held, doc)
			} else {
				rest = append(rest, doc)
			}
		}
		found, err := t.errorCounts(ctx, rest, held, p.C)
		if err != nil {
			return 0, err
		}
		for i, n := range found {
			wrong[i] += n
		}
	}
	return p.C[slices.Index(wrong, slices.Min(wrong))], nil
}

// errorCounts trains on train, and returns the number of errors on test for each C.
func (t *task) errorCounts(ctx context.Context, train, test []int, c []float64) (errorCounts []int, err error) {
	positive := run.Select(t.positive, train)
	var decisions [][]float64
	if t.spherical {
		decisions, err = t.sphericalDecisions(ctx, positive, train, test, c)
	} else {
		decisions, err = t.euclideanDecisions(ctx, positive, train, test, c)
	}
	for _, values := range decisions {
		n := 0
		for i, doc := range test {
			if (values[i] > 0) != t.positive[doc] {
				n++
			}
		}
		errorCounts = append(errorCounts, n)
	}
	return errorCounts, err
}

// sphericalDecisions trains with spherical margins. It returns the decision values of test
// documents for each C.
func (t *task) sphericalDecisions(
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

// euclideanDecisions is like sphericalDecisions, but with Euclidean margins. The norms of test
// documents include terms that occur in no training document.
func (t *task) euclideanDecisions(
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
	s := logistic.Settings{NoBias: t.throughOrigin, Tolerance: tolerance}
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
