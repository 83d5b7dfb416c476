package doors

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/sparse"
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
	wrong := *m
	switch p.IntN(3) {
	case 0:
		wrong.Documents = nil
	case 1:
		wrong.Classes = []string{"a", "a"}
	case 2:
		wrong.Settings.Kernel = "nonsense"
	}
	models(p, c.Documents, learnt[*knn.Model]{
		model: m, wrong: &wrong, read: knn.Read, load: early(knn.Load),
		predict: func(ctx context.Context, m *knn.Model, documents *sparse.CSR, o call) error {
			out, err := m.Predict(ctx, documents, knn.Options{Workers: o.workers, Progress: report[engine.Progress](o)})
			if err == nil {
				for _, f := range out.Shares {
					finite(p, "shares", f)
				}
			}
			return err
		},
	})
	opt := knn.Options{Workers: pick(p, 0, 1, 3)}
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
}
