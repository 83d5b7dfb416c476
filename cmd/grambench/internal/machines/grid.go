package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Grid is the command that searches for kernel and parameters.
var Grid = &cli.Command{
	Name:    "grid",
	Summary: "search for the best kernel and parameters by cross-validation",
	Args:    "[SOURCE]",
	Help: `
Without lists of numbers, searches all that follows on growing samples, and compares the best on all
documents. With lists, tries all combinations on the same folds: C, nu, epsilon, embed, scheme,
ngrams, a kernel's parameter (values, FROM..TO*FACTOR, FROM..TO+STEP); -kernel takes 1|2|4, too.`,
	Examples: `
grambench grid train.tsv.gz                              everything, for text
grambench grid -grid t=0.1,0.2,0.5,1,2 -grid C=1..1000*10 train.tsv.gz
grambench grid -log2c -1,6,1 -log2g -4,0,1 train.svm     as LIBSVM's grid.py has it`,
	Setup: func(f *cli.Flags) cli.Work {
		g := &grid{validation: validation{machine: &machine{}}}
		f.MaxArgs = 1
		g.declare(f)
		g.declareFolds(f)
		f.Var(log2Flag{&g.lists, "C"}, "log2c", "-grid C, powers of 2 from `BEGIN,END,STEP`")
		f.Var(
			log2Flag{&g.lists, "gamma"},
			"log2g",
			"-grid gamma, powers of 2 from `BEGIN,END,STEP`; alone it means -t 2",
		)
		f.Group("Problem", "")
		f.Var(&g.lists, "grid", "search `NAME=LIST`, such as ngrams=1,1..2 or C=1..1000*10; several times")
		f.Group("Training", "")
		g.declareChoice(learn.SearchWork, "without lists, search for `X` times a training; 0: don't")
		f.BoolVar(&g.oneSE, "one-se", false, "take the smallest C within one standard error of the best")
		f.Group("Output", "")
		f.Draws(&g.plot, "plot", "plot the errors to `FILE`, a .png")
		g.shorthand.declare(f)
		f.Check(g.check)
		f.Check(g.named)
		return g.run
	},
}

// grid is one run of the command.
type grid struct {
	validation
	lists gridLists
	plot  string
	oneSE bool
}

// declare declares the flags of machine. Lists in kernels are expanded before these are checked.
func (g *grid) declare(f *cli.Flags) {
	f.Check(g.expand)
	g.machine.declare(f)
}

// expand makes all kernels that -kernel stands for.
func (g *grid) expand() error {
	var specs []string
	for _, spec := range g.Specs {
		some, err := alternatives(spec)
		if err != nil {
			return cli.UsageError{Err: err}
		}
		specs = append(specs, some...)
	}
	g.Specs = specs
	if len(specs) == 0 && g.number < 0 && g.lists.has("gamma") {
		g.number = 2
	}
	return nil
}

// check checks that the flags make sense together.
func (g *grid) check() error {
	if err := g.takeSource(); err != nil {
		return err
	}
	if err := g.checkFolds(); err != nil {
		return err
	}
	if err := g.checkTexts(); err != nil {
		return err
	}
	if g.learner.Learner != nil {
		if _, err := g.prices(); err != nil {
			return err
		}
		_, err := g.learnerPoints()
		return err
	}
	if g.lists.has("C") && g.f.Given("c") || g.lists.has("nu") && g.f.Given("nu", "n") ||
		g.lists.has("epsilon") && g.f.Given("epsilon", "p") {
		return cli.Usagef("a flag and a -grid list for the same parameter, expected one of them")
	}
	if len(g.lists.words) > 0 {
		return cli.Usagef("-grid %s=%s: a parameter of learners, which -type names: grambench help learners",
			g.lists.words[0].Name, strings.Join(g.lists.words[0].Values, ","))
	}
	if g.searches() {
		return nil
	}
	g.defaults()
	for _, list := range g.lists.numbers {
		if err := learn.CheckList(model.Type(g.kind), list); err != nil {
			return cli.Usagef("-grid %w", err)
		}
	}
	_, err := g.points(nil)
	return err
}

// defaults fills in lists where none are given.
func (g *grid) defaults() {
	if len(g.lists.numbers) > 0 || len(g.Specs) > 1 {
		return
	}
	g.lists.numbers = learn.DefaultLists(model.Type(g.kind), len(g.Specs) > 0 || g.number >= 0, g.f.Given("c"))
}

// points returns what is to be searched; the corpus, which may be nil for a check, gives -t its
// default gamma.
func (g *grid) points(c *sparse.Corpus) (svm.Grid, error) {
	kernels, err := g.embedded(c)
	if err != nil {
		return svm.Grid{}, err
	}
	out, unused, err := learn.Grid(kernels, g.lists.numbers)
	if err != nil {
		return out, cli.UsageError{Err: err}
	}
	out.Folds, out.Seed, out.Cuts = g.folds, g.seed, len(g.lists.ngramList)
	for _, name := range g.lists.schemes {
		for _, s := range schemes {
			if s.String() == name {
				out.Schemes = append(out.Schemes, s)
			}
		}
	}
	if len(unused) > 0 {
		var names []string
		for _, k := range kernels {
			names = append(names, k.String())
		}
		return out, cli.Usagef(
			"-grid %s: no such parameter of %s, expected C, nu, epsilon or a parameter of a kernel that "+
				"isn't made of others",
			unused[0],
			report.JoinSome(names, 5),
		)
	}
	return out, nil
}

// run reads, searches and reports.
func (g *grid) run(ctx context.Context, e *cli.Env) error {
	if g.learner.Learner != nil {
		return g.runLearner(ctx, e)
	}
	begin := time.Now()
	p := e.Progress(true)
	defer p.Clear()
	corpus, err := g.readVectors(ctx, e, p, g.unnamed() && !g.lists.has("t") && len(g.lists.embeds) == 0)
	if err != nil {
		return err
	}
	settings, err := g.settings(corpus)
	if err != nil {
		return err
	}
	if err := checkLabels(e, corpus, settings); err != nil {
		return err
	}
	if g.searches() {
		return g.runSearch(ctx, e, p, begin, corpus, settings)
	}
	points, err := g.points(corpus)
	if err != nil {
		return err
	}
	g.hintScale(e, corpus, points.Kernels[0].Embedding())
	r := newGridReport(corpus, g, points, settings)
	r.SecondsRead = time.Since(begin).Seconds()
	watch := &gridWatch{measure: settings.Measure(), total: r.Points}
	result, err := g.search(ctx, e, p, watch, corpus, settings, points)
	p.Clear()
	if result == nil || g.FallsBack(ctx, err) {
		return err
	}
	r.fill(result, watch)
	r.Seconds = time.Since(begin).Seconds()
	if err != nil && len(result.Points) == 0 {
		return err
	}
	if err == nil && g.plot != "" {
		if err := r.surface().Save(g.plot); err != nil {
			return err
		}
	}
	return errors.Join(g.Report(e, g.f, r), err)
}

// search makes a problem for each embedding and searches it. The corpus is kept only where there
// are several.
func (g *grid) search(
	ctx context.Context, e *cli.Env, p *cli.Progress, watch *gridWatch, corpus *sparse.Corpus, s svm.Settings,
	points svm.Grid,
) (*svm.SearchResult, error) {
	other := func(k engine.Kernel) bool { return k.Embedding() != points.Kernels[0].Embedding() }
	if points.Cuts > 1 || slices.ContainsFunc(points.Kernels, other) {
		g.kept = corpus.Documents.Bytes()
	}
	cells := max(len(points.C), 1) * max(len(points.Nu), 1) * max(len(points.Epsilon), 1)
	for _, s.Scheme = range append(points.Schemes, s.Scheme) {
		g.tasks = append(g.tasks, svm.Task{Settings: s, Folds: points.Folds, Cells: cells})
	}
	var last *svm.Problem
	defer func() {
		p.Clear()
		g.warnStore(e, last)
	}()
	at := 0 // the cut that corpus has
	return svm.SearchProblems(ctx, s, points, func(cut int, embedding sparse.Embedding) (*svm.Problem, error) {
		p.Clear()
		g.warnStore(e, last)
		if last != nil {
			if err := last.Engine().Close(); err != nil {
				return nil, err
			}
		}
		last = nil // the next matrix needs the room, and its documents that on the GPU
		if cut != at {
			var err error
			if corpus, err = g.ReadAs(ctx, p, g.lists.ngramList[cut]); err != nil {
				return nil, err
			}
			at = cut
		}
		problem, err := g.newProblem(ctx, e, corpus, embedding, p, training(p, watch.details))
		if err == nil {
			last = problem
			watch.isa, watch.workers = problem.Engine().Backend(), problem.Engine().Workers()
			for _, k := range points.Kernels {
				if err == nil && k.Embedding() == embedding {
					err = source.WarnZeros(e, problem.Engine(), k)
				}
			}
		}
		if g.kept == 0 {
			corpus = nil // the matrix needs the room
		}
		return problem, err
	}, watch.point)
}

// gridWatch knows how far a search is, for the one who waits.
type gridWatch struct {
	measure svm.Measure
	total   int

	mu    sync.Mutex
	done  int
	best  *svm.Point
	begin time.Time // when machines were first trained

	isa     string
	workers int
}

// point is the callback for a point that is complete.
func (w *gridWatch) point(p svm.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	if w.best == nil || w.measure.Better(p.Mean, w.best.Mean) {
		w.best = &p
	}
}

// details says how far the search is: points, the best so far, the time that is left.
func (w *gridWatch) details(s svm.Progress) []string {
	if s.Solver.Problems == 0 {
		return details(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begin.IsZero() {
		w.begin = time.Now()
	}
	parts := []string{fmt.Sprintf("%d of %s", w.done, report.Counted(w.total, "point", "points"))}
	parts = append(parts, wait(w.begin, s)...)
	if w.best != nil {
		parts = append(
			parts,
			"best "+w.measure.Format(
				w.best.Mean,
			)+": "+describe(
				w.best.Kernel.String(),
				w.best.C,
				w.best.Nu,
				w.best.Epsilon,
			),
		)
	}
	return parts
}
