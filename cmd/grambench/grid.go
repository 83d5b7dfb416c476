package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

var gridCommand = command{
	name:    "grid",
	summary: "search for the best kernel and parameters by cross-validation",
	args:    "[SOURCE]",
	help: `
Cross-validates all combinations of kernels and parameters on the same folds, and prints how each did, which is the best, and the command that trains
it. The source must be named. Each dot product is computed once for all kernels of one embedding, and a machine starts from its neighbour's: a search over dozens of settings takes
little more time than some trainings. Each rho of probability-product has an embedding, and so dot products, of its own.

Lists (-grid NAME=LIST, once for each name):
  C, nu, epsilon       of the problem: C=1,10,100
  a kernel's parameter of all kernels that take it: t=0.1,0.2,0.5
  A list has values, FROM..TO*FACTOR and FROM..TO+STEP, separated by commas: C=1..1000*10 is 1,10,100,1000.
-kernel may be given several times, and has lists of its own, with | between values, in any place: -kernel 'sum(diffusion:t=0.1|0.5,linear:embed=tf-l1-sqrt)'.
-log2c and -log2g are those of LIBSVM's grid.py. Where no list is given, C is 0.1, 1, 10 and 100, and if no kernel is named, t is 0.1, 0.25, 0.5, 1 and 2.

The table has a row for each kernel and a column for each C, in each cell the mean over the folds and its standard deviation; * marks the best. The
measure, the folds and the flags of the problem are those of grambench cv. With -solver cuda a GPU keeps the rows and the scores of one kernel
after the other. ^C ends the search and prints what is complete.

Examples:
  grambench grid -in mail/                                       the lists that are taken where none are given
  grambench grid -grid t=0.1,0.2,0.5,1,2 -grid C=1,10,100 train.tsv.gz
  grambench grid -kernel 'diffusion:t=0.5|1' -kernel ngd-exp:t=1 -kernel linear:embed=tfidf-l2 train.tsv.gz
  grambench grid -t 2 -log2c -1,6,1 -log2g -4,0,1 train.svm      as grid.py has it
  grambench grid -grid t=0.1..3.2*2 -plot surface.png train.tsv.gz
`,
	setup: func(f *flags) func(context.Context, *env) error {
		s := f.svmFlags()
		f.maxArgs = 1
		f.startsOver = true
		r := &gridRun{cvRun: cvRun{svmFlags: s}}
		f.set.IntVar(&r.folds, "folds", svm.DefaultFolds, "divide the documents into `N` folds")
		f.set.IntVar(&r.folds, "v", svm.DefaultFolds, "-folds, `N`")
		f.set.Var(&r.lists, "grid", "search the values `NAME=LIST`, such as C=1..1000*10 or t=0.1,0.5,1; may be given several times")
		f.set.StringVar(&r.plot, "plot", "", "draw the errors into `FILE`, a .png")
		f.writes("-plot", &r.plot)
		f.set.Func("log2c", "-grid C, powers of 2 from `BEGIN,END,STEP`", func(v string) error { return r.log2("C", v) })
		f.set.Func("log2g", "-grid gamma, powers of 2 from `BEGIN,END,STEP`; alone it means -t 2", func(v string) error { return r.log2("gamma", v) })
		f.check = r.check
		return r.run
	},
}

// gridRun is one run of the command grid.
type gridRun struct {
	cvRun
	lists gridLists
	plot  string
}

func (r *gridRun) log2(name, v string) error {
	list, err := log2List(name, v)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.lists, func(other gridList) bool { return other.name == name }) {
		return fmt.Errorf("%s a second time, expected all its values in one list", name)
	}
	r.lists = append(r.lists, list)
	return nil
}

// check holds that the flags make sense together.
func (r *gridRun) check() error {
	f := r.f
	var specs []string
	for _, spec := range f.kernels {
		some, err := alternatives(spec)
		if err != nil {
			return usageError{err}
		}
		specs = append(specs, some...)
	}
	f.kernels = specs
	if len(f.kernels) == 0 && r.libsvmKernel < 0 && r.has("gamma") {
		r.libsvmKernel = 2
	}
	if err := r.svmFlags.check(); err != nil {
		return err
	}
	if err := r.takeSource(); err != nil {
		return err
	}
	if err := r.checkFolds(); err != nil {
		return err
	}
	if err := checkPlot(r.plot); err != nil {
		return err
	}
	if r.has("C") && r.given["c"] || r.has("nu") && (r.given["nu"] || r.given["n"]) || r.has("epsilon") && (r.given["epsilon"] || r.given["p"]) {
		return usagef("a flag and a -grid list for the same parameter, expected one of them")
	}
	r.defaults()
	for _, list := range r.lists {
		if err := r.checkList(list); err != nil {
			return err
		}
	}
	_, err := r.grid(nil)
	return err
}

func (r *gridRun) has(name string) bool {
	return slices.ContainsFunc(r.lists, func(l gridList) bool { return l.name == name })
}

// defaults fills in lists where none are given.
func (r *gridRun) defaults() {
	if len(r.lists) > 0 || len(r.f.kernels) > 1 {
		return
	}
	if len(r.f.kernels) == 0 && r.libsvmKernel < 0 {
		r.lists = append(r.lists, gridList{"t", []float64{0.1, 0.25, 0.5, 1, 2}})
	}
	if t := model.Type(r.kind); t == model.NuSVC {
		r.lists = append(r.lists, gridList{"nu", []float64{0.05, 0.1, 0.2, 0.4}})
	} else if !r.given["c"] {
		r.lists = append(r.lists, gridList{"C", []float64{0.1, 1, 10, 100}})
	}
}

// checkList holds that a list suits the type, and its values the parameter.
func (r *gridRun) checkList(list gridList) error {
	t := model.Type(r.kind)
	least, most, has := 0.0, 1e300, true
	switch list.name {
	case "C":
		has = t != model.NuSVC
	case "nu":
		most, has = 1, t == model.NuSVC || t == model.NuSVR
	case "epsilon":
		has = t == model.EpsilonSVR
	default:
		return nil // the kernel's parser checks it
	}
	if !has {
		return usagef("-grid %s: type %s has no %s", list.name, t, list.name)
	}
	for _, v := range list.values {
		if !(v > least && v <= most) {
			return usagef("-grid %s: %v, expected numbers above %v and at most %v", list.name, v, least, most)
		}
	}
	return nil
}

// grid returns what is to be searched; the corpus, which may be nil for a check, gives -t its default gamma.
func (r *gridRun) grid(c *sparse.Corpus) (svm.Grid, error) {
	g := svm.Grid{Folds: r.folds, Seed: r.f.seed}
	kernels, err := r.kernelsOf(c)
	if err != nil {
		return g, err
	}
	var own []gridList
	for _, list := range r.lists {
		switch list.name {
		case "C":
			g.C = list.values
		case "nu":
			g.Nu = list.values
		case "epsilon":
			g.Epsilon = list.values
		default:
			own = append(own, list)
		}
	}
	var unused []string
	if g.Kernels, unused, err = kernelsOn(kernels, own); err != nil {
		return g, usageError{err}
	}
	if len(unused) > 0 {
		var names []string
		for _, k := range kernels {
			names = append(names, k.String())
		}
		return g, usagef("-grid %s: no such parameter of %s, expected C, nu, epsilon or a parameter of a kernel that isn't made of others", unused[0], shortList(names, 5))
	}
	for i, k := range g.Kernels {
		if slices.Contains(g.Kernels[:i], k) {
			return g, usagef("kernel %s is in the search twice", k)
		}
	}
	return g, nil
}

// run reads, searches and reports.
func (r *gridRun) run(ctx context.Context, e *env) error {
	begin := time.Now()
	f := r.f
	p := newTrainProgress(e.stderr, r.quiet)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	g, err := r.grid(corpus)
	if err != nil {
		return err
	}
	settings, err := r.settings(corpus)
	if err != nil {
		return err
	}
	if err := r.checkLabels(e, corpus, settings); err != nil {
		return err
	}
	report := newGridReport(corpus, r, g, settings)
	report.SecondsRead = time.Since(begin).Seconds()
	watch := newGridWatch(settings.Measure(), report.Points)
	p.tell = watch.tell
	result, err := r.search(ctx, e, p, watch, corpus, settings, g)
	p.clear()
	if result == nil || f.fallsBack(ctx, err) {
		return err
	}
	warnUnplaced(e, result.Unplaced)
	stopped := err
	report.fill(result, watch)
	report.Seconds = time.Since(begin).Seconds()
	if stopped != nil && len(result.Points) == 0 {
		return stopped
	}
	if stopped == nil && r.plot != "" {
		if err := writeSurface(r.plot, report); err != nil {
			return err
		}
	}
	return errors.Join(writeReport(e.stdout, f.timed(report), f.json), stopped)
}

// search makes a problem for each embedding and searches it. The corpus is kept only where there are several.
func (r *gridRun) search(ctx context.Context, e *env, p *progress, watch *gridWatch, corpus *sparse.Corpus, s svm.Settings, g svm.Grid) (*svm.SearchResult, error) {
	if slices.ContainsFunc(g.Kernels, func(k engine.Kernel) bool { return k.Embedding() != g.Kernels[0].Embedding() }) {
		r.kept = corpus.Documents.Bytes()
	}
	var last *svm.Problem
	defer func() {
		p.clear()
		r.warnStore(e, last)
	}()
	return svm.SearchProblems(ctx, s, g, func(embedding sparse.Embedding) (*svm.Problem, error) {
		p.clear()
		r.warnStore(e, last)
		if last != nil {
			if err := last.Engine().Close(); err != nil {
				return nil, err
			}
		}
		last = nil // the next matrix needs the room, and its documents that on the GPU
		problem, err := r.newProblem(ctx, e, p, corpus, embedding)
		if err == nil {
			watch.engine(problem.Engine())
			last = problem
			for _, k := range g.Kernels {
				if err == nil && k.Embedding() == embedding {
					err = warnZeros(e.stderr, problem.Engine(), k)
				}
			}
		}
		if r.kept == 0 {
			corpus = nil // the matrix needs the room
		}
		return problem, err
	}, watch.point)
}
