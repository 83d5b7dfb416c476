package spectral

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
)

// Lanczos agrees with a full decomposition, with or without centring and storage.
func TestProduct(t *testing.T) {
	const n = 333
	c := musttest.Get(corpus.Read(t.Context(), fmt.Sprintf("synthetic:docs=%d,terms=300,length=40", n),
		corpus.Options{}))(t)
	k := kernel.MustParse("diffusion:t=0.5")
	x := musttest.Get(source.Embed(t.Context(), c, k.Embedding(), 1))(t)
	eng := musttest.Get(engine.New(x, engine.Options{Workers: 2}))(t)
	kept := musttest.Get(eng.CrossMatrix(k, x, 1<<30))(t)
	products := []*gramOperator{{eng: eng, k: k}, {eng: eng, k: k, stored: kept},
		{eng: eng, k: k, stored: kept, centre: true}}
	for _, a := range products {
		var whole mat.Symmetric = musttest.Get(eng.Gram(t.Context(), k, nil))(t)
		if a.centre {
			whole = spectrum.Centre(whole)
		}
		values := musttest.Get(spectrum.Eigenvalues(t.Context(), whole, 2))(t)
		found := musttest.Get(spectrum.Lanczos(t.Context(), a, spectrum.Options{K: 3, WithSmallest: true, MaxVectors: n}))(t)
		for i, l := range found.Largest {
			s := found.Smallest[i]
			tol := 64 * n * 0x1p-53 * values[0] // float64 rounding, in addition to the residual
			if !(math.Abs(l.Value-values[i]) <= l.Residual+tol) ||
				!(math.Abs(s.Value-values[n-1-i]) <= s.Residual+tol) {
				t.Errorf("centred %v: value %d is %v and %v, expected %v and %v", a.centre, i, l, s, values[i], values[n-1-i])
			}
		}
	}
}
