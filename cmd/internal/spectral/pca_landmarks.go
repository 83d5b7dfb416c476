package spectral

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// sketch computes components from landmarks.
func (c *components) sketch(
	ctx context.Context, e *cli.Env, p *cli.Progress, documents *corpus.Corpus, held int64,
) (*found, error) {
	docs := documents.Documents
	m := min(c.landmarks, docs.Rows())
	source.WarnDoubtful(e, c.kernel)
	values := (docs.NNZ()/int64(docs.Rows()) + 1) * int64(m)
	embedded := sparse.EmbeddedBytes(m, values)
	what := fmt.Sprintf("components of %s by %s", report.Documents(docs.Rows()),
		report.Counted(m, "landmark", "landmarks"))
	if err := c.Fits(what, held+embedded+engine.NewBytes(m, docs.MaxTerms()+1, values)); err != nil {
		return nil, err
	}
	f := &found{embedder: corpus.Fit(c.kernel.Embedding(), documents)}
	f.kernel = kernel.Resolve(c.kernel, len(f.embedder.Terms))
	z, err := f.embedder.TransformRows(ctx, docs, landmark.Choose(docs.Rows(), m, c.seed), c.Workers)
	if err != nil {
		return nil, documents.NameValue(err)
	}
	if f.eng, err = c.Engine(z, c.Job(docs.Rows()), nil); err != nil {
		return nil, err
	}
	f.held = held + z.Bytes() + f.eng.Info().Bytes
	if f.Components, err = c.project(ctx, p, f, z, docs, what); err != nil {
		f.eng.Close()
		return nil, documents.NameValue(err)
	}
	return f, nil
}

// project computes the components from the landmarks z, in a pass over docs.
func (c *components) project(
	ctx context.Context, p *cli.Progress, f *found, z *sparse.Embedded, docs *sparse.CSR, what string,
) (*pca.Components, error) {
	opt := pca.Options{Components: c.count, Tolerance: c.tolerance, Seed: c.seed}
	after := 8 * int64(savedRows) * int64(min(c.count, z.Rows()))
	need := pca.LandmarkBytes(f.eng, opt)
	if err := c.Fits(what, f.held+after+need); err != nil {
		return nil, err
	}
	stage := "components of " + f.kernel.String()
	opt.DocumentProgress = func(done, all int) { p.Tell(stage, int64(done), int64(all), []string{"documents"}) }
	opt.Progress = func(vectors, most int, worst float64) {
		text := fmt.Sprintf("%d vectors", vectors)
		if !math.IsNaN(worst) {
			text += ", residual " + report.Error(worst)
		}
		p.Tell(stage, int64(vectors), int64(most), []string{text})
	}
	p.Stage(stage)
	defer p.Clear()
	return pca.FitNystrom(ctx, f.eng, z, f.kernel, docs, opt)
}
