package doors

import (
	"bytes"
	"fmt"

	"github.com/gramengine/gram/solver/lmnn"
)

func metricCases() map[string]testCase {
	return map[string]testCase{
		"lmnn.Train":             {run: metrics},
		"lmnn.Settings.Validate": {run: metrics},
		"lmnn.Model.Predict":     {run: metrics},
		"lmnn.Model.Validate":    {run: metrics},
		"lmnn.Model.Write":       {run: metrics},
		"lmnn.Model.Bytes":       {run: metrics},
		"lmnn.Model.Rows":        {run: metrics},
		"lmnn.Load":              {run: metrics},
		"lmnn.Read":              {run: metrics},
		"lmnn.Options.Progress":  {run: metrics},
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
	p.bad("Train on nothing", func() error { _, err := lmnn.Train(p.ctx, nil, s, lmnn.Options{}); return err })
	var m *lmnn.Model
	p.any("Train", func() (err error) { // no class may have two documents
		m, err = lmnn.Train(p.ctx, c, s, lmnn.Options{Workers: pick(p, 0, 1, 3)})
		return err
	})
	if m == nil {
		return
	}
	p.bad("Train with progress that panics", func() error {
		_, err := lmnn.Train(p.ctx, c, s, lmnn.Options{Progress: func(int, int, float64, int64) { panic(ownPanic) }})
		return err
	})
	p.bad("Train in too little memory", func() error {
		_, err := lmnn.Train(p.ctx, c, s, lmnn.Options{MemoryBytes: 1})
		return err
	})
	p.quiet("Bytes, Rows", func() { _, _ = m.Bytes(), m.Rows() })
	var file bytes.Buffer
	p.good("Write", func() error { return m.Write(p.ctx, &file) })
	data := file.Bytes()
	p.good("Read", func() error { _, err := lmnn.Read(p.ctx, bytes.NewReader(data)); return err })
	path := p.file("x.model", string(data))
	p.good("Load", func() error { _, err := lmnn.Load(p.ctx, path); return err })
	p.bad("Load of no file", func() error { _, err := lmnn.Load(p.ctx, path+"x"); return err })
	p.bad("Read of a part", func() error {
		_, err := lmnn.Read(p.ctx, bytes.NewReader(data[:p.IntN(len(data))]))
		return err
	})
	p.bad("Read of nothing", func() error { _, err := lmnn.Read(p.ctx, nil); return err })
	p.bad("Write to nothing", func() error { return m.Write(p.ctx, nil) })
	p.good("Predict", func() error {
		out, err := m.Predict(p.ctx, c.Documents, lmnn.Options{Workers: pick(p, 0, 1, 3)})
		if err == nil {
			for _, class := range out.Class {
				if class < 0 || class >= len(m.Classes) {
					p.fails("class %d of %d", class, len(m.Classes))
				}
			}
		}
		return err
	})
	p.bad("Predict nothing", func() error { _, err := m.Predict(p.ctx, nil, lmnn.Options{}); return err })
	broken := *m
	broken.Targets = nil
	p.bad("Predict by a broken model", func() error {
		_, err := broken.Predict(p.ctx, c.Documents, lmnn.Options{})
		return err
	})
	p.bad("Validate of a broken model", broken.Validate)
	p.bad("Write of a broken model", func() error { return broken.Write(p.ctx, &file) })
}
