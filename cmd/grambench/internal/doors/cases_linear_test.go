package doors

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/linear"
)

func linearCases() map[string]testCase {
	return map[string]testCase{
		"linear.Train":            {run: linearTrain},
		"linear.TrainPath":        {run: linearTrain},
		"linear.Model.Predict":    {run: linearModels},
		"linear.Model.Validate":   {run: linearModels},
		"linear.Model.Write":      {run: linearModels},
		"linear.Load":             {run: linearModels},
		"linear.Options.Progress": {run: linearProgress},
		"linear.Read":             {run: linearModels},
	}
}

// lines draws settings.
func (p *program) lines() linear.Settings {
	s := linear.Settings{
		C: pick(p, 0, 0.1, 10, 1e12), Scheme: pick(p, solver.OneVsRest, solver.Labels), Iterations: 30,
		Loss: pick(p, linear.SquaredHinge, linear.Hinge), Intercept: pick(p, 0, 0.5, math.MaxFloat32),
	}
	s.NoBias = s.Intercept == 0 && p.chance(2)
	return s
}

// badLines draws settings that are refused, and says why.
func (p *program) badLines() (linear.Settings, string) {
	s := p.lines()
	switch p.IntN(6) {
	case 0:
		s.C = pick(p, -1, math.NaN(), math.Inf(1))
		return s, fmt.Sprint("C ", s.C)
	case 1:
		s.Tolerance = pick(p, -1, 1, math.NaN())
		return s, fmt.Sprint("tolerance ", s.Tolerance)
	case 2:
		s.Iterations = -1
		return s, "iterations"
	case 3:
		s.Loss = linear.Loss(pick(p, -1, 2))
		return s, "loss"
	case 4:
		s.Intercept, s.NoBias = pick(p, -1, math.NaN(), math.Inf(1)), p.chance(2)
		return s, fmt.Sprint("intercept ", s.Intercept)
	}
	s.Scheme = solver.Scheme(pick(p, -1, 9))
	return s, "scheme"
}

// linearProgress has a report of progress panic.
func linearProgress(p *program) {
	c := p.trainingCorpus(2)
	m, err := linear.Train(p.ctx, c, rootEmbedding, linear.Settings{}, linear.Options{})
	if err != nil {
		p.fails("%v", err)
		return
	}
	opt := linear.Options{Progress: func(linear.Progress) { panic("progress") }}
	p.bad("of Train", func() error {
		_, err := linear.Train(p.ctx, c, rootEmbedding, linear.Settings{}, opt)
		return err
	})
	p.bad("of Predict", func() error { _, err := m.Predict(p.ctx, c.Documents, opt); return err })
}

func linearTrain(p *program) {
	s, c := p.lines(), p.trainingCorpus(pick(p, 2, 3))
	opt := linear.Options{Workers: pick(p, 0, 1, 3)}
	p.good(fmt.Sprintf("%+v", s), func() error {
		m, err := linear.Train(p.ctx, c, rootEmbedding, s, opt)
		if err == nil {
			err = m.Validate()
		}
		return err
	})
	p.good("a path", func() error {
		models, err := linear.TrainPath(p.ctx, c, rootEmbedding, s, []float64{0.1, 1}, opt)
		if err == nil && len(models) != 2 {
			p.fails("%d models", len(models))
		}
		return err
	})
	for _, prices := range [][]float64{{}, {1, 1}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		p.any(fmt.Sprint("prices ", prices), func() error {
			_, err := linear.TrainPath(p.ctx, c, rootEmbedding, s, prices, opt)
			return err
		})
	}
	bad, why := p.badLines()
	p.bad(why, func() error { _, err := linear.Train(p.ctx, c, rootEmbedding, bad, opt); return err })
	broken, why := p.brokenCorpus(2)
	p.bad(why, func() error { _, err := linear.Train(p.ctx, broken, rootEmbedding, s, opt); return err })
	p.bad("no context", func() error {
		//lint:ignore SA1012 a nil context is the point
		_, err := linear.Train(nil, c, rootEmbedding, s, opt)
		return err
	})
	p.bad("workers", func() error {
		_, err := linear.Train(p.ctx, c, rootEmbedding, s, linear.Options{Workers: -1})
		return err
	})
	p.bad("memory", func() error {
		_, err := linear.Train(p.ctx, c, rootEmbedding, s, linear.Options{MemoryBytes: 1})
		return err
	})
}

func linearModels(p *program) {
	c := p.trainingCorpus(2)
	m, err := linear.Train(p.ctx, c, rootEmbedding, p.lines(), linear.Options{})
	if err != nil {
		p.fails("%v", err)
		return
	}
	var file bytes.Buffer
	p.good("Write", func() error { return m.Write(p.ctx, &file) })
	data := file.Bytes()
	p.good("Read", func() error { _, err := linear.Read(p.ctx, bytes.NewReader(data)); return err })
	path := p.file("x.model", string(data))
	p.good("Load", func() error { _, err := linear.Load(p.ctx, path, nil); return err })
	p.bad("Load of no file", func() error { _, err := linear.Load(p.ctx, path+"x", nil); return err })
	p.bad("Read of a part", func() error {
		_, err := linear.Read(p.ctx, bytes.NewReader(data[:p.IntN(len(data))]))
		return err
	})
	p.bad("Read of nothing", func() error { _, err := linear.Read(p.ctx, nil); return err })
	p.bad("Write to nothing", func() error { return m.Write(p.ctx, nil) })
	p.good("Predict", func() error {
		out, err := m.Predict(p.ctx, c.Documents, linear.Options{})
		for i := range c.Documents.Rows() {
			finite(p, "decisions", out.Decisions[i])
		}
		return err
	})
	p.bad("Predict of nothing", func() error { _, err := m.Predict(p.ctx, nil, linear.Options{}); return err })
	broken, why := p.broken()
	p.bad("Predict: "+why, func() error { _, err := m.Predict(p.ctx, broken, linear.Options{}); return err })
	p.bad("Predict with workers", func() error {
		_, err := m.Predict(p.ctx, c.Documents, linear.Options{Workers: -1})
		return err
	})
	ended, cancel := context.WithCancel(p.ctx)
	cancel()
	p.bad("Predict in an ended context", func() error {
		_, err := m.Predict(ended, c.Documents, linear.Options{})
		return err
	})
	bad := *m
	switch p.IntN(5) {
	case 0:
		bad.Machines = bad.Machines[1:]
	case 1:
		bad.Embedder = nil
	case 2:
		bad.Weights = append([]float64{p.notFinite()}, bad.Weights[1:]...)
	case 3:
		bad.Classes = []string{"a", "a"}
	case 4:
		bad.Weights = bad.Weights[1:]
	}
	p.bad("Validate", bad.Validate)
	p.bad("Predict with a bad model", func() error {
		_, err := bad.Predict(p.ctx, c.Documents, linear.Options{})
		return err
	})
	p.bad("Write of a bad model", func() error { return bad.Write(p.ctx, &bytes.Buffer{}) })
	p.bad("no model", (*linear.Model)(nil).Validate)
}
