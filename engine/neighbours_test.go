package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// candidate is a document with its values for brute force.
type candidate struct {
	c, value float64
	document int
}

// bruteForce returns the k nearest candidates: with the smallest c if the kernel decreases in c
// alone, else with the largest value.
func bruteForce(list []candidate, k int, byC bool) []candidate {
	slices.SortFunc(list, func(a, b candidate) int {
		if byC {
			return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(a.document, b.document))
		}
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.document, b.document))
	})
	list = list[:min(k, len(list))]
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.value, a.value) })
	return list
}

func sameNeighbours(got []Neighbour, want []candidate) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d neighbours, expected %d", len(got), len(want))
	}
	for at, w := range want {
		if g := got[at]; int(g.Document) != w.document || float64(g.Value) != w.value {
			return fmt.Errorf("neighbour %d is %v, expected %v", at, g, w)
		}
	}
	return nil
}

// Neighbours agree with the Gram matrix bit for bit on every instruction set, for any number of
// workers, in a corpus with duplicates, proportional and empty documents.
func TestNeighboursOfGram(t *testing.T) {
	for _, isa := range enginetest.ISAs() {
		for _, spec := range []string{
			"diffusion:t=0.5", "normalise(linear)", "linear", "rbf:gamma=0.01", "js", "chi2", "ngd",
		} {
			size := 150
			if spec == "diffusion:t=0.5" {
				size = 700 // several tiles
			}
			k := kernel.MustParse(spec)
			x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(size, 2000, 8, 5))
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 3})
			n := e.Len()
			g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
			c := musttest.Get(e.Gram(t.Context(), kernel.MustParse("c:embed="+k.Embedding().String()), nil))(t)
			byC := spec != "linear" && spec != "rbf:gamma=0.01"
			counts := []int{10, n + 5, 1, 100, n - 1}
			if testing.Short() {
				counts = counts[:2]
			}
			for at, count := range counts {
				for _, workers := range [][]int{{3, 1}, {3}, {1}, {3}, {1}}[at] {
					e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
					near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: count}))(t)
					if near.Len() != n {
						t.Fatalf("%d documents, expected %d", near.Len(), n)
					}
					for i := range n {
						var list []candidate
						for j := range n {
							if j != i {
								list = append(list, candidate{c.At(i, j), g.At(i, j), j})
							}
						}
						if err := sameNeighbours(near.List(i), bruteForce(list, count, byC)); err != nil {
							t.Fatalf("%s, %s, %d workers, k = %d, document %d: %v", isa, spec, workers, count, i, err)
						}
					}
				}
			}
		}
	}
}

// ofTest returns options for test documents.
func ofTest(opt NeighbourOptions, test *sparse.Embedded) NeighbourOptions {
	opt.TestDocuments = test
	return opt
}

// Test documents find their neighbours among the engine's, and the engine's own find themselves.
func TestNeighboursOfTest(t *testing.T) {
	m := enginetest.Zipf(500, 2000, 12, 6)
	for _, spec := range []string{"diffusion:t=0.5", "linear"} {
		k := kernel.MustParse(spec)
		x := enginetest.EmbedCSR(t, k.Embedding(), m)
		test := musttest.Get(x.Embedder.Transform(enginetest.Zipf(130, 2000, 12, 7)))(t)
		e := newEngine(t, x, Options{Workers: 2})
		for _, test := range []*sparse.Embedded{test, x} {
			q := Request{TestDocuments: test}
			g := musttest.Get(e.Rows(t.Context(), k, q, nil))(t)
			c := musttest.Get(e.Rows(t.Context(), cIn(t, k.Embedding()), q, nil))(t)
			near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: 7, TestDocuments: test}))(t)
			for i := range test.Rows() {
				var list []candidate
				for j := range e.Len() {
					list = append(list, candidate{c.At(i, j), g.At(i, j), j})
				}
				if err := sameNeighbours(near.List(i), bruteForce(list, 7, spec != "linear")); err != nil {
					t.Fatalf("%s, document %d: %v", spec, i, err)
				}
			}
		}
	}
}

// Neighbours with MinValue, groups or the kernel c have the expected values and pairs.
func TestNeighboursBounds(t *testing.T) {
	musttest.SkipRace(t)
	m := enginetest.Zipf(400, 2000, 12, 8)
	groups := musttest.MakeSlice(m.Rows(), func(i int) int32 { return int32(i % 3) })
	for _, spec := range []string{"diffusion:t=0.5", "linear"} {
		k := kernel.MustParse(spec)
		x := enginetest.EmbedCSR(t, k.Embedding(), m)
		e, ref := newEngine(t, x, Options{Workers: 2}), NewReference(x)
		g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
		all := slices.Clone(g.Data)
		slices.Sort(all)
		for _, share := range []float64{-1, 0, 0.5, 0.98, 0.99, 1} {
			least, opt := math.Inf(-1), NeighbourOptions{Count: e.Len(), Groups: groups}
			if share >= 0 {
				least, opt.MinValue = float64(all[int(share*float64(len(all)-1))]), &least
			}
			if share == 0.99 {
				least += 1e-7 * least // the value may be slightly too small in float64
			}
			near := musttest.Get(e.Neighbours(t.Context(), k, opt))(t)
			for i := range e.Len() {
				var list []int
				for j := range e.Len() {
					if ref.Value(k, i, j) >= least-1e-12*(1+math.Abs(least)) {
						if groups[i] != groups[j] {
							list = append(list, j)
						}
					}
				}
				var got []int
				for _, n := range near.List(i) {
					if n.Value != g.Row(i)[n.Document] {
						t.Fatalf("%s: %v, expected %v", spec, n, g.Row(i)[n.Document])
					}
					got = append(got, int(n.Document))
				}
				slices.Sort(got)
				if !slices.Equal(got, list) {
					t.Fatalf("%s of at least %v: document %d has %v, expected %v", spec, least, i, got, list)
				}
			}
		}
	}
}

// With negative values, documents with a negative cosine come after documents without a common
// term.
func TestNeighboursOfSignedVectors(t *testing.T) {
	const n = 60
	r := rand.New(rand.NewPCG(1, 2))
	k := kernel.MustParse("normalise(linear)")
	x := enginetest.EmbedRows(t, k.Embedding(), musttest.MakeSlice(n, func(int) []float32 {
		row := make([]float32, 40)
		for range 4 {
			row[r.IntN(len(row))] = float32(1 - 2*r.IntN(2))
		}
		return row
	}))
	e := newEngine(t, x, Options{Workers: 2})
	g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
	c := musttest.Get(e.Gram(t.Context(), cIn(t, k.Embedding()), nil))(t)
	near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: n - 1}))(t)
	for i := range n {
		var list []candidate
		for j := range n {
			if j != i {
				list = append(list, candidate{c.At(i, j), g.At(i, j), j})
			}
		}
		if err := sameNeighbours(near.List(i), bruteForce(list, n-1, true)); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
}

// If all documents are equal, neighbours are the documents with the smallest numbers.
func TestNeighboursAlike(t *testing.T) {
	for name, row := range map[string][]float32{"one": {1, 2, 3}, "empty": {0, 0, 0}} {
		x := enginetest.EmbedRows(t, sparse.SphereEmbedding, slices.Repeat([][]float32{row}, 1000))
		for _, isa := range enginetest.ISAs() {
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 3})
			near := musttest.Get(e.Neighbours(t.Context(), kernel.MustParse("hellinger"), NeighbourOptions{Count: 3}))(t)
			for i := range 1000 {
				var got []uint32
				for _, n := range near.List(i) {
					got = append(got, n.Document)
				}
				want := slices.DeleteFunc([]uint32{0, 1, 2, 3}, func(j uint32) bool { return int(j) == i })[:3]
				if !slices.Equal(got, want) {
					t.Fatalf("%s: document %d has the neighbours %v, expected %v", name, i, got, want)
				}
			}
		}
	}
}

// NeighbourCandidates and NeighbourInsertions are counted. If lists never fill, every value is
// found, including the diagonal, and every other value enters two lists, of its row and its column.
func TestNeighboursCounted(t *testing.T) {
	const n = 150 // more than a panel
	k := kernel.MustParse("linear")
	x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(n, 2000, 8, 5))
	e := newEngine(t, x, Options{Workers: 1})
	musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: n}))(t)
	panel, found := e.Info().Kernels.PanelWidth, 0
	for first := 0; first < n; first += panel {
		found += min(panel, n-first) * (n - first)
	}
	if s := e.Stats(); s.NeighbourCandidates != int64(found) || s.NeighbourInsertions != n*(n-1) {
		t.Errorf("%d values found and %d entries, expected %d and %d", s.NeighbourCandidates, s.NeighbourInsertions, found,
			n*(n-1))
	}
	// Documents without a common term aren't found.
	distinct := enginetest.EmbedRows(t, sparse.SphereEmbedding, musttest.MakeSlice(n, func(i int) []float32 {
		row := make([]float32, n)
		row[i] = 1
		return row
	}))
	e = newEngine(t, distinct, Options{Workers: 1})
	musttest.Get(e.Neighbours(t.Context(), kernel.MustParse("diffusion:t=0.5"), NeighbourOptions{Count: n}))(t)
	if s := e.Stats(); s.NeighbourCandidates != n || s.NeighbourInsertions != 0 {
		t.Errorf("%d values found and %d entries without common terms, expected %d and 0", s.NeighbourCandidates,
			s.NeighbourInsertions, n)
	}
	if d := e.Stats().Sub(e.Stats()); d != (Stats{}) {
		t.Errorf("%+v more than the same, expected nothing", d)
	}
}
