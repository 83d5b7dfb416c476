package source

import (
	"context"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Embed fails when ctx is done.
func TestEmbedEndsWithTheContext(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=60,terms=80,length=30,seed=3", corpus.Options{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(Embed(ctx, c, sparse.SphereEmbedding, 1))(t, "after the end of the context", context.Canceled)
}
