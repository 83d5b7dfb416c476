package learners

import (
	"context"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/sparse"
)

func (m *trainingFlags) applyScale() error {
	if m.scale == "" {
		return nil
	}
	e, err := sparse.ParseEmbedding(m.scale)
	if err != nil || !e.Scales() {
		e, err = sparse.ParseEmbedding("scale" + m.scale)
	}
	if err != nil {
		return cli.Usagef("-scale must be standard or an increasing range such as 0..1, got %s", m.scale)
	}
	m.Embedding = e.String()
	return nil
}

// usesDefaultKernel reports whether no flag sets the kernel or the embedding, so that the default
// kernel may depend on the documents. For SVMs, -scale may set the embedding.
func (m *trainingFlags) usesDefaultKernel() bool {
	if m.learner.Type == "" {
		return len(m.Specs) == 0 && m.Embedding == "" && params.Has(m.learner.trainer, "embed")
	}
	return len(m.Specs) == 0 && m.kernelNumber < 0 && (m.Embedding == "" || m.scale != "")
}

func (m *trainingFlags) kernelSpecs() []string {
	if m.kernelNumber < 0 {
		return m.Specs
	}
	return []string{kernelNames[m.kernelNumber]}
}

// readVectors reads the documents. Numbers in a table become values if the kernel or the embedding
// needs vectors. If adaptive is set, the reader accepts negative values, and vectors that aren't
// counts have separate default options.
func (m *trainingFlags) readVectors(
	ctx context.Context, e *cli.Env, p *cli.Progress, adaptive bool,
) (*corpus.Corpus, error) {
	signed := m.Signed
	m.Signed = signed || adaptive
	if learn.NeedsVectors(m.kernelSpecs(), m.Embedding) {
		m.KeepRows = math.MaxInt64
	}
	c, err := m.Read(ctx, e, p)
	m.Signed = signed
	if err == nil {
		opt := corpus.Options{Workers: m.Workers, MemoryBytes: m.Budget()}
		c, err = learn.WithVectors(ctx, c, m.kernelSpecs(), m.Embedding, opt)
	}
	if err == nil && c.Tokenizer.HasValues() {
		m.vectors = learn.VectorDefaultsOf(c)
		return c, nil
	}
	if err != nil || !adaptive || c.Vocabulary != nil {
		return c, err
	}
	m.vectors = learn.VectorDefaultsOf(c)
	m.Signed = signed || learn.NonCountReason(c.Documents) == learn.ReasonNegative
	if m.vectors != nil && m.scale == "" && params.Has(m.learner.trainer, "kernel") {
		e.Infof("%s", m.vectors.Reason)
	}
	return c, nil
}

// hintScale warns if columns have very different scales and the embedding doesn't scale them.
func (m *trainingFlags) hintScale(e *cli.Env, c *corpus.Corpus, embedding sparse.Embedding) {
	asIs := embedding.Norm == sparse.NormNone && !embedding.Scales()
	if c.Vocabulary != nil && !c.Tokenizer.HasValues() || !asIs || m.isPrecomputed() {
		return
	}
	if why := learn.ScalingReason(c.Documents); why != "" {
		e.Warnf("columns are not scaled, with %s; use -scale standard or -scale 0..1", why)
	}
}

// hintLearner calls hintScale with the embedding of a learner.
func (m *trainingFlags) hintLearner(e *cli.Env, c *corpus.Corpus, o learn.Options) {
	t := m.learner.trainer
	spec, _ := params.Get(t, "kernel").(string)
	own, _ := params.Get(t, "embed").(learn.Embedding)
	var embedding sparse.Embedding
	switch k, err := kernel.Parse(spec); {
	case !params.Has(t, "embed"):
		return // the learner doesn't embed vectors
	case own.Embedding != nil:
		embedding = *own.Embedding
	case err == nil:
		embedding = k.Embedding()
	case params.Has(t, "kernel"):
		return // the default kernel suits the documents
	case o.VectorDefaults != nil:
		embedding = o.VectorDefaults.Embedding
	}
	m.hintScale(e, c, embedding)
}
