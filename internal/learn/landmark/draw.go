package landmark

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Choose draws landmarks among all documents of a corpus, with or without classes, as [Train] draws
// them among those that it trains on: at most as many as there are documents, each once. Of settings it
// takes Landmarks, Choice, Kernel and Seed. The same settings give the same landmarks. Errors: settings
// that [Settings.Validate] refuses, a corpus without documents, for Pivoted more
// memory than Options.MemoryBytes, the end of ctx, by which it stops within a second.
func Choose(ctx context.Context, c *corpus.Corpus, s Settings, opt Options) ([]int, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n := c.Documents.Rows()
	if n == 0 {
		return nil, fmt.Errorf("landmark: %s holds no documents, expected one at least", c.Source)
	}
	s.Landmarks = min(s.Landmarks, n)
	t := &training{c: c, s: s, opt: opt, rows: make([]int, n)}
	for i := range t.rows {
		t.rows[i] = i
	}
	if t.do, err = opt.do(); err != nil {
		return nil, err
	}
	if s.Choice == Pivoted {
		err := run.Fits(t.candidateBytes(), opt.limit(), "landmark: choosing %d landmarks of %d documents of %d values",
			s.Landmarks, n, c.Documents.NNZ())
		if err != nil {
			return nil, err
		}
	}
	embedder := corpus.Fit(k.Embedding(), c)
	t.k, t.x = kernel.Resolve(k, len(embedder.Terms)), &sparse.Embedded{Embedder: embedder}
	return t.choose(ctx)
}

// candidateBytes is what choosing by Pivoted takes: rows of the factor, those that are drawn, and an
// engine of the candidates.
func (t *training) candidateBytes() int64 {
	docs, m := t.c.Documents, int64(t.s.Landmarks)
	candidates := min(int64(len(t.rows)), max(fewestCandidates, 8*m))
	values := (docs.NNZ()/int64(docs.Rows()) + 1) * candidates
	return 4*m*candidates + 12*proposals*candidates + sparse.EmbeddedBytes(int(candidates), values) +
		engine.NewBytes(int(candidates), docs.MaxTerms()+1, values)
}
