package repro

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// laffertyLebanon is §5 of the first paper on the diffusion kernel.
var laffertyLebanon = Experiment{
	Name:   "lafferty-lebanon",
	Paper:  "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §5",
	Data:   "webkb, reuters-modapte",
	Time:   "some three minutes on two cores, two of them for Tables 1 to 4",
	Curves: true,
	Help: `
Tables 1 to 4: support vector machines of two classes on WebKB (course, faculty, project and student, each against the rest; and the first three against
student) and on the stories of Reuters-21578 with one of the topics earn, acq, moneyFx, grain and crude (each against the rest; and the last four against
earn; a story with both topics of a pair is left out). Training sets have L documents in the proportion of the classes, the rest is the test set; 20 random
splits. Kernels: linear and Gaussian exp(-|x-y|²/s²) on L2-normalised vectors, diffusion exp(-arccos²(√x·√y)/t) on L1-normalised ones, each with tf and tfidf,
scale s = √2σ and 2√t in {0.5, 1, 2, 3, 4, 5, 7, 10}. Table 5 is the test error and Table 6 the F1 on the ModApte split, top ten topics, tf.

Two protocols stand side by side:
  best scale    as in the paper: for each training size the scale (and C, on which the paper is silent) with the least mean error on the test sets
  by folds      honest: for each split the scale and C with the least error of a cross-validation on its training documents alone
  held out      the same for Tables 5 and 6: with the best figure on a third of the training stories, by machines trained on the others
p values are those of the paired t test over the splits, diffusion against each of the others; in Tables 5 and 6, with one split, those of the sign test. A star
at the lowest error: it is diffusion's, and lower than both others with p < 0.05.

What the paper leaves open: C (-c), the tokeniser and what is left out (-min-df, -min-letters, -stop-words: by default every run of letters counts), the idf (log of
documents over documents with the term, over all documents of the corpus, since tables share their dot products; over the training documents in Tables 5
and 6, where words that no training story has don't count, nor in a story's length), how the random splits are drawn (-seed; smaller training sets are part of larger ones), which stories the ModApte split has (-modapte).

Examples:
  grambench repro lafferty-lebanon -data data -plot curves.png -state run.jsonl
  grambench repro lafferty-lebanon -data data -tables 1 -splits 3 -sizes 40,200 -scales 1,2     a short form, some seconds
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *Run) (*Report, error) {
		p := &llProtocol{
			tables: Words{Of: []string{"1", "2", "3", "4", "5", "6"}}, features: Words{Of: []string{"tf", "tfidf"}},
			c: Numbers{1, 10, 100}, scales: Numbers{0.5, 1, 2, 3, 4, 5, 7, 10}, sizes: Ints{40, 80, 120, 200, 400, 600},
		}
		p.tables.Chosen, p.features.Chosen = p.tables.Of, p.features.Of
		f.Var(&p.tables, "tables", "measure the tables of this `LIST`")
		f.Var(&p.features, "features", "measure these features of Tables 1 to 4, a `LIST`")
		f.Var(&p.c, "c", "try the values of C of this `LIST`")
		f.Var(&p.scales, "scales", "try the scales √2σ and 2√t of this `LIST`")
		f.Var(&p.sizes, "sizes", "take training sets of so many documents, a `LIST`")
		f.IntVar(&p.splits, "splits", 20, "draw `N` random splits of each task")
		f.IntVar(&p.folds, "folds", 5, "choose honestly by `N` folds of the training documents; 0 leaves these columns out")
		f.StringVar(&p.modApte, "modapte", "top", "in Tables 5 and 6, take the `STORIES` with one of the ten topics (top: 6,490 for training), with any topic (topics), or all")
		f.IntVar(&p.text.MinDF, "min-df", 1, "leave out terms that fewer than `N` documents have")
		f.IntVar(&p.text.MinLetters, "min-letters", 1, "leave out terms of fewer than `N` letters")
		f.StringVar(&p.text.StopWords, "stop-words", "", "leave out the words in `FILE` (default: none are)")
		return p.run
	},
}

// llProtocol is the protocol with what the flags leave of it.
type llProtocol struct {
	tables, features Words
	c, scales        Numbers
	sizes            Ints
	splits, folds    int
	modApte          string
	text             Preparation
}

// llKernel is one of the paper's kernels: on which embedding, behind the name of the features, and with which specification for a scale.
type llKernel struct {
	name      string
	embedding string
	scaled    bool // it has a scale
	spec      func(scale float64) string
}

// llKernels are the paper's kernels: with d² = |x-y|² the Gaussian is exp(-d²/2σ²), so that √2σ = s gives exp(-d²/s²); the diffusion kernel on the sphere
// of radius 2 is exp(-arccos²/t), and 2√t = s gives t = s²/4.
var llKernels = []llKernel{
	{"linear", "-l2", false, func(float64) string { return "linear" }},
	{"Gaussian", "-l2", true, func(s float64) string { return fmt.Sprintf("rbf:gamma=%v", 1/(s*s)) }},
	{"diffusion", "-l1-sqrt", true, func(s float64) string { return fmt.Sprintf("diffusion:t=%v", s*s/4) }},
}

// The kernels by their place in llKernels.
const llLinear, llGaussian, llDiffusion = 0, 1, 2

// scalesOf returns the scales of a kernel; one that means nothing where it has none.
func (p *llProtocol) scalesOf(k int) []float64 {
	if llKernels[k].scaled {
		return p.scales
	}
	return []float64{1}
}

// check holds the flags together.
func (p *llProtocol) check() error {
	switch {
	case p.splits < 1:
		return UsageError{fmt.Errorf("-splits %d, expected at least 1", p.splits)}
	case p.folds < 0 || p.folds == 1:
		return UsageError{fmt.Errorf("-folds %d, expected 0 or at least 2", p.folds)}
	case p.sizes[0] < 4:
		return UsageError{fmt.Errorf("-sizes %d, expected at least 4", p.sizes[0])}
	case !slices.Contains([]string{"top", "topics", "all"}, p.modApte):
		return UsageError{fmt.Errorf("-modapte %q, expected top, topics or all", p.modApte)}
	}
	return p.text.Check()
}

// run measures the tables that were asked for, in the order of the paper.
func (p *llProtocol) run(ctx context.Context, r *Run) (*Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	webkb, reuters, modApte := p.tables.Has("1") || p.tables.Has("2"), p.tables.Has("3") || p.tables.Has("4"), p.tables.Has("5") || p.tables.Has("6")
	if r.Plot && !webkb && !reuters {
		return nil, UsageError{fmt.Errorf("-plot: tables %s have no learning curves, expected one of 1 to 4 in -tables", &p.tables)}
	}
	report := p.newReport()
	sources := []Source{}
	if webkb {
		sources = append(sources, WebKB)
	}
	if reuters || modApte {
		sources = append(sources, Reuters)
	}
	if err := r.Require(sources...); err != nil {
		return nil, err
	}
	var corpora []*llCorpus
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
	if err := p.begin(r, report, corpora, split); err != nil {
		return nil, err
	}
	curves := newLLCurves(p, r, corpora)
	err := curves.measure(ctx, report)
	curves.report(report)
	if err == nil && split != nil {
		err = p.modApteTables(ctx, r, split, report)
	}
	return report, err
}

// newReport says what was chosen.
func (p *llProtocol) newReport() *Report {
	report := &Report{}
	report.Set("C", "%s, the best on the test sets beside the best scale (the paper names none)", &p.c)
	report.Set("scales", "√2σ and 2√t in %s", &p.scales)
	report.Set("training sets", "%s documents, %d random splits", &p.sizes, p.splits)
	report.Set("terms", "%s", p.text)
	if p.folds > 0 {
		report.Set("by folds", "scale and C by %d-fold cross-validation on the training documents", p.folds)
	}
	return report
}

// begin ties kept results to the settings and the corpora.
func (p *llProtocol) begin(r *Run, report *Report, corpora []*llCorpus, split *modApteSplit) error {
	report.Set("seed", "%d", r.Seed)
	kernels, err := r.Kernels()
	if err != nil {
		return err
	}
	of := []string{fmt.Sprintf("-c %s -sizes %s -splits %d -folds %d -seed %d -tables %s -modapte %s -isa %s, terms: %s", &p.c, &p.sizes, p.splits, p.folds, r.Seed, &p.tables, p.modApte,
		r.computer(kernels), p.text)}
	for _, c := range corpora {
		terms, _ := c.docs.TermFrequencies()
		report.Set(c.name, "%d documents (%s), %d terms", c.docs.Rows(), c.counts, len(terms))
		of = append(of, fmt.Sprintf("%s %x", c.name, c.digest[:8]))
	}
	if split != nil {
		of = append(of, fmt.Sprintf("modapte %x", split.digest[:8]))
	}
	return r.State.Begin(laffertyLebanonName, strings.Join(of, ", "))
}

// laffertyLebanonName is the experiment's name.
const laffertyLebanonName = "lafferty-lebanon"
