package doors

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/learn/lmnn"
	"github.com/gramengine/gram/sparse"
)

func metricCases() map[string]testCase {
	return map[string]testCase{
		"lmnn.Train":              {run: metrics},
		"lmnn.Choose":             {run: metrics},
		"lmnn.Settings.Validate":  {run: metrics},
		"lmnn.Model.Predict":      {run: metrics},
		"lmnn.Model.Validate":     {run: metrics},
		"lmnn.Model.Write":        {run: metrics},
		"lmnn.Model.Bytes":        {run: metrics},
		"lmnn.Model.Rows":         {run: metrics},
		"lmnn.Bytes":              {run: metrics},
		"lmnn.Model.PredictBytes": {run: metrics},
		"lmnn.Load":               {run: metrics},
		"lmnn.Read":               {run: metrics},
		"lmnn.Options.Progress":   {run: metrics},
	}
}

func metrics(p *program) {
	c := p.trainingCorpus(2)
	s := lmnn.Settings{K: pick(p, 0, 1, 3), Push: pick(p, 0, 0.3), Iterations: 1 + p.IntN(20)}
	p.good("Settings", s.Validate)
	for _, bad := range []lmnn.Settings{{K: -1}, {K: 1000}, {Push: 1}, {Tolerance: p.notFinite()}, {Iterations: -1}} {
		p.bad(fmt.Sprint("Settings ", bad), bad.Validate)
		p.bad(fmt.Sprint("Train ", bad), func() error { _, err := lmnn.Train(p.ctx, c, bad, lmnn.Options{}); return err })
	}
	var m *lmnn.Model
	p.any("Train", func() (err error) { // no class may have two documents
		m, err = lmnn.Train(p.ctx, c, s, lmnn.Options{Workers: pick(p, 0, 1, 3)})
		return err
	})
	if m == nil {
		return
	}
	trainings(p, c, s, lmnn.Settings{K: -1}, "K -1", func(
		ctx context.Context, c *sparse.Corpus, s lmnn.Settings, o call,
	) error {
		opt := lmnn.Options{Workers: o.workers, MemoryBytes: o.memory}
		if o.panics {
			opt.Progress = func(int, int, float64, int64) { panic(ownPanic) }
		}
		_, err := lmnn.Train(ctx, c, s, opt)
		return err
	})
	p.good("Choose", func() error {
		_, err := lmnn.Choose(p.ctx, c, c, s, lmnn.Options{Workers: pick(p, 0, 1, 3)})
		return err
	})
	p.bad("Choose by nothing", func() error { _, err := lmnn.Choose(p.ctx, c, nil, s, lmnn.Options{}); return err })
	p.quiet("Bytes, Rows", func() { _, _ = m.Bytes(), m.Rows() })
	p.quiet("bytes known before", func() { _, _ = lmnn.Bytes(p.odd(), p.odd(), p.odd()), m.PredictBytes(p.odd()) })
	wrong := *m
	wrong.Targets = nil
	models(p, c.Documents, learnt[*lmnn.Model]{
		model: m, wrong: &wrong, read: lmnn.Read, load: lmnn.Load, silent: true,
		predict: func(ctx context.Context, m *lmnn.Model, documents *sparse.CSR, o call) error {
			out, err := m.Predict(ctx, documents, lmnn.Options{Workers: o.workers})
			if err == nil {
				for _, class := range out.Class {
					if class < 0 || class >= len(m.Classes) {
						p.fails("class %d of %d", class, len(m.Classes))
					}
				}
			}
			return err
		},
	})
}
