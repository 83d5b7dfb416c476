package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// The matrix of some documents is a submatrix of the whole matrix, bit for bit, for any ranges. For
// ranges, each pair is computed once, except additional pairs in panels.
func TestMatrixOf(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, isa := range enginetest.ISAs() {
		for _, spec := range []string{"diffusion:t=0.5", "linear", "chi2"} {
			k := kernel.MustParse(spec)
			e := newEngine(t, enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(1200, 2000, 8, 5)),
				Options{ISA: string(isa), Workers: 3})
			whole := musttest.Get(e.Gram(t.Context(), k, nil))(t)
			m := musttest.Get(newCached(t, e, CacheOptions{}).Matrix(k))(t)
			n := e.Len()
			for _, docs := range [][]int{
				nil, {n - 1}, run.Range(0, n), append(run.Range(100, 500), run.Range(737, n)...),
				append(run.Range(0, 3), 700, 702),
			} {
				if len(docs) == 5 {
					for i := range 200 {
						docs = append(docs, 703+i+r.IntN(2)*(i/199))
					}
				}
				before := e.Stats().Pairs
				g := musttest.Get(m.Submatrix(t.Context(), docs))(t)
				most := compute.TrianglePairCount(len(docs)) + int64(len(docs))*4*128
				if pairs := e.Stats().Pairs - before; pairs > most {
					t.Errorf("%d pairs of %d documents, expected at most %d", pairs, len(docs), most)
				}
				for i, a := range docs {
					for j, b := range docs {
						if g.At(i, j) != whole.At(a, b) {
							t.Fatalf("%s, %s: documents %d, %d: %v, expected %v", isa, spec, a, b, g.At(i, j), whole.At(a, b))
						}
					}
				}
			}
			for _, docs := range [][]int{{-1}, {n}, {3, 3}, {5, 4}} {
				musttest.WantError(m.Submatrix(t.Context(), docs))(t, fmt.Sprintf("documents %d", docs))
			}
		}
	}
}
