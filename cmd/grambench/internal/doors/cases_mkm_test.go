package doors

import (
	"context"
	"io"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/mkm"
	"github.com/gramengine/gram/sparse"
)

func multilayerCases() map[string]testCase {
	return map[string]testCase{
		"mkm.Train":             {run: multilayer},
		"mkm.Path":              {run: multilayer},
		"mkm.PredictAll":        {run: multilayer},
		"mkm.Settings.Validate": {run: multilayer},
		"mkm.Model.Predict":     {run: multilayer},
		"mkm.Model.Validate":    {run: multilayer},
		"mkm.Model.Write":       {run: multilayer},
		"mkm.Model.Bytes":       {run: multilayer},
		"mkm.Model.Width":       {run: multilayer},
		"mkm.Layer.Bytes":       {run: multilayer},
		"mkm.Layer.Width":       {run: multilayer},
		"mkm.Final.String":      {run: multilayer},
		"mkm.Choice.String":     {run: multilayer},
		"mkm.Load":              {run: multilayer},
		"mkm.Read":              {run: multilayer},
		"mkm.ReadState":         {run: multilayer},
		"mkm.State.Write":       {run: multilayer},
		"mkm.State.String":      {run: multilayer},
		"mkm.Options.Save":      {run: multilayer},
		"mkm.Options.Progress":  {run: multilayer},
		"mkm.Options.Chosen":    {run: multilayer},
	}
}

func multilayer(p *program) {
	c := p.trainingCorpus(2)
	s := mkm.Settings{
		Layers: pick(p, nil, []string{"arccos:n=1"}, []string{"arccos:n=0", "rbf:gamma=1"}), Widths: []int{1 + p.IntN(9)},
		Components: 1 + p.IntN(9), Final: pick(p, mkm.Metric, mkm.Neighbours, mkm.Machines), K: 1, C: 1, Seed: p.Uint64(),
	}
	p.good("Settings", s.Validate)
	bad := pick(p, mkm.Settings{Layers: []string{"none"}}, mkm.Settings{Widths: []int{-1}}, mkm.Settings{K: -1},
		mkm.Settings{C: p.notFinite()}, mkm.Settings{Base: -1}, mkm.Settings{Final: 9}, mkm.Settings{Parts: 1})
	p.bad("Settings", bad.Validate)
	p.quiet("String", func() { _, _ = s.Final.String(), mkm.Choice{Level: p.odd(), Documents: p.odd()}.String() })
	var none *mkm.State
	p.quiet("State", func() { _ = none.String() })
	p.bad("State.Write of none", func() error { return none.Write(p.ctx, io.Discard) })
	p.bad("ReadState of nothing", func() error { _, err := mkm.ReadState(p.ctx, nil); return err })
	p.bad("ReadState of a model", func() error { _, err := mkm.ReadState(p.ctx, strings.NewReader(mkm.Form)); return err })
	var m *mkm.Model
	p.any("Train", func() (err error) { // documents may be the same to a kernel
		m, err = mkm.Train(p.ctx, c, s, mkm.Options{
			Workers: pick(p, 0, 1, 3), Resume: pick(p, nil, &mkm.State{}),
			Save: func(*mkm.State) error { panic(ownPanic) }, // never called in so short a training
		})
		return err
	})
	if m == nil {
		return
	}
	trainings(p, c, s, bad, "settings", func(ctx context.Context, c *sparse.Corpus, s mkm.Settings, o call) error {
		_, err := mkm.Path(ctx, c, s, []mkm.Final{s.Final}, 0, mkm.Options{
			Workers: o.workers, MemoryBytes: o.memory, Progress: report[engine.Progress](o), Chosen: report[mkm.Choice](o),
		})
		return err
	})
	p.bad("Path from nowhere", func() error {
		_, err := mkm.Path(p.ctx, c, s, pick(p, nil, []mkm.Final{s.Final}), pick(p, -1, 9), mkm.Options{})
		return err
	})
	p.quiet("Bytes, Width", func() {
		_, _ = m.Bytes(), m.Width()
		for _, l := range m.Layers {
			_, _ = l.Bytes(), l.Width()
		}
	})
	wrong := *m
	wrong.Choices = nil
	models(p, c.Documents, learnt[*mkm.Model]{
		model: m, wrong: &wrong, read: mkm.Read, silent: len(m.Layers) == 0,
		load: func(ctx context.Context, path string) (*mkm.Model, error) { return mkm.Load(ctx, path, nil) },
		predict: func(ctx context.Context, m *mkm.Model, documents *sparse.CSR, o call) error {
			out, err := mkm.PredictAll(ctx, []*mkm.Model{m, m}, documents, mkm.Options{
				Workers: o.workers, MemoryBytes: o.memory, Progress: report[engine.Progress](o),
			})
			if err == nil {
				for _, class := range out[1].Class {
					if class < 0 || class >= len(m.Classes) {
						p.fails("class %d of %d", class, len(m.Classes))
					}
				}
			}
			return err
		},
	})
}
