package doors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func svmCases() map[string]testCase {
	return map[string]testCase{
		"svm.Candidates.Corpus": {run: choose},
		"svm.Candidates.Near":   {run: choose},
		"svm.Choose":            {run: choose},
		"svm.Measure.Better": {run: func(p *program) {
			a, b := p.strange(), p.strange()
			p.quiet(fmt.Sprint(a, b), func() { _ = svm.Accuracy.Better(a, b); _ = svm.Measure("x").Better(a, b) })
		}},
		"svm.Measure.Format": {run: func(p *program) {
			a := p.strange()
			p.quiet(fmt.Sprint(a), func() { svm.Accuracy.Format(a); svm.Measure("x").Format(a) })
		}},
		"svm.NewPredictor":            {run: predict},
		"svm.NewPredictorContext":     {run: predict},
		"svm.NewProblem":              {run: newProblem},
		"svm.LeastBytes":              {run: newProblem},
		"svm.Options.Device":          {run: svmCallbacks},
		"svm.Options.Progress":        {run: svmCallbacks},
		"svm.PredictOptions.Device":   {run: svmCallbacks},
		"svm.PredictOptions.Progress": {run: svmCallbacks},
		"svm.Prediction.Score":        {run: predict},
		"svm.Predictor.Holding":       {run: predict},
		"svm.Predictor.Predict":       {run: predict},
		"svm.Problem.CrossValidate":   {run: crossValidate},
		"svm.NewSearchTasks":          {run: searchTasks},
		"svm.Problem.Assemble":        {run: trainMachines},
		"svm.Problem.Machines":        {run: trainMachines},
		"svm.Problem.Search":          {run: search},
		"svm.Problem.Train":           {run: problemTrain},
		"svm.Problem.TrainMachines":   {run: trainMachines},
		"svm.ScoreClasses":            {run: scores},
		"svm.ScoreLabels":             {run: scores},
		"svm.ScoreValues":             {run: scores},
		"svm.SearchCorpus":            {run: search},
		"svm.SearchProblems":          {run: search},
		"svm.SearchResult.LeastC": {run: func(p *program) {
			p.quiet("of the zero value", func() { (&svm.SearchResult{}).LeastC() })
			p.quiet("without a best", func() { (&svm.SearchResult{Points: make([]svm.Point, 1), Best: 1}).LeastC() })
		}},
		"svm.SearchResult.Fits": {run: func(p *program) {
			p.quiet("of the zero value", func() { (&svm.SearchResult{}).Fits(); (&svm.SearchResult{}).Saved() })
		}},
		"svm.SearchResult.Saved": {run: func(p *program) {
			p.quiet("of the zero value", func() {
				(&svm.SearchResult{Points: make([]svm.Point, 1)}).Saved()
				(&svm.SearchResult{}).Saved()
			})
		}},
		"svm.SearchTasks.Assemble": {run: searchTasks},
		"svm.SearchTasks.Do":       {run: searchTasks},
		"svm.SearchTasks.Needs":    {run: searchTasks, index: true, panics: true},
		"svm.SearchTasks.Validate": {run: searchTasks},
		"svm.Settings.Measure": {run: func(p *program) {
			p.quiet("of any", func() { (&svm.Settings{}).Measure(); (&svm.Settings{Type: "x", Scheme: 9}).Measure() })
		}},
	}
}

func choose(p *program) {
	c := p.trainingCorpus(pick(p, 2, 3))
	try := func(c *sparse.Corpus, s svm.Settings, from svm.Candidates, opt svm.Options) func() error {
		return func() error { _, err := svm.Choose(p.ctx, c, s, from, opt); return err }
	}
	from := svm.Candidates{C: []float64{1, 10}, Seed: p.Uint64()}
	p.good("C", try(c, svm.Settings{}, from, svm.Options{}))
	p.any("kernels", try(c, svm.Settings{}, svm.Candidates{Kernels: []engine.Kernel{engine.MustParseKernel("linear"),
		engine.MustParseKernel("diffusion")}, Work: p.strange()}, svm.Options{MemoryBytes: int64(p.odd())}))
	p.bad("of nil", try(nil, svm.Settings{}, from, svm.Options{}))
	b, why := p.brokenCorpus(2)
	p.bad("of a corpus with "+why, try(b, svm.Settings{}, from, svm.Options{}))
	p.bad("regression", try(c, svm.Settings{Type: model.EpsilonSVR}, from, svm.Options{}))
	p.bad("a nil kernel", try(c, svm.Settings{}, svm.Candidates{Kernels: []engine.Kernel{nil}}, svm.Options{}))
	p.bad("work", try(c, svm.Settings{}, svm.Candidates{Work: pick(p, -1, math.NaN(), math.Inf(1))}, svm.Options{}))
	p.bad("cuts without a function", try(c, svm.Settings{}, svm.Candidates{Cuts: 2}, svm.Options{}))
	p.bad("-1 finalists", try(c, svm.Settings{}, svm.Candidates{Final: -1}, svm.Options{}))
	from.Cuts = 2
	from.Corpus = func(context.Context, int, []int) (*sparse.Corpus, error) { return pick(p, c, b, nil), nil }
	from.Near = func(k engine.Kernel) []engine.Kernel { return pick(p, nil, []engine.Kernel{nil, k}) }
	p.any("cuts and neighbours", try(c, svm.Settings{}, from, svm.Options{}))
	scheme := pick(p, solver.Scheme(-1), 9)
	p.bad("no scheme", try(c, svm.Settings{}, svm.Candidates{Schemes: []solver.Scheme{scheme}}, svm.Options{}))
}

func newProblem(p *program) {
	p.quiet("LeastBytes", func() { svm.LeastBytes(p.odd(), p.odd(), p.odd(), int64(p.odd()), p.odd()) })
	c := p.corpus(p.IntN(4))
	e := p.embedding()
	try := func(c *sparse.Corpus, e sparse.Embedding, opt svm.Options) func() error {
		return func() error {
			pr, err := svm.NewProblem(p.ctx, c, e, opt)
			if err == nil {
				if pr.Len() != c.Documents.Rows() {
					p.fails("%d documents, expected %d", pr.Len(), c.Documents.Rows())
				}
				err = pr.Engine().Close()
			}
			return err
		}
	}
	p.good(fmt.Sprint(e, " of ", c.Documents.Rows(), " documents"), try(c, e, svm.Options{}))
	opt := svm.Options{Workers: pick(p, -1, 0, 2, math.MinInt), MemoryBytes: int64(p.odd()),
		HeldBytes: int64(p.odd()), CacheBytes: int64(p.odd()), Once: p.chance(2)}
	p.any(fmt.Sprintf("%+v", opt), try(c, e, opt))
	p.bad("of nil", try(nil, e, svm.Options{}))
	p.bad("of the zero value", try(&sparse.Corpus{}, e, svm.Options{}))
	p.bad("of no documents", try(&sparse.Corpus{Documents: &sparse.CSR{Cols: 1, Offsets: []int64{0}}}, e,
		svm.Options{}))
	b, why := p.brokenCorpus(2)
	p.bad("of a corpus with "+why, try(b, e, svm.Options{}))
	p.bad("of an instruction set that there isn't", try(c, e, svm.Options{ISA: "none"}))
	p.bad("in a byte", try(c, e, svm.Options{MemoryBytes: 1}))
	p.bad("of an embedding that there isn't", try(c, sparse.Embedding{Norm: 9}, svm.Options{}))
}

// problem makes a problem of so many classes.
func (p *program) problem(classes int) (*svm.Problem, *sparse.Corpus) {
	c := p.trainingCorpus(classes)
	pr, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{Workers: p.IntN(3), Once: p.chance(4)})
	if err != nil {
		panic(err)
	}
	return pr, c
}

func (p *program) badSettings() (svm.Settings, string) {
	switch p.IntN(8) {
	case 0:
		v := pick(p, math.NaN(), -1, math.Inf(1))
		return svm.Settings{C: v}, fmt.Sprint("C of ", v)
	case 1:
		v := pick(p, math.NaN(), -1, 2, math.Inf(1))
		return svm.Settings{Type: model.NuSVC, Nu: v}, fmt.Sprint("nu of ", v)
	case 2:
		v := pick(p, math.NaN(), -1)
		return svm.Settings{Tolerance: v}, fmt.Sprint("a tolerance of ", v)
	case 3:
		return svm.Settings{Type: "nonsense"}, "no type"
	case 4:
		return svm.Settings{Scheme: pick(p, solver.Scheme(-1), 9)}, "no scheme"
	case 5:
		return svm.Settings{Weights: map[string]float64{"nowhere": 1}}, "the weight of a class that there isn't"
	case 6:
		return svm.Settings{Weights: map[string]float64{"class 0": pick(p, math.NaN(), -1,
			math.Inf(1))}}, "a weight that can't be"
	default:
		return svm.Settings{Kernel: engine.MustParseKernel("linear")}, "a kernel of another embedding"
	}
}

func problemTrain(p *program) {
	classes := pick(p, 2, 3)
	pr, _ := p.problem(classes)
	try := func(ctx context.Context, s svm.Settings) func() error {
		return func() error {
			m, _, err := pr.Train(ctx, s)
			if err == nil {
				err = m.Validate()
			}
			return err
		}
	}
	p.good("with defaults", try(p.ctx, svm.Settings{}))
	// With a C of 1e300 the search may take all of its ten million steps, for minutes; its context ends it.
	limited, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	p.any("any type", try(limited, svm.Settings{Type: pick(p, model.CSVC, model.NuSVC, model.OneClass,
		model.EpsilonSVR, model.NuSVR), Scheme: pick(p, solver.OneVsOne, solver.OneVsRest, solver.Labels),
		Nu: pick(p, 0, 0.01, 0.99, 1), Probabilities: p.chance(2), C: pick(p, 0, 1e-300, 1e300)}))
	s, why := p.badSettings()
	p.bad(why, try(p.ctx, s))
	p.bad("a kernel that panics", func() error {
		own := p.panicking()
		pr, err := svm.NewProblem(p.ctx, p.trainingCorpus(2), own.Embedding(), svm.Options{})
		if err == nil {
			_, _, err = pr.Train(p.ctx, svm.Settings{Kernel: own})
		}
		return err
	})
	one, err := svm.NewProblem(p.ctx, p.trainingCorpus(1), sparse.Sphere, svm.Options{})
	if err == nil {
		p.bad("one class", func() error { _, _, err := one.Train(p.ctx, svm.Settings{}); return err })
	}
	bare := p.trainingCorpus(2)
	bare.Labels, bare.Classes = sparse.Labels{}, nil
	none, err := svm.NewProblem(p.ctx, bare, sparse.Sphere, svm.Options{})
	if err == nil {
		p.bad("no labels", func() error { _, _, err := none.Train(p.ctx, svm.Settings{}); return err })
	}
	empty := p.trainingCorpus(2)
	empty.Classes = append(empty.Classes, "of no document")
	with, err := svm.NewProblem(p.ctx, empty, sparse.Sphere, svm.Options{})
	if err == nil {
		p.any("a class without documents", func() error {
			m, _, err := with.Train(p.ctx, svm.Settings{Scheme: pick(p, solver.OneVsOne, solver.OneVsRest),
				Probabilities: p.chance(3)})
			if err == nil {
				err = m.Validate()
			}
			return err
		})
	}
}

func crossValidate(p *program) {
	pr, c := p.problem(pick(p, 2, 3))
	s := svm.Settings{Scheme: pick(p, solver.OneVsOne, solver.OneVsRest)}
	p.any("two folds", func() error { _, err := pr.CrossValidate(p.ctx, s, 2, p.Uint64()); return err })
	k := pick(p, -1, 0, 1, c.Documents.Rows()+1, math.MaxInt, math.MinInt)
	p.bad(fmt.Sprint(k, " folds"), func() error { _, err := pr.CrossValidate(p.ctx, s, k, 1); return err })
	bad, why := p.badSettings()
	p.bad(why, func() error { _, err := pr.CrossValidate(p.ctx, bad, 2, 1); return err })
	p.bad("one class", func() error {
		_, err := pr.CrossValidate(p.ctx, svm.Settings{Type: model.OneClass}, 2, 1)
		return err
	})
}

func search(p *program) {
	pr, c := p.problem(2)
	grid := svm.Grid{C: []float64{1, 10}, Folds: 2}
	each := func(svm.Point) {}
	p.any("two points", func() error {
		r, err := pr.Search(p.ctx, svm.Settings{}, grid, each)
		if err == nil && (len(r.Points) != 2 || r.Best < 0) {
			p.fails("%d points, expected 2", len(r.Points))
		}
		return err
	})
	wrong := grid
	switch p.IntN(6) {
	case 0:
		wrong.C = []float64{1, pick(p, math.NaN(), -1, math.Inf(1))}
	case 1:
		wrong.Folds = pick(p, -1, 1, math.MaxInt, math.MinInt)
	case 2:
		wrong.Kernels = []engine.Kernel{nil}
	case 3:
		wrong.Kernels = []engine.Kernel{engine.MustParseKernel("diffusion"), engine.MustParseKernel("linear")}
	case 4:
		wrong.Nu = []float64{pick(p, math.NaN(), 2, -1)}
	case 5:
		wrong.Epsilon = []float64{pick(p, math.NaN(), -1)}
	}
	what := fmt.Sprintf("%+v", wrong)
	t := pick(p, model.Type(""), model.NuSVC)
	if wrong.Nu != nil {
		t = model.NuSVC
	}
	p.bad(what, func() error { _, err := pr.Search(p.ctx, svm.Settings{Type: t, C: -1}, wrong, nil); return err })
	p.any("SearchCorpus, "+what, func() error {
		_, err := svm.SearchCorpus(p.ctx, c, svm.Settings{}, wrong, svm.Options{}, nil)
		return err
	})
	p.bad("that panics", func() error {
		_, err := pr.Search(p.ctx, svm.Settings{}, grid, func(svm.Point) { panic(ownPanic) })
		return err
	})
	p.bad("SearchCorpus of nil", func() error {
		_, err := svm.SearchCorpus(p.ctx, nil, svm.Settings{}, grid, svm.Options{}, each)
		return err
	})
	b, why := p.brokenCorpus(2)
	p.bad("SearchCorpus of a corpus with "+why, func() error {
		_, err := svm.SearchCorpus(p.ctx, b, svm.Settings{}, grid, svm.Options{}, each)
		return err
	})
	p.bad("SearchProblems without problems", func() error {
		_, err := svm.SearchProblems(p.ctx, svm.Settings{}, grid, nil, each)
		return err
	})
	p.bad("SearchProblems of no problem", func() error {
		_, err := svm.SearchProblems(p.ctx, svm.Settings{}, grid, func(int, sparse.Embedding) (*svm.Problem, error) {
			return nil, nil
		}, each)
		return err
	})
	p.bad("SearchProblems that fail", func() error {
		_, err := svm.SearchProblems(p.ctx, svm.Settings{}, grid, func(int, sparse.Embedding) (*svm.Problem, error) {
			return nil, errors.New("own: failed")
		}, each)
		return err
	})
}
