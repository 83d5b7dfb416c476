package doors

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/logistic"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func logisticCases() map[string]testCase {
	return map[string]testCase{
		"logistic.Train":             {run: logisticTrain},
		"logistic.TrainPath":         {run: logisticTrain},
		"logistic.Choose":            {run: logisticTrain},
		"logistic.NewDocuments":      {run: logisticMachines},
		"logistic.Documents.Problem": {run: logisticMachines},
		"logistic.Problem.Train":     {run: logisticMachines},
		"logistic.Machine.Decisions": {run: logisticMachines},
		"logistic.Model.Predict":     {run: logisticModels},
		"logistic.Model.Validate":    {run: logisticModels},
		"logistic.Model.Write":       {run: logisticModels},
		"logistic.Load":              {run: logisticModels},
		"logistic.Options.Progress":  {run: logisticTrain},
		"logistic.Read":              {run: logisticModels},
	}
}

// regression draws settings.
func (p *program) regression() logistic.Settings {
	s := logistic.Settings{C: pick(p, 0, 0.1, 10, math.Inf(1)), Scheme: pick(p, solver.OneVsRest, solver.Labels),
		Iterations: 30}
	if p.chance(2) {
		s.Margin, s.Starts, s.Pull = logistic.Spherical, pick(p, 0, 2), pick(p, 0.0, 3)
		s.Boundary, s.Ascent = pick(p, logistic.Exact, logistic.Paper), p.chance(3)
	}
	return s
}

// badRegressionSettings draws settings that are refused, and says why.
func (p *program) badRegressionSettings() (logistic.Settings, string) {
	s := p.regression()
	switch p.IntN(7) {
	case 0:
		s.C = pick(p, -1, math.NaN(), math.Inf(-1))
		return s, fmt.Sprint("C ", s.C)
	case 1:
		s.Tolerance = pick(p, -1, 1, math.NaN())
		return s, fmt.Sprint("tolerance ", s.Tolerance)
	case 2:
		s.Iterations = -1
		return s, "iterations"
	case 3:
		s.Starts = -1
		return s, "starts"
	case 4:
		s.Margin = logistic.Margin(pick(p, -1, 2))
		return s, "margin"
	case 5:
		s.Pull = pick(p, -1, math.NaN(), math.Inf(1))
		return s, "pull"
	}
	s.Scheme = solver.Scheme(pick(p, -1, 9))
	return s, "scheme"
}

var rootEmbedding = sparse.Sphere

func logisticTrain(p *program) {
	s, c := p.regression(), p.trainingCorpus(pick(p, 2, 3))
	opt := logistic.Options{Workers: pick(p, 0, 1, 3)}
	bad, why := p.badRegressionSettings()
	trainings(p, c, s, bad, why, func(ctx context.Context, c *sparse.Corpus, s logistic.Settings, o call) error {
		m, err := logistic.Train(ctx, c, rootEmbedding, s, logisticOptions(o))
		if err == nil {
			err = m.Validate()
		}
		return err
	})
	paths(p, func(prices []float64) (int, error) {
		models, err := logistic.TrainPath(p.ctx, c, rootEmbedding, s, prices, opt)
		return len(models), err
	})
	p.good("a choice", func() error {
		_, best, err := logistic.Choose(p.ctx, c, rootEmbedding, s, []float64{0.1, 1}, 2, 1, opt)
		if best < 0 || best > 1 {
			p.fails("best %d", best)
		}
		return err
	})
	for _, folds := range []int{-1, 0, 1, c.Documents.Rows() + 1} {
		p.bad(fmt.Sprint("folds ", folds), func() error {
			_, _, err := logistic.Choose(p.ctx, c, rootEmbedding, s, []float64{1}, folds, 1, opt)
			return err
		})
	}
}

func logisticOptions(o call) logistic.Options {
	return logistic.Options{Workers: o.workers, MemoryBytes: o.memory, Progress: report[engine.Progress](o)}
}

func logisticMachines(p *program) {
	s, c := p.regression(), p.trainingCorpus(2)
	x := p.embedded(rootEmbedding, c.Documents)
	docs, err := logistic.NewDocuments(x)
	if err != nil {
		p.fails("%v", err)
		return
	}
	n := x.Rows()
	positive := make([]bool, n)
	for i := range positive {
		positive[i] = p.chance(2)
	}
	var m *logistic.Machine
	p.good("a machine", func() error {
		pr, err := docs.Problem(nil)
		if err != nil {
			return err
		}
		machines, err := pr.Train(p.ctx, positive, []float64{1, 2}, s, logistic.Options{})
		if err == nil {
			m = machines[1]
			p.bad("labels", func() error {
				_, err := pr.Train(p.ctx, positive[1:], nil, s, logistic.Options{})
				return err
			})
			bad, why := p.badRegressionSettings()
			p.bad(why, func() error { _, err := pr.Train(p.ctx, positive, nil, bad, logistic.Options{}); return err })
			p.bad("no context", func() error {
				//lint:ignore SA1012 a nil context is the point
				_, err := pr.Train(nil, positive, nil, s, logistic.Options{})
				return err
			})
		}
		return err
	})
	p.good("decisions", func() error {
		values, err := m.Decisions(docs, []int{n - 1, 0}, s)
		finite(p, "decisions", values)
		return err
	})
	at := p.outside(n)
	p.bad(fmt.Sprint("decisions on ", at), func() error { _, err := m.Decisions(docs, []int{at}, s); return err })
	p.bad(fmt.Sprint("a problem of ", at), func() error { _, err := docs.Problem([]int{at}); return err })
	p.bad("a problem of none", func() error { _, err := docs.Problem([]int{}); return err })
	p.bad("no machine", func() error { _, err := (*logistic.Machine)(nil).Decisions(docs, nil, s); return err })
	p.bad("no documents", func() error { _, err := m.Decisions(nil, nil, s); return err })
	p.bad("an empty machine", func() error { _, err := (&logistic.Machine{}).Decisions(docs, nil, s); return err })
	p.bad("nothing embedded", func() error { _, err := logistic.NewDocuments(nil); return err })
	broken, why := p.brokenEmbedded(rootEmbedding)
	p.any(why, func() error { _, err := logistic.NewDocuments(broken); return err })
}

func logisticModels(p *program) {
	c := p.trainingCorpus(2)
	m, err := logistic.Train(p.ctx, c, rootEmbedding, p.regression(), logistic.Options{})
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
		w := *wrong.Machines[0]
		w.Weights = append([]float64{p.notFinite()}, w.Weights[1:]...)
		wrong.Machines = append([]*logistic.Machine{&w}, wrong.Machines[1:]...)
	case 3:
		wrong.Classes = []string{"a", "a"}
	case 4:
		wrong.Machines = append([]*logistic.Machine{nil}, wrong.Machines[1:]...)
	}
	models(p, c.Documents, learnt[*logistic.Model]{
		model: m, wrong: &wrong, read: logistic.Read, load: early(logistic.Load),
		predict: func(ctx context.Context, m *logistic.Model, documents *sparse.CSR, o call) error {
			out, err := m.Predict(ctx, documents, logisticOptions(o))
			if err == nil {
				for _, f := range out.Probabilities {
					finite(p, "probabilities", f)
				}
			}
			return err
		},
	})
}
