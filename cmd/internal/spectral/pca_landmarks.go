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

func (c *pcaFlags) fitLandmarks(
	ctx context.Context, e *cli.Env, p *cli.Progress, documents *corpus.Corpus, held int64,
) (*projection, error) {
	docs := documents.Documents
	m := min(c.numLandmarks, docs.Rows())
	source.WarnIndefinite(e, c.kernel)
	values := (docs.NNZ()/int64(docs.Rows()) + 1) * int64(m)
	embedded := sparse.EmbeddedBytes(m, values)
	what := fmt.Sprintf("components of %s by %s", report.FormatDocuments(docs.Rows()),
		report.FormatCountOf(m, "landmark", "landmarks"))
	if err := c.CheckMemory(what, held+embedded+engine.MaxEngineBytes(m, docs.MaxTerms()+1, values)); err != nil {
		return nil, err
	}
	f := &projection{embedder: corpus.Fit(c.kernel.Embedding(), documents)}
	f.kernel = kernel.Resolve(c.kernel, len(f.embedder.Terms))
	z, err := f.embedder.TransformRows(ctx, docs, landmark.Choose(docs.Rows(), m, c.seed), c.Workers)
	if err != nil {
		return nil, documents.DescribeError(err)
	}
	if f.eng, err = c.NewEngine(z, c.BackendFor(docs.Rows()), nil); err != nil {
		return nil, err
	}
	f.heldBytes = held + z.Bytes() + f.eng.Info().Bytes
	if f.Components, err = c.project(ctx, p, f, z, docs, what); err != nil {
		f.eng.Close()
		return nil, documents.DescribeError(err)
	}
	return f, nil
}

// project computes the components from the landmarks z, in a pass over docs.
func (c *pcaFlags) project(
	ctx context.Context, p *cli.Progress, f *projection, z *sparse.Embedded, docs *sparse.CSR, what string,
) (*pca.Components, error) {
	opt := pca.Options{NumComponents: c.numComponents, Tolerance: c.tolerance, Seed: c.seed}
	after := 8 * int64(saveBatch) * int64(min(c.numComponents, z.Rows()))
	need := pca.NystromBytes(f.eng, opt)
	if err := c.CheckMemory(what, f.heldBytes+after+need); err != nil {
		return nil, err
	}
	stage := "components of " + f.kernel.String()
	opt.DocumentProgress = func(done, all int) { p.Show(stage, int64(done), int64(all), []string{"documents"}) }
	opt.Progress = func(vectors, most int, worst float64) {
		text := fmt.Sprintf("%d vectors", vectors)
		if !math.IsNaN(worst) {
			text += ", residual " + report.FormatError(worst)
		}
		p.Show(stage, int64(vectors), int64(most), []string{text})
	}
	p.StartStage(stage)
	defer p.Clear()
	return pca.FitNystrom(ctx, f.eng, z, f.kernel, docs, opt)
}
