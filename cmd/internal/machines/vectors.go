package machines

import (
	"context"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/sparse"
)

// takeScale makes -scale an embedding.
func (m *machine) takeScale() error {
	if m.scale == "" {
		return nil
	}
	e, err := sparse.ParseEmbedding(m.scale)
	if err != nil || !e.Scales() {
		e, err = sparse.ParseEmbedding("scale" + m.scale)
	}
	if err != nil {
		return cli.Usagef("-scale %s, expected standard or a range of ascending numbers such as 0..1", m.scale)
	}
	m.Embedding = e.String()
	return nil
}

// unnamed reports whether no flag says anything of the kernel but how columns are scaled, so that the
// documents may ask for one.
func (m *machine) unnamed() bool {
	if m.learner.Type == "" {
		return len(m.Specs) == 0 && m.Embedding == "" && params.Has(m.learner.trainer, "embed")
	}
	return len(m.Specs) == 0 && m.number < 0 && (m.Embedding == "" || m.scale != "")
}

// readVectors reads the documents. If may is set and they are vectors that aren't counts, it keeps the
// defaults for them and accepts negative values.
func (m *machine) readVectors(ctx context.Context, e *cli.Env, p *cli.Progress, may bool) (*corpus.Corpus, error) {
	signed := m.Signed
	m.Signed = signed || may
	c, err := m.Read(ctx, e, p)
	m.Signed = signed
	if err != nil || !may || c.Vocabulary != nil {
		return c, err
	}
	m.vectors = learn.VectorsOf(c)
	m.Signed = signed || c.Documents.NoCounts() == sparse.Negative
	if m.vectors != nil && m.scale == "" && params.Has(m.learner.trainer, "kernel") {
		e.Say("%s", m.vectors.Why)
	}
	return c, nil
}

// hintScale warns of columns that want to be scaled where they are taken as they are.
func (m *machine) hintScale(e *cli.Env, c *corpus.Corpus, embedding sparse.Embedding) {
	asIs := embedding.Norm == sparse.NormNone && !embedding.Scales()
	if c.Vocabulary != nil || !asIs || m.precomputed() {
		return
	}
	if why := c.Documents.Unscaled(); why != "" {
		e.Warn("columns are not scaled, %s: -scale standard or -scale 0..1 makes them alike", why)
	}
}

// hintLearner is hintScale for what a learner embeds documents in.
func (m *machine) hintLearner(e *cli.Env, c *corpus.Corpus, o learn.Options) {
	t := m.learner.trainer
	spec, _ := params.Get(t, "kernel").(string)
	own, _ := params.Get(t, "embed").(learn.Embedding)
	var embedding sparse.Embedding
	switch k, err := kernel.Parse(spec); {
	case !params.Has(t, "embed"):
		return // takes them as they are
	case own.Embedding != nil:
		embedding = *own.Embedding
	case err == nil:
		embedding = k.Embedding()
	case params.Has(t, "kernel"):
		return // its default suits
	case o.Vectors != nil:
		embedding = o.Vectors.Embedding
	}
	m.hintScale(e, c, embedding)
}
