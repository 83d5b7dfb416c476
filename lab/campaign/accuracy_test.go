//go:build campaign

package campaign

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

var accuracyPart = part{
	name: "accuracy", short: 10 * time.Second, long: 60 * time.Minute, prepare: prepareAccuracy,
	about: "adversarial pairs of documents, on every kernel and instruction set; errors must be within the bound",
}

// hostile draws documents that are numerically difficult: near duplicates, proportional counts,
// very large and denormal values, and occasionally very many terms.
func hostile(r *rand.Rand, n int) *sparse.CSR {
	m := &sparse.CSR{Offsets: []int64{0}}
	terms := 1 << (1 + r.IntN(12))
	var last map[uint32]float32
	scale := float32(1)
	for range n {
		counts := maps.Clone(last)
		kind := r.IntN(10)
		switch {
		case counts == nil || kind < 4:
			counts = map[uint32]float32{}
			for range 1 + r.IntN(1+r.IntN(300)) {
				counts[uint32(float64(terms)*math.Pow(r.Float64(), 3))]++
			}
			scale = 1
		case kind == 4: // increase one count
			counts[uint32(r.IntN(terms))] += scale
		case kind == 5:
			scale = float32(math.Exp2(float64(r.IntN(60) - 30)))
			for t := range counts {
				counts[t] *= scale
			}
		case kind == 6: // one very large count
			counts[uint32(r.IntN(terms))] = float32(math.Exp2(float64(r.IntN(40))))
		case kind == 7: // a denormal value
			counts[uint32(r.IntN(terms))] = math.Float32frombits(1 + r.Uint32N(1<<22))
		case kind == 8:
			for t := range counts {
				counts[t] = float32(math.Exp2(float64(r.IntN(40) - 20)))
			}
		case r.IntN(200) == 0:
			for t := range uint32(1 << (10 + r.IntN(11))) {
				counts[t] = float32(1 + r.IntN(3))
			}
		}
		for _, t := range slices.Sorted(maps.Keys(counts)) {
			if v := counts[t]; v > 0 && v < 1e30 {
				m.Terms, m.Values, m.Cols = append(m.Terms, t), append(m.Values, v), max(m.Cols, int(t)+1)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		last = counts
	}
	return m
}

func prepareAccuracy(t *trial) func(number int64) bool {
	groups := map[sparse.Embedding][]kernel.Kernel{} // all kernels, indexed by embedding
	for _, spec := range slices.Concat(source.ExampleSpecs(), source.VariantSpecs()) {
		k := kernel.MustParse(spec)
		groups[k.Embedding()] = append(groups[k.Embedding()], k)
	}
	embeddings := slices.SortedFunc(maps.Keys(groups), func(a, b sparse.Embedding) int {
		return strings.Compare(a.String(), b.String())
	})
	return func(number int64) bool {
		e := embeddings[number%int64(len(embeddings))]
		m := hostile(t.r, 48)
		x, err := e.Fit(m).Transform(m)
		if err != nil {
			t.count("sets of documents that an embedding refuses", 1)
			return true
		}
		t.accuracy(x, groups[e])
		return true
	}
}

// accuracy compares kernel matrices of the documents x with float64 references.
func (t *trial) accuracy(x *sparse.Embedded, kernels []kernel.Kernel) {
	n := x.Rows()
	ref := engine.NewReference(x)
	c := make([]float64, n*n)
	for i := range n {
		musttest.NoError(t, ref.Row(t.Context(), i, c[i*n:(i+1)*n]))
	}
	for _, isa := range asm.Available() {
		e := musttest.Get(engine.New(x, engine.Options{ISA: string(isa), Workers: 1}))(t)
		for _, spec := range kernels {
			g, err := e.Gram(t.Context(), spec, nil)
			if errors.Is(err, engine.ErrNotFinite) || err != nil && strings.Contains(err.Error(), "must be at most") {
				t.count("matrices refused because of a large norm or value", 1)
				continue
			}
			musttest.NoError(t, err)
			k := ref.Resolve(spec)
			for i := range n {
				for j := i; j < n; j++ {
					want, got := k.Eval(c[i*n+j], ref.Norm(i), ref.Norm(j)), float64(g.Row(i)[j])
					bound := kernel.Tolerance(k, c[i*n+j], ref.Norm(i), ref.Norm(j))
					share := 0.0
					if got != want && !math.IsInf(bound, 1) {
						share = math.Abs(got-want) / bound
					}
					t.count("values", 1)
					t.raise("largest error divided by its bound", share)
					if !(share <= 1) {
						t.find("%s, %s: c = %v, norms %v and %v: %v, expected %v within %v", isa, spec, c[i*n+j],
							ref.Norm(i), ref.Norm(j), got, want, bound)
					}
				}
			}
		}
		musttest.NoError(t, e.Close())
	}
}
