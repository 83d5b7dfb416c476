package pca_test

import (
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/pca"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	k := kernel.MustParse("diffusion:t=1")
	x := doortest.Must(k.Embedding().Fit(c.Documents).Transform(c.Documents))
	e := doortest.Must(engine.New(x, engine.Options{}))
	z := doortest.Must(pca.Fit(t.Context(), e, x, k, pca.Options{Components: 2}))
	doortest.Run(t, doortest.Package{
		Good:  []any{doortest.As[kernel.Kernel](k), c.Documents, x, e, z, pca.Options{Components: 2}},
		Calls: [][]any{{pca.Bytes}, {pca.LandmarkBytes}, {pca.LeastBytes}, {pca.Fit}, {pca.FitLandmarks}},
	})
}
