package learners

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Grid is the command grid, which searches for the best kernel and parameters.
var Grid = &cli.Command{
	Name:    "grid",
	Summary: "search for the best kernel and parameters by cross-validation",
	Help: `
Without lists, searches all settings that train selects, on growing samples, then on all documents.
With lists, tries all combinations of C, nu, epsilon, embed, scheme, ngrams and kernel parameters.`,
	Examples: `
gram grid train.tsv.gz                              all settings, for text
gram grid -log2c -1,6,1 -log2g -4,0,1 train.svm     as for LIBSVM's grid.py`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		g := &grid{cvFlags: cvFlags{trainingFlags: &trainingFlags{}}}
		g.declare(f)
		g.declareFolds(f)
		f.Var(log2Flag{&g.lists, "C"}, "log2c", "try C = 2^k for k in `BEGIN,END,STEP`")
		f.Var(
			log2Flag{&g.lists, "gamma"},
			"log2g",
			"try gamma = 2^k for k in `BEGIN,END,STEP` (implies -t 2)",
		)
		f.StartGroup("Problem", "")
		f.Var(&g.lists, "grid", "try the values `NAME=LIST`, such as ngrams=1,1..2 or C=1..1000*10 (repeatable)")
		f.StartGroup("Training", "")
		g.declareChoice(learn.SearchWorkBudget, "spend the time of `X` training runs on automatic selection; 0 = off")
		f.BoolVar(&g.oneSE, "one-se", false, "select the smallest C within one standard error of the best score")
		f.StartGroup("Output", "")
		f.BinaryOutputVar(&g.modelPath, "o", "train with the best settings on all documents, and write the model to `FILE`",
			func() string { return "a model" })
		f.SVGOutputVar(&g.plot, "plot", "plot the scores to `FILE` (.svg)")
		f.AddCheck(g.check)
		f.AddCheck(g.requireSource)
		return g.run
	},
}

type grid struct {
	cvFlags
	lists           gridLists
	plot, modelPath string
	oneSE           bool
	samples         bool // true if the search compares candidates on samples; false if it evaluates the full grid
	numCs           int  // number of values of C
}

// declare declares the flags. Lists in -kernel are expanded before the other flags are checked.
func (g *grid) declare(f *cli.Flags) {
	f.AddCheck(g.expand)
	g.trainingFlags.declare(f)
}

// expand replaces each kernel that has lists of values with a kernel per combination of values.
func (g *grid) expand() error {
	var specs []string
	for _, spec := range g.Specs {
		some, err := source.ExpandAlternatives(spec)
		if err != nil {
			return cli.UsageError{Err: err}
		}
		specs = append(specs, some...)
	}
	g.Specs, g.hasGammaList = specs, g.lists.has("gamma")
	return nil
}

func (g *grid) check() error {
	if err := g.checkFolds(); err != nil {
		return err
	}
	for _, list := range g.lists.all() {
		if a, set := g.assignedByName[strings.ToLower(list.Name)]; set {
			return conflictError(list.Name, a.origin, "-grid "+list.Name)
		}
		for _, spec := range g.Specs {
			if setsParameter(spec, list.Name) {
				return conflictError(list.Name, "-kernel "+spec, "-grid "+list.Name)
			}
		}
	}
	if err := g.checkNGrams(); err != nil {
		return err
	}
	points, err := g.points(nil)
	if err == nil {
		g.samples, g.numCs = points.UseSamples, len(points.C)
	}
	return err
}

// setsParameter reports whether the specification of a base kernel sets the named parameter.
func setsParameter(spec, name string) bool {
	k, err := kernel.Parse(spec)
	if err != nil {
		return false
	}
	_, has := kernel.ParamOf(k, name)
	_, parameters, _ := strings.Cut(spec, ":")
	given, err := params.Split(parameters)
	return has && err == nil && slices.ContainsFunc(given, func(p params.Setting) bool { return p.Name == name })
}

// checkNGrams checks the n-gram ranges, and sets the first range for reading the documents.
func (g *grid) checkNGrams() error {
	l := &g.lists
	if len(l.ngrams) > 1 && !backend.IsRereadable(g.Source) {
		return cli.Usagef("-grid ngrams reads %s several times, so it must be a file or folder", g.Source)
	}
	for i := len(l.ngrams) - 1; i >= 0; i-- {
		if err := g.SetNGrams(l.ngrams[i]); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	return nil
}

// options returns the learner's options. The search doesn't use samples if -plot or -backend is
// set, or if negative values are accepted and flags set the kernel.
func (g *grid) options(c *corpus.Corpus) (learn.Options, error) {
	o, err := g.trainingFlags.options(c)
	if g.Signed && !g.usesDefaultKernel() || g.plot != "" || g.f.IsSet("backend") {
		o.WorkBudget = 0
	}
	return o, err
}

// points returns the grid to search. c is nil during flag checks.
func (g *grid) points(c *corpus.Corpus) (*learn.Grid, error) {
	o, err := g.options(c)
	if err != nil {
		return nil, err
	}
	lists := g.lists.all()
	if len(g.Specs) > 1 {
		lists = append(lists, learn.ParameterValues{Name: "kernel", Values: g.Specs})
	}
	out, err := learn.NewGrid(g.learner.Learner, g.learner.trainer, lists, o)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	out.Folds, out.PreferSmallC = g.folds, g.oneSE
	return out, nil
}

// run runs the search and writes the report. If ctx is done, run reports the completed points.
func (g *grid) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(true)
	defer p.Clear()
	if g.samples && g.lists.ngrams == nil {
		g.keepTexts()
	}
	j, err := g.prepare(ctx, e, p, g.usesDefaultKernel() && !g.lists.has("t") && len(g.lists.embeddings) == 0, g.numCs,
		g.folds)
	if err != nil {
		return err
	}
	points, err := g.points(j.corpus)
	if err != nil {
		return err
	}
	ngrams := g.lists.ngrams
	watch := &gridProgress{totalPoints: points.PointCount()}
	switch {
	case points.UseSamples:
		points.TokenizerCount = len(ngrams)
		j.options.WorkBudget = g.chooseTime
	case g.learner.Type != "":
		j.options.WorkBudget = 0
		g.hintScale(e, j.corpus, points.Kernels()[0].Embedding())
		j.options.SolverProgress = trainingProgress(p, watch.details)
	}
	points.OnPoint = watch.addPoint
	points.Corpus = func(ctx context.Context, cut int) (*corpus.Corpus, error) {
		p.Clear()
		return g.ReadWithNGrams(ctx, p, ngrams[cut])
	}
	r := newGridReport(g, j, points, ngrams)
	found, kept, err := g.search(ctx, j, points)
	p.Clear()
	err = j.annotateError(err)
	if found == nil || g.FallsBack(ctx, err) || err != nil && len(found.Points) == 0 {
		return err
	}
	complete := err == nil
	if complete && kept != nil && (found.BestIndex >= 0 || found.Choice != nil) {
		err = g.train(ctx, r, kept, found, points, j)
	}
	r.fill(e, j, found, complete)
	if err == nil && g.plot != "" {
		err = chart.Save(g.plot, 16, 11, r.charts()...)
	}
	return errors.Join(g.PrintReport(e, g.f, r), err)
}

type gridProgress struct {
	totalPoints int

	mu         sync.Mutex
	donePoints int
	best       *learn.Validation
	start      time.Time // start of the first training run
}

func (w *gridProgress) addPoint(p *learn.Validation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.donePoints++
	if w.best == nil || p.Measure.Better(p.Mean, w.best.Mean) {
		w.best = p
	}
}

// details formats the progress of the search: points, best score and remaining time.
func (w *gridProgress) details(s svm.Progress) []string {
	if s.Solver.Problems == 0 {
		return progressDetails(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start.IsZero() {
		w.start = time.Now()
	}
	parts := []string{fmt.Sprintf("%d of %s", w.donePoints, report.FormatCountOf(w.totalPoints, "point", "points"))}
	parts = append(parts, remainingTime(w.start, s)...)
	if b := w.best; b != nil {
		parts = append(parts, "best "+b.Measure.Format(b.Mean)+": "+formatParameters(b.Kernel, b.C, b.Nu, b.Epsilon))
	}
	return parts
}
