package doors

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/landmark"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func landmarkCases() map[string]testCase {
	return map[string]testCase{
		"landmark.Train":             {run: landmarkTrain},
		"landmark.TrainPath":         {run: landmarkTrain},
		"landmark.Grow":              {run: landmarkTrain},
		"landmark.Choose":            {run: landmarkChoose},
		"landmark.Options.Save":      {run: landmarkStates},
		"landmark.State.Write":       {run: landmarkStates},
		"landmark.State.Passes":      {run: landmarkStates},
		"landmark.ReadState":         {run: landmarkStates},
		"landmark.Settings.Validate": {run: landmarkTrain},
		"landmark.Options.Progress":  {run: landmarkTrain},
		"landmark.Model.Predict":     {run: landmarkModels},
		"landmark.Model.Validate":    {run: landmarkModels},
		"landmark.Model.Write":       {run: landmarkModels},
		"landmark.Model.Bytes":       {run: landmarkModels},
		"landmark.Options.Pass":      {run: landmarkPasses},
		"landmark.NewPassing":        {run: landmarkPasses},
		"landmark.Passing.Block":     {run: landmarkPasses},
		"landmark.Request.Blocks":    {run: landmarkPasses},
		"landmark.Request.Check":     {run: landmarkPasses},
		"landmark.Load":              {run: landmarkModels},
		"landmark.Read":              {run: landmarkModels},
	}
}

// landmarks draws settings.
func (p *program) landmarks() landmark.Settings {
	return landmark.Settings{
		Landmarks: pick(p, 1, 5, 1000), Loss: pick(p, landmark.Square, landmark.Logistic, landmark.Hinge2),
		Choice: pick(p, landmark.Uniform, landmark.Stratified, landmark.Pivoted), C: pick(p, 0, 0.1, 10),
		Kernel: pick(p, "", "linear", "rbf"), Scheme: pick(p, solver.OneVsRest, solver.Labels), Iterations: 20,
	}
}

func landmarkTrain(p *program) {
	s, c := p.landmarks(), p.trainingCorpus(pick(p, 2, 3))
	opt := landmark.Options{Workers: pick(p, 0, 1, 3)}
	p.good(fmt.Sprintf("Settings %+v", s), s.Validate)
	trainings(p, c, s, landmark.Settings{C: -1}, "C -1", func(
		ctx context.Context, c *sparse.Corpus, s landmark.Settings, o call,
	) error {
		m, err := landmark.Train(ctx, c, s, landmarkOptions(o))
		if err == nil {
			err = m.Validate()
		}
		return err
	})
	paths(p, func(prices []float64) (int, error) {
		models, err := landmark.TrainPath(p.ctx, c, s, prices, opt)
		return len(models), err
	})
	for _, bad := range []landmark.Settings{
		{Landmarks: -1}, {Landmarks: math.MaxInt}, {Loss: -1}, {Loss: 3}, {Choice: 7}, {C: math.NaN()}, {C: -1},
		{C: math.Inf(1)}, {Tolerance: 1}, {Tolerance: math.NaN()}, {Iterations: -1}, {Scheme: 9}, {Kernel: "nonsense"},
		{Kernel: "ngd"},
	} {
		p.bad(fmt.Sprint("Settings ", bad), bad.Validate)
		p.bad(fmt.Sprint("Train ", bad), func() error { _, err := landmark.Train(p.ctx, c, bad, opt); return err })
	}
	for _, bad := range []landmark.Options{{MemoryBytes: -1}, {KeptBytes: -1}, {ISA: "nonsense"}} {
		p.bad("bad options", func() error { _, err := landmark.Train(p.ctx, c, s, bad); return err })
	}
	p.any("Grow", func() error {
		_, _, err := landmark.Grow(p.ctx, c, s, opt, pick(p, 0.0, 1, 1e9), pick[time.Duration](p, 0, 1, time.Hour), nil)
		return err
	})
	p.bad("Grow without a corpus", func() error { _, _, err := landmark.Grow(p.ctx, nil, s, opt, 0, 0, nil); return err })
	p.bad("Grow in a time below 0", func() error { _, _, err := landmark.Grow(p.ctx, c, s, opt, 0, -1, nil); return err })
	p.bad("Grow with work below 0", func() error { _, _, err := landmark.Grow(p.ctx, c, s, opt, -1, 0, nil); return err })
	p.bad("Grow that panics", func() error {
		_, _, err := landmark.Grow(p.ctx, c, s, opt, 0, 0, func(landmark.Growth) { panic(ownPanic) })
		return err
	})
}

func landmarkOptions(o call) landmark.Options {
	return landmark.Options{Workers: o.workers, MemoryBytes: o.memory, Progress: report[engine.Progress](o)}
}

func landmarkModels(p *program) {
	c := p.trainingCorpus(2)
	m, err := landmark.Train(p.ctx, c, p.landmarks(), landmark.Options{})
	if err != nil {
		p.fails("%v", err)
		return
	}
	p.quiet("Bytes", func() { m.Bytes() })
	wrong := *m
	switch p.IntN(4) {
	case 0:
		wrong.Landmarks = nil
	case 1:
		wrong.Classes = []string{"a", "a"}
	case 2:
		wrong.Settings.Kernel = "linear:embed=tfidf-l2"
	case 3:
		wrong.Machines = wrong.Machines[1:]
	}
	models(p, c.Documents, learnt[*landmark.Model]{
		model: m, wrong: &wrong, read: landmark.Read, load: early(landmark.Load),
		predict: func(ctx context.Context, m *landmark.Model, documents *sparse.CSR, o call) error {
			out, err := m.Predict(ctx, documents, landmarkOptions(o))
			if err == nil {
				for _, f := range out.Decisions {
					finite(p, "decisions", f)
				}
			}
			return err
		},
	})
}

// landmarkStates writes states that no training made, and reads damaged ones.
func landmarkStates(p *program) {
	s := &landmark.State{}
	p.quiet("Passes", func() { s.Passes() })
	p.quiet("Passes of none", func() { (*landmark.State)(nil).Passes() })
	var file bytes.Buffer
	p.good("Write", func() error { return s.Write(p.ctx, &file) })
	p.bad("Write of none", func() error { return (*landmark.State)(nil).Write(p.ctx, &file) })
	p.bad("Write to nothing", func() error { return s.Write(p.ctx, nil) })
	data := file.Bytes()
	p.good("ReadState", func() (err error) { s, err = landmark.ReadState(p.ctx, bytes.NewReader(data)); return err })
	p.bad("ReadState of a part", func() error {
		_, err := landmark.ReadState(p.ctx, bytes.NewReader(data[:p.IntN(len(data))]))
		return err
	})
	p.bad("ReadState of nothing", func() error { _, err := landmark.ReadState(p.ctx, nil); return err })
	p.good("a training with an empty state", func() error {
		_, err := landmark.Train(p.ctx, p.trainingCorpus(2), p.landmarks(), landmark.Options{
			Resume: s, Save: func(*landmark.State) error { panic(ownPanic) }, // never called in so short a training
		})
		return err
	})
}

func landmarkChoose(p *program) {
	s, c := p.landmarks(), p.corpus(2)
	n := c.Documents.Rows()
	opt := landmark.Options{Workers: pick(p, 0, 1, 3)}
	choose := func(c *sparse.Corpus, s landmark.Settings, opt landmark.Options) func() error {
		return func() error {
			at, err := landmark.Choose(p.ctx, c, s, opt)
			for _, i := range at {
				if i < 0 || i >= n {
					p.fails("document %d of %d", i, n)
				}
			}
			return err
		}
	}
	p.any("Choose", choose(c, s, opt)) // it may have no documents
	p.bad("Choose of nothing", choose(nil, s, opt))
	p.bad("Choose fewer than none", choose(c, landmark.Settings{Landmarks: -1}, opt))
	p.bad("Choose on fewer workers than none", choose(c, s, landmark.Options{Workers: -1}))
	broken, what := p.brokenCorpus(2)
	p.bad("Choose of "+what, choose(broken, s, opt))
}

// landmarkPasses trains with passes taken elsewhere, and asks for some that make no sense.
func landmarkPasses(p *program) {
	s, c := p.landmarks(), p.trainingCorpus(2)
	var asked *landmark.Request
	one := func(q *landmark.Request, block int) (*landmark.Sums, error) {
		passing, err := landmark.NewPassing(p.ctx, c, s, q, landmark.Options{})
		if err != nil {
			return nil, err
		}
		defer passing.Close()
		return passing.Block(p.ctx, block)
	}
	train := func(pass func(context.Context, *landmark.Request, func(int, *landmark.Sums) error) error) func() error {
		return func() error {
			_, err := landmark.Train(p.ctx, c, s, landmark.Options{Pass: pass})
			return err
		}
	}
	fine := p.good("Options.Pass", train(func(
		_ context.Context, q *landmark.Request, add func(int, *landmark.Sums) error,
	) error {
		asked = q
		for block := range q.Blocks() {
			sums, err := one(q, block)
			if err == nil {
				err = add(block, sums)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
	p.bad("Options.Pass that panics", train(func(
		context.Context, *landmark.Request, func(int, *landmark.Sums) error,
	) error {
		panic(ownPanic)
	}))
	p.bad("Options.Pass without sums", train(func(
		context.Context, *landmark.Request, func(int, *landmark.Sums) error,
	) error {
		return nil
	}))
	p.bad("Options.Pass with wrong sums", train(func(
		_ context.Context, _ *landmark.Request, add func(int, *landmark.Sums) error,
	) error {
		return add(pick(p, 0, 1, -1), pick(p, nil, &landmark.Sums{}))
	}))
	p.quiet("Blocks of none", func() { (*landmark.Request)(nil).Blocks() })
	p.bad("Check of none", func() error { return (*landmark.Request)(nil).Check(0, nil) })
	p.bad("Block of none", func() error { _, err := (*landmark.Passing)(nil).Block(p.ctx, 0); return err })
	p.bad("NewPassing without a request", func() error { _, err := one(nil, 0); return err })
	if !fine {
		return
	}
	p.bad("a block that isn't there", func() error {
		_, err := one(asked, pick(p, -1, asked.Blocks(), math.MaxInt))
		return err
	})
	wrong := *asked
	switch p.IntN(5) {
	case 0:
		wrong.Rows = pick(p, -1, 0, math.MaxInt)
	case 1:
		wrong.Landmarks = pick(p, nil, []int{-1}, []int{math.MaxInt})
	case 2:
		wrong.Classes, wrong.At, wrong.Step = []int{9}, make([]float64, len(wrong.Landmarks)), nil
	case 3:
		wrong.Step, wrong.At, wrong.Classes = []float64{math.NaN()}, nil, nil
	case 4:
		wrong.Of = []int{-1}
	}
	p.bad("a wrong request", func() error { _, err := one(&wrong, 0); return err })
}
