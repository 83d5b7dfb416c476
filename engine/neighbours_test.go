package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// candidate is a document as brute force sees it.
type candidate struct {
	c, value float64
	document int
}

// bruteForce returns the k nearest of some candidates: those of the least c or, where the kernel
// doesn't fall with c alone, of the greatest value.
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

// Neighbours are those of the Gram matrix, to the bit, on every instruction set, from any number of
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
			x := enginetest.Embedded(t, k.Embedding(), enginetest.Zipf(size, 2000, 8, 5))
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 3})
			n := e.Len()
			g := musttest.Get(e.Gram(t.Context(), k))(t)
			c := musttest.Get(e.Gram(t.Context(), kernel.MustParse("c:embed="+k.Embedding().String())))(t)
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
						if err := sameNeighbours(near.Of(i), bruteForce(list, count, byC)); err != nil {
							t.Fatalf("%s, %s, %d workers, k = %d, document %d: %v", isa, spec, workers, count, i, err)
						}
					}
				}
			}
		}
	}
}

// Test documents find their neighbours among the engine's, and the engine's own find themselves.
func TestCrossNeighbours(t *testing.T) {
	m := enginetest.Zipf(500, 2000, 12, 6)
	for _, spec := range []string{"diffusion:t=0.5", "linear"} {
		k := kernel.MustParse(spec)
		x := enginetest.Embedded(t, k.Embedding(), m)
		test := musttest.Get(x.Embedder.Transform(enginetest.Zipf(130, 2000, 12, 7)))(t)
		e := newEngine(t, x, Options{Workers: 2})
		for _, test := range []*sparse.Embedded{test, x} {
			g := musttest.Get(e.Cross(t.Context(), k, test))(t)
			c := musttest.Get(e.Cross(t.Context(), kernel.MustParse("c:embed="+k.Embedding().String()), test))(t)
			near := musttest.Get(e.CrossNeighbours(t.Context(), k, test, NeighbourOptions{Count: 7}))(t)
			for i := range test.Rows() {
				var list []candidate
				for j := range e.Len() {
					list = append(list, candidate{c.At(i, j), g.At(i, j), j})
				}
				if err := sameNeighbours(near.Of(i), bruteForce(list, 7, spec != "linear")); err != nil {
					t.Fatalf("%s, document %d: %v", spec, i, err)
				}
			}
		}
	}
}

// A least value, groups and c in the place of values, and pairs beside them.
func TestNeighboursBounds(t *testing.T) {
	m := enginetest.Zipf(400, 2000, 12, 8)
	groups := make([]int32, m.Rows())
	for i := range groups {
		groups[i] = int32(i % 3)
	}
	for _, spec := range []string{"diffusion:t=0.5", "linear"} {
		k := kernel.MustParse(spec)
		x := enginetest.Embedded(t, k.Embedding(), m)
		e, ref := newEngine(t, x, Options{Workers: 2}), NewReference(x)
		g := musttest.Get(e.Gram(t.Context(), k))(t)
		all := slices.Clone(g.Data)
		slices.Sort(all)
		for _, share := range []float64{0, 0.5, 0.98, 0.99, 1} {
			least := float64(all[int(share*float64(len(all)-1))])
			if share == 0.99 {
				least += 1e-9 * least // what is there may be just too small, as float64 has it
			}
			near, err := e.Neighbours(t.Context(), k, NeighbourOptions{Count: e.Len(), Least: &least, Groups: groups})
			if err != nil {
				t.Fatal(err)
			}
			want := map[[2]int]float32{}
			for i := range e.Len() {
				var list []int
				for j := range e.Len() {
					if v := g.Row(i)[j]; ref.Value(k, i, j) >= least-1e-12*(1+math.Abs(least)) {
						if i < j {
							want[[2]int{i, j}] = v
						}
						if groups[i] != groups[j] {
							list = append(list, j)
						}
					}
				}
				var got []int
				for _, n := range near.Of(i) {
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
			err = e.Pairs(t.Context(), k, least, func(i, j int, v float32) error {
				if w, ok := want[[2]int{i, j}]; !ok || w != v {
					return fmt.Errorf("pair %d, %d of %v, expected %v", i, j, v, w)
				}
				delete(want, [2]int{i, j})
				return nil
			})
			if err != nil || len(want) > 0 {
				t.Fatalf("%s of at least %v: %v, %d pairs are missing", spec, least, err, len(want))
			}
		}
	}
	k := kernel.MustParse("hellinger")
	x := enginetest.Embedded(t, k.Embedding(), m)
	e := newEngine(t, x, Options{Workers: 2})
	c := musttest.Get(e.Gram(t.Context(), kernel.MustParse("c")))(t)
	near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: 3, C: true}))(t)
	for i := range e.Len() {
		for _, n := range near.Of(i) {
			if n.Value != c.Row(i)[n.Document] {
				t.Fatalf("document %d: %v, expected c of %v", i, n, c.Row(i)[n.Document])
			}
		}
	}
	ref := NewReference(x)
	c39 := ref.C(3, 9)
	for _, most := range []float64{0, 0.02, c39 * (1 + 1e-12), c39 * (1 - 1e-12), 0.9, 5} {
		count := 0
		err := e.PairsWithin(t.Context(), most, func(i, j int, v float32) error {
			if count++; i >= j || v != c.Row(i)[j] || ref.C(i, j) > most {
				return fmt.Errorf("pair %d, %d of %v, expected c of %v", i, j, v, c.Row(i)[j])
			}
			return nil
		})
		want := 0
		for i := range e.Len() {
			for j := range i {
				if ref.C(i, j) <= most {
					want++
				}
			}
		}
		if err != nil || count != want {
			t.Fatalf("within %v: %d pairs, expected %d; %v", most, count, want, err)
		}
	}
}

// On real corpora neighbours are those of float64 references, rank by rank, up to the accuracy of c.
func TestNeighboursReference(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	data := filepath.Join("..", "..", "shared", "data")
	for _, set := range []string{
		"webkb/all.tsv.gz", "reuters-modapte/train.tsv.gz", "20news-bydate/train.tsv.gz", "mnist/t10k-images-idx3-ubyte.gz",
	} {
		path := filepath.Join(data, filepath.FromSlash(set))
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s isn't there: %v", set, err)
		}
		c := musttest.Get(corpus.Read(t.Context(), path, corpus.Options{}))(t)
		if n := c.Documents.Rows(); n > 1200 {
			chosen := rand.New(rand.NewPCG(1, 1)).Perm(n)[:1200]
			slices.Sort(chosen)
			c = c.Select(chosen)
		}
		k := kernel.MustParse("bhattacharyya")
		x := enginetest.Embedded(t, k.Embedding(), c.Documents)
		n, ref := x.Rows(), NewReference(x)
		rows := rand.New(rand.NewPCG(2, 2)).Perm(n)[:200]
		exacts, sorts := map[int][]float64{}, map[int][]float64{} // of c to all documents, and without its own in order
		for _, i := range rows {
			exact := make([]float64, n)
			musttest.Do(t, ref.Row(t.Context(), i, exact))
			sorted := slices.Concat(exact[:i], exact[i+1:])
			slices.Sort(sorted)
			exacts[i], sorts[i] = exact, sorted
		}
		for _, isa := range enginetest.ISAs() {
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 2})
			near, err := e.Neighbours(t.Context(), k, NeighbourOptions{Count: n - 1, C: true})
			if err != nil {
				t.Fatal(err)
			}
			first := map[int]*Neighbours{}
			for _, count := range []int{1, 10, 100} {
				if first[count], err = e.Neighbours(t.Context(), k, NeighbourOptions{Count: count, C: true}); err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range rows {
				for count, f := range first {
					if !slices.Equal(f.Of(i), near.Of(i)[:min(count, n-1)]) {
						t.Fatalf("%s, %s: document %d has other neighbours for k = %d than for %d", set, isa, i, count, n-1)
					}
				}
				if terms, _ := x.Row(i); len(terms) == 0 {
					continue // the reference has it that documents without terms are the same
				}
				exact, sorted := exacts[i], sorts[i]
				for rank, nb := range near.Of(i) {
					// Both c of the neighbour and that of rank are off by the bound at most.
					want := sorted[rank]
					tolerance := 2e-6
					if want < 0.05 {
						tolerance = 2e-5*want + 1e-30
					}
					if !(math.Abs(exact[nb.Document]-want) <= tolerance) || !(math.Abs(float64(nb.Value)-want) <= tolerance) {
						t.Fatalf("%s, %s: neighbour %d of document %d is %v of c = %v, expected %v",
							set, isa, rank, i, nb, exact[nb.Document], want)
					}
				}
			}
		}
	}
}

// Corpora of equal documents: neighbours are those of the least numbers.
func TestNeighboursAlike(t *testing.T) {
	for name, row := range map[string][]float32{"one": {1, 2, 3}, "empty": {0, 0, 0}} {
		x := enginetest.Embed(t, sparse.Sphere, slices.Repeat([][]float32{row}, 1000))
		for _, isa := range enginetest.ISAs() {
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 3})
			near := musttest.Get(e.Neighbours(t.Context(), kernel.MustParse("hellinger"), NeighbourOptions{Count: 3}))(t)
			for i := range 1000 {
				var got []uint32
				for _, n := range near.Of(i) {
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

// Where rounding makes a map rise, what is large enough beyond the c that a search finds isn't lost.
func TestSearchOfMapsThatRise(t *testing.T) {
	x := enginetest.Embed(t, sparse.Sphere, [][]float32{{1, 2}, {2, 1}})
	r := rand.New(rand.NewPCG(1, 1))
	for _, isa := range enginetest.ISAs() {
		e := newEngine(t, x, Options{ISA: string(isa)})
		for _, spec := range []string{"diffusion:t=0.5", "diffusion:t=5", "ngd-exp", "hellinger"} {
			k := kernel.MustParse(spec)
			for window := range 20 {
				c, v := make([]float32, 500), make([]float32, 500)
				first := math.Float32bits(0.01 + r.Float32())
				if window == 0 {
					first = math.Float32bits(0.561) // the portable diffusion:t=5 rises after it
				}
				for i := range c {
					c[i] = math.Float32frombits(first + uint32(i))
				}
				musttest.Do(t, kernel.Apply(k, e.c.Kernels, v, c, nil, nil))
				for i := range v {
					least := float64(v[i])
					s := musttest.Get(e.search(t.Context(), k, &least))(t)
					for j, v := range v {
						if float64(v) >= least && !(c[j] <= s.most) {
							t.Fatalf("%s, %s: c = %v of value %v isn't looked at for %v: up to %v", isa, spec, c[j], v, least, s.most)
						}
					}
				}
			}
		}
	}
}

// Found and Entered are counted: of few documents, whose lists never fill, every value is found, its
// own too, and all but that enter a list, once for the row and once for the column.
func TestNeighboursCounted(t *testing.T) {
	const n = 150 // a panel and more
	k := kernel.MustParse("diffusion:t=0.5")
	x := enginetest.Embedded(t, k.Embedding(), enginetest.Zipf(n, 2000, 8, 5))
	e := newEngine(t, x, Options{Workers: 1})
	if _, err := e.Neighbours(t.Context(), k, NeighbourOptions{Count: n}); err != nil {
		t.Fatal(err)
	}
	panel, found := e.Panel(), 0
	for first := 0; first < n; first += panel {
		found += min(panel, n-first) * (n - first)
	}
	if s := e.Stats(); s.Found != int64(found) || s.Entered != n*(n-1) {
		t.Errorf("%d values found and %d entries, expected %d and %d", s.Found, s.Entered, found, n*(n-1))
	}
	if d := e.Stats().Sub(e.Stats()); d != (Stats{}) {
		t.Errorf("%+v more than the same, expected nothing", d)
	}
}
