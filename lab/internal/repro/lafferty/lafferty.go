// Package lafferty repeats §5 of Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds,
// JMLR 6 (2005): the diffusion kernel against linear and Gaussian ones.
//
// Tables 1 to 4 are test errors of machines of two classes over random splits, by size of the
// training set. data.go reads the corpora and makes the tasks, splits.go draws training sets,
// curves.go trains and tests on all splits of all tasks with one matrix, measure.go goes through
// features, kernels and scales, and tables.go chooses scale and C and makes tables and figures.
// Tables 5 and 6 are the ten topics of the ModApte split: modapte.go trains and tests,
// modapte_tables.go makes the tables. printed.go has what the paper prints, agreement.go compares.
// geometry.go draws Figures 1 to 4.
//
// The kernels of one embedding are mapped from the same values of c = 1 - cosine, which pairs.go
// keeps.
package lafferty

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/gramengine/gram/lab/internal/repro"
)

// name is the experiment's name.
const name = "lafferty-lebanon"

// Experiment is §5 of the first paper on the diffusion kernel.
var Experiment = repro.Experiment{
	Name:   name,
	Paper:  "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §5",
	Data:   "webkb, reuters-modapte",
	Time:   "four minutes of processor time, so two on two cores",
	Curves: true,
	Help: `
Test errors of support vector machines with linear, Gaussian and diffusion kernels: on WebKB and on
Reuters-21578 over random splits (Tables 1 to 4), and on its ModApte split (Tables 5 and 6).

Tables 1 to 4 are test errors of support vector machines of two classes, over 20 random splits.
  1, 2  WebKB: course, faculty, project and student, each against the rest; the first three
        against student
  3, 4  Reuters-21578, stories with any topic: earn, acq, moneyFx, grain and crude, each against
        the rest; the last four against earn (a story with both topics is left out)
Training sets have L documents, half of them of the class; in the test set the classes have their
natural proportion. With -training natural they have it in the training sets, too; with equal half
of the test documents are of the class. The paper says that the proportion is constant in both, but
where it prints more than the share of the class, such as 0.183 for project, which is 0.120 of the
pages, its training sets can't have had that proportion.
Kernels: linear and Gaussian exp(-|x-y|²/s²) on L2-normalised vectors, diffusion
exp(-arccos²(√x·√y)/t) on L1-normalised ones, each with tf and tfidf; the scale s = √2σ and 2√t is
one of -scales. Table 5 is the test error and Table 6 the F1 of the top ten topics, ModApte, tf.

Two protocols stand side by side:
  best scale  as in the paper: for each training size the scale and C with the least mean error on
              the test sets
  by folds    honest: for each split the scale and C with the least error of a cross-validation on
              its training documents alone
  held out    the same for Tables 5 and 6: the best figure on a third of the training stories, by
              machines trained on the others
What the paper prints stands beside its protocol, with |ln(measured/printed)|; the last table has
the means, and counts the rows in which diffusion is better than linear.

p is that of the paired t test over the splits, diffusion against each of the others; in Tables 5
and 6, with one split, that of the sign test. A star: diffusion has the least error, with p < 0.05
against both others.

The paper leaves open, and these flags decide:
  -c                                   C
  -digits, -min-df, -min-letters, -stop-words
                                       which terms count; by default every run of letters and digits
  -seed                                how splits are drawn; a smaller training set is part of a
                                       larger one
  -stories                             which stories Tables 3 and 4 have; a topic is against all
                                       others of them
  -modapte                             which stories the ModApte split has: the paper's, topics, has
                                       7,775 for training and 3,019 for testing
  idf                                  log of documents over documents with the term: of the whole
                                       corpus in Tables 1 to 4, of the training documents in Tables
                                       5 and 6, where words that no training story has don't count

Examples:
  gramlab repro lafferty-lebanon -data data -plot curves.svg
  gramlab repro lafferty-lebanon -data data -tables 1 -splits 3 -sizes 40,200 -scales 1,2   short
  gramlab repro lafferty-lebanon -data data -training natural -modapte top   other protocols
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *repro.Run) (*repro.Report, error) {
		p := &protocol{
			tables: repro.AllOf("1", "2", "3", "4", "5", "6"), features: repro.AllOf("tf", "tfidf"),
			c: repro.Numbers{1, 10, 100}, scales: repro.Numbers{0.5, 1, 2, 3, 4, 5, 7, 10},
		}
		f.Var(&p.tables, "tables", "measure the tables of this `LIST`")
		f.Var(&p.features, "features", "measure these features of Tables 1 to 4, a `LIST`")
		f.Var(&p.c, "c", "try the values of C of this `LIST`")
		f.Var(&p.scales, "scales", "try the scales √2σ and 2√t of this `LIST`")
		f.Var(&p.sizes, "sizes", "sizes of training sets, a `LIST`, for all tables; by default each has the paper's")
		f.StringVar(&p.training, "training", "balanced", "`SHARE` of the class: half in training sets (balanced), "+
			"in test sets, too (equal), the task's (natural)")
		f.StringVar(&p.stories, "stories", "topics", "`STORIES` of Tables 3, 4: with topics, one of five, all")
		f.IntVar(&p.splits, "splits", 20, "draw `N` random splits of each task")
		f.IntVar(&p.folds, "folds", 5, "choose by `N` folds of the training documents; 0 for not at all")
		f.StringVar(&p.modApte, "modapte", "topics", "`STORIES` of Tables 5, 6: with topics, top (one of ten), all")
		f.BoolVar(&p.text.Digits, "digits", true, "terms may have digits, not letters alone")
		p.text.Flags(f, 1, repro.NoWords)
		return p.run
	},
}

// protocol is the protocol with what the flags leave of it.
type protocol struct {
	tables, features repro.Words
	c, scales        repro.Numbers
	sizes            repro.Ints
	splits, folds    int
	modApte          string
	training         string // balanced, equal or natural
	stories          string // of Tables 3 and 4: topics, five or all
	text             repro.Preparation
}

// kernels are the paper's. With d² = |x-y|² the Gaussian is exp(-d²/2σ²), so that √2σ = s gives
// exp(-d²/s²); the diffusion kernel on the sphere of radius 2 is exp(-arccos²/t), and 2√t = s gives
// t = s²/4.
var kernels = [...]struct {
	name   string
	suffix string // of the embedding, after the name of the features
	scaled bool   // whether it has a scale
	spec   func(scale float64) string
}{
	{"linear", "-l2", false, func(float64) string { return "linear" }},
	{"Gaussian", "-l2", true, func(s float64) string { return fmt.Sprintf("rbf:gamma=%v", 1/(s*s)) }},
	{"diffusion", "-l1-sqrt", true, func(s float64) string { return fmt.Sprintf("diffusion:t=%v", s*s/4) }},
}

// The kernels by their place in the list.
const linear, gaussian, diffusion = 0, 1, 2

// suffixes are those of the kernels.
var suffixes = []string{"-l2", "-l1-sqrt"}

// scalesOf returns the scales of a kernel; one that means nothing where it has none.
func (p *protocol) scalesOf(k int) []float64 {
	if kernels[k].scaled {
		return p.scales
	}
	return []float64{1}
}

// sizesOf returns the sizes of the training sets of a table: those of the flag, or the paper's.
func (p *protocol) sizesOf(table string) []int {
	sizes := []int{40, 80, 120, 200, 400, 600}
	switch {
	case p.sizes != nil:
		return p.sizes
	case table == "3":
		return sizes[1:]
	case table == "4":
		return sizes[:5]
	}
	return sizes
}

// check reports flags that make no sense.
func (p *protocol) check() error {
	switch {
	case p.splits < 1:
		return repro.Usagef("-splits %d, expected at least 1", p.splits)
	case p.folds < 0 || p.folds == 1:
		return repro.Usagef("-folds %d, expected 0 or at least 2", p.folds)
	case p.sizes != nil && p.sizes[0] < 4:
		return repro.Usagef("-sizes %d, expected at least 4", p.sizes[0])
	case !slices.Contains([]string{"top", "topics", "all"}, p.modApte):
		return repro.Usagef("-modapte %q, expected topics, top or all", p.modApte)
	case !slices.Contains([]string{"topics", "five", "all"}, p.stories):
		return repro.Usagef("-stories %q, expected topics, five or all", p.stories)
	case !slices.Contains([]string{"balanced", "equal", "natural"}, p.training):
		return repro.Usagef("-training %q, expected balanced, equal or natural", p.training)
	}
	return p.text.Check()
}

// run measures the tables that were asked for, in the order of the paper.
func (p *protocol) run(ctx context.Context, r *repro.Run) (*repro.Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	webkb, reuters := p.tables.Has("1") || p.tables.Has("2"), p.tables.Has("3") || p.tables.Has("4")
	if r.Plot && !webkb && !reuters {
		return nil, repro.Usagef("-plot: tables %s have no learning curves, expected one of 1 to 4 in -tables",
			&p.tables)
	}
	modApte := p.tables.Has("5") || p.tables.Has("6")
	var sources []repro.Source
	if webkb {
		sources = append(sources, repro.WebKB)
	}
	if reuters || modApte {
		sources = append(sources, repro.Reuters)
	}
	if err := r.Require(sources...); err != nil {
		return nil, err
	}
	var corpora []*dataset
	if webkb {
		c, err := p.readWebKB(ctx, r)
		if err != nil {
			return nil, err
		}
		corpora = append(corpora, c)
	}
	var split *modApteSplit
	if reuters || modApte {
		c, both, err := p.readReuters(ctx, r)
		if err != nil {
			return nil, err
		}
		if reuters {
			corpora = append(corpora, c)
		}
		if modApte {
			split = both
		}
	}
	report := &repro.Report{}
	p.settings(r, report, corpora)
	curves := &curves{p, r, corpora}
	err := curves.measure(ctx, report)
	agreement, shifts := newAgreement(), newShifts()
	curves.report(report, agreement, shifts)
	if err == nil && split != nil {
		err = p.modApteTables(ctx, r, split, report, agreement)
	}
	if r.Plot && err == nil {
		var figures []*repro.Figure
		figures, err = geometry(ctx, r.Seed)
		report.Figures = append(report.Figures, figures...)
	}
	if len(agreement.Rows) > 0 {
		report.Tables = append(report.Tables, agreement)
	}
	if len(shifts.Rows) > 0 {
		report.Tables = append(report.Tables, shifts)
	}
	return report, err
}

// settings says what was chosen.
func (p *protocol) settings(r *repro.Run, report *repro.Report, corpora []*dataset) {
	report.Set("C", "%s, the best on the test sets beside the best scale (the paper names none)", &p.c)
	report.Set("scales", "√2σ and 2√t in %s", &p.scales)
	sizes := p.sizes.String()
	if p.sizes == nil {
		sizes = "the paper's numbers of"
	}
	report.Set("training sets", "%s, %s documents, %d random splits", p.training, sizes, p.splits)
	report.Set("terms", "%s", p.text)
	if p.folds > 0 {
		report.Set("by folds", "scale and C by %d-fold cross-validation on the training documents", p.folds)
	}
	report.Set("seed", "%d", r.Seed)
	for _, c := range corpora {
		terms, _ := c.docs.TermFrequencies()
		report.Set(c.name, "%d documents (%s), %d terms", c.docs.Rows(), c.counts, len(terms))
	}
}
