package source

import (
	"context"
	"errors"
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
	if x, err := Embed(ctx, c, sparse.Sphere, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, error %v, expected %v", x, err, context.Canceled)
	}
}
