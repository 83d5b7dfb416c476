package doors

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/knn"
)

func knnCases() map[string]testCase {
	return map[string]testCase{
		"knn.Train":             {run: knnModels},
		"knn.CrossValidate":     {run: knnModels},
		"knn.Settings.Validate": {run: knnModels},
		"knn.Model.Predict":     {run: knnModels},
		"knn.Model.Validate":    {run: knnModels},
		"knn.Model.Write":       {run: knnModels},
		"knn.Model.Bytes":       {run: knnModels},
		"knn.Load":              {run: knnModels},
		"knn.Read":              {run: knnModels},
		"knn.Options.Progress":  {run: knnModels},
	}
}

func knnModels(p *program) {
	c := p.trainingCorpus(2)
	n := c.Documents.Rows()
	s := knn.Settings{K: pick(p, 0, 1, 3, 300), Kernel: pick(p, "", "linear", "diffusion:t=0.5"), Uniform: p.chance(2)}
	p.good("Settings", s.Validate)
	for _, bad := range []knn.Settings{{K: -1}, {K: 1 << 30}, {Kernel: "nonsense"}} {
		p.bad(fmt.Sprint("Settings ", bad), bad.Validate)
		p.bad(fmt.Sprint("Train ", bad), func() error { _, err := knn.Train(c, bad); return err })
	}
	m, err := knn.Train(c, s)
	if err != nil {
		p.fails("%v", err)
		return
	}
	p.quiet("Bytes", func() { m.Bytes() })
	var file bytes.Buffer
	p.good("Write", func() error { return m.Write(p.ctx, &file) })
	data := file.Bytes()
	p.good("Read", func() error { _, err := knn.Read(p.ctx, bytes.NewReader(data)); return err })
	path := p.file("x.model", string(data))
	p.good("Load", func() error { _, err := knn.Load(p.ctx, path, nil); return err })
	p.bad("Load of no file", func() error { _, err := knn.Load(p.ctx, path+"x", nil); return err })
	p.bad("Read of a part", func() error {
		_, err := knn.Read(p.ctx, bytes.NewReader(data[:p.IntN(len(data))]))
		return err
	})
	p.bad("Read of nothing", func() error { _, err := knn.Read(p.ctx, nil); return err })
	p.bad("Write to nothing", func() error { return m.Write(p.ctx, nil) })
	opt := knn.Options{Workers: pick(p, 0, 1, 3)}
	p.good("Predict", func() error {
		out, err := m.Predict(p.ctx, c.Documents, opt)
		if err == nil {
			for i := range n {
				finite(p, "shares", out.Shares[i])
			}
		}
		return err
	})
	p.bad("Predict of nothing", func() error { _, err := m.Predict(p.ctx, nil, opt); return err })
	broken, why := p.broken()
	p.bad("Predict: "+why, func() error { _, err := m.Predict(p.ctx, broken, opt); return err })
	p.bad("Predict with workers", func() error {
		_, err := m.Predict(p.ctx, c.Documents, knn.Options{Workers: -1})
		return err
	})
	p.bad("Predict with a panic", func() error {
		_, err := m.Predict(p.ctx, c.Documents, knn.Options{Progress: func(engine.Progress) { panic(ownPanic) }})
		return err
	})
	ended, cancel := context.WithCancel(p.ctx)
	cancel()
	p.bad("Predict in an ended context", func() error { _, err := m.Predict(ended, c.Documents, opt); return err })
	parts := make([]int, n)
	for i := range parts {
		parts[i] = p.IntN(3) - i%7/6
	}
	parts[0], parts[n-1] = 0, 1
	p.any("CrossValidate", func() error {
		_, err := knn.CrossValidate(p.ctx, c, []knn.Settings{s, {K: 2}}, parts, opt)
		return err
	})
	p.bad("CrossValidate of too few parts", func() error {
		_, err := knn.CrossValidate(p.ctx, c, []knn.Settings{s}, parts[1:], opt)
		return err
	})
	bad := *m
	switch p.IntN(3) {
	case 0:
		bad.Documents = nil
	case 1:
		bad.Classes = []string{"a", "a"}
	case 2:
		bad.Settings.Kernel = "nonsense"
	}
	p.bad("Validate", bad.Validate)
	p.bad("Predict with a bad model", func() error { _, err := bad.Predict(p.ctx, c.Documents, opt); return err })
	p.bad("Write of a bad model", func() error { return bad.Write(p.ctx, &bytes.Buffer{}) })
	p.bad("no model", (*knn.Model)(nil).Validate)
}
