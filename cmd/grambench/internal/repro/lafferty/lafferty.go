// Package lafferty repeats §5 of Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds,
// JMLR 6 (2005): the diffusion kernel against linear and Gaussian ones.
//
// Tables 1 to 4 are test errors of machines of two classes over random splits, by size of the
// training set. data.go reads the corpora and makes the tasks, splits.go draws training sets,
// curves.go trains and tests on all splits of all tasks with one matrix, measure.go goes through
// features, kernels and scales, and tables.go chooses scale and C and makes tables and figures.
// Tables 5 and 6 are the ten topics of the ModApte split: modapte.go trains and tests,
// modapte_tables.go makes the tables.
//
// The kernels of one embedding are mapped from the same values of c = 1 - cosine, which pairs.go
// keeps.
package lafferty

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
)

// name is the experiment's name.
const name = "lafferty-lebanon"

// Experiment is §5 of the first paper on the diffusion kernel.
var Experiment = repro.Experiment{
	Name:   name,
	Paper:  "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §5",
	Data:   "webkb, reuters-modapte",
	Time:   "some three minutes on two cores, two of them for Tables 1 to 4",
	Curves: true,
	Help: `
Test errors of support vector machines with linear, Gaussian and diffusion kernels: on WebKB and on
Reuters-21578 over random splits (Tables 1 to 4), and on its ModApte split (Tables 5 and 6).

Tables 1 to 4 are test errors of support vector machines of two classes, over 20 random splits.
  1, 2  WebKB: course, faculty, project and student, each against the rest; the first three
        against student
  3, 4  Reuters-21578, stories with one of the topics earn, acq, moneyFx, grain and crude: each
        against the rest; the last four against earn (a story with both topics is left out)
Training sets have L documents in the proportion of the classes; the rest is the test set.
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
p is that of the paired t test over the splits, diffusion against each of the others; in Tables 5
and 6, with one split, that of the sign test. A star: diffusion has the least error, with p < 0.05
against both others.

The paper leaves open, and these flags decide:
  -c                                   C
  -min-df, -min-letters, -stop-words   which terms count; by default every run of letters does
  -seed                                how splits are drawn; a smaller training set is part of a
                                       larger one
  -modapte                             which stories the ModApte split has
  idf                                  log of documents over documents with the term: of the whole
                                       corpus in Tables 1 to 4, of the training documents in Tables
                                       5 and 6, where words that no training story has don't count

Examples:
  grambench repro lafferty-lebanon -data data -plot curves.png -state run.jsonl
  grambench repro lafferty-lebanon -data data -tables 1 -splits 3 -sizes 40,200 -scales 1,2   short
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *repro.Run) (*repro.Report, error) {
		p := &protocol{
			tables: repro.AllOf("1", "2", "3", "4", "5", "6"), features: repro.AllOf("tf", "tfidf"),
			c: repro.Numbers{1, 10, 100}, scales: repro.Numbers{0.5, 1, 2, 3, 4, 5, 7, 10},
			sizes: repro.Ints{40, 80, 120, 200, 400, 600},
		}
		f.Var(&p.tables, "tables", "measure the tables of this `LIST`")
		f.Var(&p.features, "features", "measure these features of Tables 1 to 4, a `LIST`")
		f.Var(&p.c, "c", "try the values of C of this `LIST`")
		f.Var(&p.scales, "scales", "try the scales √2σ and 2√t of this `LIST`")
		f.Var(&p.sizes, "sizes", "sizes of training sets, a `LIST`")
		f.IntVar(&p.splits, "splits", 20, "draw `N` random splits of each task")
		f.IntVar(&p.folds, "folds", 5, "choose by `N` folds of the training documents; 0 for not at all")
		f.StringVar(&p.modApte, "modapte", "top", "`STORIES` of Tables 5 and 6: with one of ten topics (top), "+
			"with any (topics), all")
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
	text             repro.Preparation
}

// kernels are the paper's. With d² = |x-y|² the Gaussian is exp(-d²/2σ²), so that √2σ = s gives
// exp(-d²/s²); the diffusion kernel on the sphere of radius 2 is exp(-arccos²/t), and 2√t = s gives
// t = s²/4.
var kernels = [...]struct {
	name   string
	suffix string // of the embedding, behind the name of the features
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

// check reports flags that make no sense.
func (p *protocol) check() error {
	switch {
	case p.splits < 1:
		return repro.Usagef("-splits %d, expected at least 1", p.splits)
	case p.folds < 0 || p.folds == 1:
		return repro.Usagef("-folds %d, expected 0 or at least 2", p.folds)
	case p.sizes[0] < 4:
		return repro.Usagef("-sizes %d, expected at least 4", p.sizes[0])
	case !slices.Contains([]string{"top", "topics", "all"}, p.modApte):
		return repro.Usagef("-modapte %q, expected top, topics or all", p.modApte)
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
	var corpora []*corpus
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
	if err := p.begin(r, report, corpora, split); err != nil {
		return nil, err
	}
	curves := &curves{p, r, corpora}
	err := curves.measure(ctx, report)
	curves.report(report)
	if err == nil && split != nil {
		err = p.modApteTables(ctx, r, split, report)
	}
	return report, err
}

// begin says what was chosen and ties kept results to the settings and the corpora.
func (p *protocol) begin(r *repro.Run, report *repro.Report, corpora []*corpus, split *modApteSplit) error {
	report.Set("C", "%s, the best on the test sets beside the best scale (the paper names none)", &p.c)
	report.Set("scales", "√2σ and 2√t in %s", &p.scales)
	report.Set("training sets", "%s documents, %d random splits", &p.sizes, p.splits)
	report.Set("terms", "%s", p.text)
	if p.folds > 0 {
		report.Set("by folds", "scale and C by %d-fold cross-validation on the training documents", p.folds)
	}
	report.Set("seed", "%d", r.Seed)
	computer, err := r.Computer()
	if err != nil {
		return err
	}
	of := []string{
		fmt.Sprintf("-c %s -sizes %s -splits %d -folds %d -seed %d -tables %s -modapte %s -isa %s, terms: %s",
			&p.c, &p.sizes, p.splits, p.folds, r.Seed, &p.tables, p.modApte, computer, p.text),
	}
	for _, c := range corpora {
		terms, _ := c.docs.TermFrequencies()
		report.Set(c.name, "%d documents (%s), %d terms", c.docs.Rows(), c.counts, len(terms))
		of = append(of, c.name+" "+c.digest)
	}
	if split != nil {
		of = append(of, "modapte "+split.digest)
	}
	return r.State.Begin(name, strings.Join(of, ", "))
}
