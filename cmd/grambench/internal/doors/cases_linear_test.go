package doors

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/linear"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func linearCases() map[string]testCase {
	return map[string]testCase{
		"linear.Train":            {run: linearTrain},
		"linear.TrainPath":        {run: linearTrain},
		"linear.Model.Predict":    {run: linearModels},
		"linear.Model.Validate":   {run: linearModels},
		"linear.Model.Write":      {run: linearModels},
		"linear.Load":             {run: linearModels},
		"linear.Options.Progress": {run: linearTrain},
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

func linearTrain(p *program) {
	s, c := p.lines(), p.trainingCorpus(pick(p, 2, 3))
	bad, why := p.badLines()
	trainings(p, c, s, bad, why, func(ctx context.Context, c *sparse.Corpus, s linear.Settings, o call) error {
		m, err := linear.Train(ctx, c, rootEmbedding, s, linearOptions(o))
		if err == nil {
			err = m.Validate()
		}
		return err
	})
	paths(p, func(prices []float64) (int, error) {
		models, err := linear.TrainPath(p.ctx, c, rootEmbedding, s, prices, linear.Options{})
		return len(models), err
	})
}

func linearOptions(o call) linear.Options {
	return linear.Options{Workers: o.workers, MemoryBytes: o.memory, Progress: report[engine.Progress](o)}
}

func linearModels(p *program) {
	c := p.trainingCorpus(2)
	m, err := linear.Train(p.ctx, c, rootEmbedding, p.lines(), linear.Options{})
	if err != nil {
		p.fails("%v", err)
		return
	}
	wrong := *m
	switch p.IntN(5) {
	case 0:
		wrong.Machines = wrong.Machines[1:]
	case 1:
		wrong.Embedder = nil
	case 2:
		wrong.Weights = append([]float64{p.notFinite()}, wrong.Weights[1:]...)
	case 3:
		wrong.Classes = []string{"a", "a"}
	case 4:
		wrong.Weights = wrong.Weights[1:]
	}
	models(p, c.Documents, learnt[*linear.Model]{
		model: m, wrong: &wrong, read: linear.Read, load: early(linear.Load),
		predict: func(ctx context.Context, m *linear.Model, documents *sparse.CSR, o call) error {
			out, err := m.Predict(ctx, documents, linearOptions(o))
			if err == nil {
				for _, f := range out.Decisions {
					finite(p, "decisions", f)
				}
			}
			return err
		},
	})
}
