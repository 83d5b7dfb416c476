package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// everyEmbedding returns all embeddings without a power or with the root, and two with another
// power. It omits scaled columns, which change the direction of multiples, and supervised weights,
// which differ for words of equal document frequency.
func everyEmbedding() []sparse.Embedding {
	all := slices.DeleteFunc(sparse.Embeddings(), func(e sparse.Embedding) bool { return e.Scales() || e.Supervised() })
	return append(all, sparse.Embedding{Norm: sparse.NormL1, Power: 0.75},
		sparse.Embedding{Weighting: sparse.TFIDF, Power: 2})
}

// turned returns documents of 20 consecutive words on a circle of 61, each times a factor. Every
// word is in 20 documents, so c of documents s words apart is s/20, at most 1.
func turned(factors []float32) (rows [][]float32, c20 func(i, j int) int) {
	const words = 61
	for i := range words {
		row := make([]float32, words)
		for k := range 20 {
			row[(i+k)%words] = factors[i%len(factors)]
		}
		rows = append(rows, row)
	}
	return rows, func(i, j int) int {
		s := (i - j + words) % words
		return min(s, words-s, 20)
	}
}

// Joins, tiles, groups and indexes find a pair at the bound, but not a pair beyond it by a
// millionth of the bound.
func TestPairsAtBound(t *testing.T) {
	musttest.SkipRace(t)
	rows, c20 := turned([]float32{1, 3, 7, 2, 5})
	for _, emb := range everyEmbedding() {
		x := enginetest.EmbedRows(t, emb, rows)
		index := musttest.Get(NewIndex(t.Context(), x, Options{Workers: 2}))(t)
		for s := range 19 {
			for _, factor := range []float64{1, 1 - 1e-6} {
				bound := float64(s) / 20 * factor
				var want []pair
				var near []int // neighbours of document 0
				for i := range rows {
					for j := i + 1; j < len(rows); j++ {
						if c := float64(c20(i, j)) / 20; c < bound || c == bound || factor == 1 && c20(i, j) == s {
							if want = append(want, pair{i, j, 1}); i == 0 {
								near = append(near, j)
							}
						}
					}
				}
				for _, method := range []string{byJoin, byTiles} {
					got := allPairs(t, x, bound, Options{Workers: 2, method: method})
					for at := range got {
						got[at].c = 1
					}
					if !slices.Equal(got, want) {
						t.Errorf("%v: %d pairs within %v by %s, expected %d", emb, len(got), bound, method, len(want))
					}
				}
				w, err := GroupsWithin(t.Context(), x, bound, Options{Workers: 2})
				if err != nil || w.PairCount != int64(len(want)) {
					t.Errorf("%v: %+v within %v, %v, expected %d pairs", emb, w, bound, err, len(want))
				}
				var found []int
				for _, m := range musttest.Get(index.Within(t.Context(), x, 0, bound, nil))(t) {
					if m.Document != 0 {
						found = append(found, m.Document)
					}
				}
				if slices.Sort(found); !slices.Equal(found, near) {
					t.Errorf("%v: the index has %v within %v, expected %v", emb, found, bound, near)
				}
				for _, j := range near {
					if _, ok, err := CompareRows(x, 0, x, j, bound); !ok || err != nil {
						t.Errorf("%v: rows 0 and %d aren't within %v, %v", emb, j, bound, err)
					}
				}
			}
		}
	}
}

// c of multiples is 0 for any factor and embedding.
func TestPairsWithinMultiples(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, emb := range everyEmbedding() {
		if emb.Power == 2 { // squares of small values are negligible
			continue
		}
		damped := emb.Weighting == sparse.LogTF || emb.Weighting == sparse.LogTFIDF
		var rows [][]float32
		var want []pair
		const pairs, words = 100, 60
		for p := range pairs {
			a, b, c := make([]float32, words), make([]float32, words), make([]float32, words)
			factor, same := float32(1+r.IntN(4000)), float32(1+r.IntN(4000))
			for k := range words {
				if r.IntN(3) > 0 {
					v := float32(1 + r.IntN(4000))
					if damped {
						v = same // logarithms of other documents aren't proportional
					}
					a[k], b[k], c[k] = v, v*factor, v*factor
				}
			}
			at := r.IntN(words)
			c[at] = max(math.Nextafter32(c[at], math.MaxFloat32), 1)
			rows = append(rows, a, b, c)
			want = append(want, pair{3 * p, 3*p + 1, 0})
		}
		x := enginetest.EmbedRows(t, emb, rows)
		for _, method := range []string{byJoin, byTiles} {
			opt := Options{Workers: 2, method: method}
			if got := allPairs(t, x, 0, opt); !slices.Equal(got, want) {
				t.Errorf("%v: %d pairs within 0 by %s, expected the %d multiples", emb, len(got), method, len(want))
			}
			near := allPairs(t, x, 1e-6, opt)
			same := len(slices.DeleteFunc(slices.Clone(near), func(p pair) bool { return p.c > 0 }))
			if len(near) < 2*pairs || same != pairs {
				t.Errorf("%v: %d pairs within 1e-6 by %s, %d of them of 0, expected %d", emb, len(near), method, same, pairs)
			}
		}
	}
	// These vectors are opposite, or so near that float64 can't distinguish them.
	x := enginetest.EmbedRows(t, sparse.Embedding{}, [][]float32{{1e30, 1}, {1e30, 2}, {-1e30, -1}})
	for bound, pairs := range map[float64]int{0: 1, 1.99: 1, 2: 3} {
		if got := allPairs(t, x, bound, Options{}); len(got) != pairs {
			t.Errorf("%d pairs within %v, expected %d", len(got), bound, pairs)
		}
	}
}

// Equal values are ordered by c if the kernel decreases in c alone, else by document number.
func TestNeighboursOfEqualValues(t *testing.T) {
	rows := [][]float32{{40000, 40000}, {40000, 40003}, {40000, 40002}, {40000, 40001}}
	for spec, want := range map[string][]uint32{
		"bhattacharyya": {3, 2, 1}, "linear:embed=tf-l2": {1, 2, 3},
	} {
		k := kernel.MustParse(spec)
		e := newEngine(t, enginetest.EmbedRows(t, k.Embedding(), rows), Options{})
		near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: 3}))(t)
		var got []uint32
		for _, n := range near.List(0) {
			if n.Value != 1 {
				t.Fatalf("%s: a value of %v, expected 1 of all", spec, n.Value)
			}
			got = append(got, n.Document)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: neighbours %v, expected %v", spec, got, want)
		}
	}
}
