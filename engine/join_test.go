package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// planted returns documents of all kinds, followed by copies with 0 to 20 changed words.
func planted(seed uint64, n, terms, length int) *sparse.CSR {
	m := enginetest.Zipf(n, terms, length, seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range n / 3 {
		ts, vs := m.Row(r.IntN(m.Rows()))
		counts := map[uint32]float32{}
		for k, t := range ts {
			counts[t] = vs[k]
		}
		for range r.IntN(21) {
			counts[uint32(r.IntN(terms))]++
			terms := slices.Sorted(maps.Keys(counts))
			t := terms[r.IntN(len(terms))]
			if counts[t]--; counts[t] <= 0 {
				delete(counts, t)
			}
		}
		for _, t := range slices.Sorted(maps.Keys(counts)) {
			m.Terms, m.Values = append(m.Terms, t), append(m.Values, counts[t])
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// named is a set of documents with a name.
type named struct {
	name string
	*sparse.CSR
}

// corpora returns documents for which joins and tiles must agree.
func corpora() []named {
	same := &sparse.CSR{Cols: 9, Offsets: []int64{0}}
	empty := &sparse.CSR{Cols: 9, Offsets: []int64{0}}
	one := &sparse.CSR{Cols: 9, Offsets: []int64{0}}
	for i := range 90 {
		same.Terms, same.Values = append(same.Terms, 2, 5), append(same.Values, 1, 3)
		same.Offsets = append(same.Offsets, int64(len(same.Terms)))
		empty.Offsets = append(empty.Offsets, 0)
		one.Terms, one.Values = append(one.Terms, 4), append(one.Values, float32(1+i%3))
		one.Offsets = append(one.Offsets, int64(len(one.Terms)))
	}
	return []named{
		{"drawn", planted(1, 240, 2000, 20)}, {"short", planted(2, 200, 500, 4)}, {"few terms", planted(3, 90, 12, 40)},
		{"all copies", same}, {"all empty", empty}, {"one term", one},
	}
}

type pair struct {
	i, j int
	c    float32
}

// allPairs returns the sorted pairs i < j of EachNearPair with all copies; positive c become 1.
func allPairs(t *testing.T, x *sparse.Embedded, c float64, opt Options) (pairs []pair) {
	t.Helper()
	copies := map[int][]uint32{}
	add := func(i, j int, same bool) {
		p := pair{min(i, j), max(i, j), 1}
		if same {
			p.c = 0
		}
		pairs = append(pairs, p)
	}
	_, _, err := EachNearPair(t.Context(), x, c, opt, func(list []uint32) error {
		copies[int(list[0])] = slices.Clone(list)
		for at, i := range list {
			for _, j := range list[at+1:] {
				add(int(i), int(j), true)
			}
		}
		return nil
	}, func(i, j int, _ int64, same bool) error {
		for _, a := range append(copies[i], uint32(i))[:max(len(copies[i]), 1)] {
			for _, b := range append(copies[j], uint32(j))[:max(len(copies[j]), 1)] {
				add(int(a), int(b), same)
			}
		}
		return nil
	})
	musttest.NoError(t, err)
	slices.SortFunc(pairs, func(a, b pair) int { return (a.i-b.i)*x.Rows() + a.j - b.j })
	return pairs
}

// forced returns options that force a search method and count joins.
func forced(method string, joins *atomic.Int64) Options {
	return Options{Workers: 2, method: method, joinCount: joins}
}

// ran checks the number of joins since its last call, and that none ran for options that force
// tiles. The plan doesn't show this, because it is made before the search.
func ran(t *testing.T, what string, joins, byTiles *atomic.Int64, want int64) {
	t.Helper()
	if n, none := joins.Swap(0), byTiles.Swap(0); n != want || none != 0 {
		t.Fatalf("%s: %d joins ran, expected %d, and %d where tiles were asked for", what, n, want, none)
	}
}

// A join finds the same pairs as tiles with the same bits, also for groups and neighbours.
func TestJoinIsTiles(t *testing.T) {
	bounds := []float64{0, 1e-6, 0.02, 0.9}
	if testing.Short() {
		bounds = []float64{0.02, 0.3}
	}
	var joins, none atomic.Int64
	joined, tiled := forced(byJoin, &joins), forced(byTiles, &none)
	embeddings := append(everyEmbedding(), sparse.Embedding{Weighting: sparse.MinMaxScaling, Upper: 1})
	for _, d := range corpora() {
		name, m := d.name, d.CSR
		for at, emb := range embeddings {
			if at%4 != 1 && emb.Pairing == sparse.Cosine && name != "short" {
				continue
			}
			x, pairs := enginetest.EmbedCSR(t, emb, m), 0
			for _, c := range bounds {
				want, got := allPairs(t, x, c, tiled), allPairs(t, x, c, joined)
				ran(t, "pairs", &joins, &none, 1)
				if pairs += len(want); !slices.Equal(got, want) {
					t.Fatalf("%s, %v, within %v: %d pairs by join, %d by tiles", name, emb, c, len(got), len(want))
				}
				groups, same := greedily(x.Rows(), want), int64(0)
				for _, p := range want {
					if p.c == 0 {
						same++
					}
				}
				w := musttest.Get(GroupsWithin(t.Context(), x, c, joined))(t)
				if joins.Swap(0) < 1 { // more than one if the pairs don't fit
					t.Fatal("no join ran for groups")
				}
				if fmt.Sprint(w.Groups) != fmt.Sprint(groups) || w.PairCount != int64(len(want)) || w.EqualPairCount != same {
					t.Fatalf("%s, %v, within %v: %d groups, %d pairs, %d the same; by tiles %d, %d, %d", name, emb, c,
						len(w.Groups), w.PairCount, w.EqualPairCount, len(groups), len(want), same)
				}
				if w.Plan.Method != byJoin {
					t.Fatalf("method %v", w.Plan)
				}
			}
			if pairs == 0 {
				t.Errorf("%s, %v: no pairs within any bound", name, emb)
			}
		}
	}
}

// Joins and tiles agree on a thousand real documents, or some hundred for large bounds.
func TestJoinIsTilesOnCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes under the race detector")
	}
	const data = "../../shared/data/"
	var joins, none atomic.Int64
	for _, source := range []string{"goroot", data + "20news-bydate/train.tsv.gz", data + "reuters-modapte/train.tsv.gz",
		data + "mnist/t10k-images-idx3-ubyte.gz"} {
		c, err := corpus.Read(t.Context(), source, corpus.Options{MinDF: 1, Workers: 2})
		if _, none := os.Stat(data); none != nil && source != "goroot" { // which exists if Go is installed
			t.Log("without ", source)
			continue
		}
		musttest.NoError(t, err)
		for _, some := range []struct {
			documents int
			bounds    []float64
		}{{1000, []float64{0, 1e-6, 0.02, 0.1}}, {300, []float64{0.3, 0.9}}} {
			x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, c.Select(every(c.Documents.Rows(), some.documents)).Documents)
			pairs := 0
			for _, bound := range some.bounds {
				want, got := allPairs(t, x, bound, forced(byTiles, &none)), allPairs(t, x, bound, forced(byJoin, &joins))
				ran(t, source, &joins, &none, 1)
				if pairs += len(want); !slices.Equal(got, want) {
					t.Errorf("%s, within %v: %d pairs by join, %d by tiles", source, bound, len(got), len(want))
				}
			}
			if pairs == 0 {
				t.Errorf("%s: no pairs of %d documents", source, some.documents)
			}
		}
	}
}

// every returns some of n documents, evenly spread.
func every(n, some int) (docs []int) {
	some = min(n, some)
	for k := range some {
		docs = append(docs, k*n/some)
	}
	return docs
}

// A join finds the same neighbours above a minimum: for the engine's documents, for test documents,
// and for the engine's documents as test documents, with and without folds.
func TestJoinNeighbours(t *testing.T) {
	var joins, none atomic.Int64
	specs := []string{"linear:embed=tfidf-l2", "bhattacharyya", "diffusion:t=0.5", "cosine-power:p=1,embed=tfidf-l2"}
	bounds := []float64{0, 0.02, 0.05, 0.0999}
	if testing.Short() {
		specs, bounds = specs[:2], bounds[1:2]
	}
	for _, d := range corpora() {
		name, m := d.name, d.CSR
		for _, spec := range specs {
			by := int64(1)
			if strings.HasPrefix(spec, "linear") { // tiles are used, because the kernel uses norms
				by = 0
			}
			k := kernel.MustParse(spec)
			x := enginetest.EmbedCSR(t, k.Embedding(), m)
			other := musttest.Get(x.Embedder.Transform(planted(7, 90, m.Cols, 20)))(t)
			k = kernel.Resolve(k, len(x.Embedder.Terms))
			tiles, joined := newEngine(t, x, forced(byTiles, &none)), newEngine(t, x, forced(byJoin, &joins))
			found := [2]int{} // for the engine's documents, and for test documents
			folds := musttest.MakeSlice(x.Rows(), func(i int) int32 { return int32(i % 3) })
			for _, c := range bounds {
				least := k.Eval(c, 1, 1)
				for _, opt := range []NeighbourOptions{
					{Count: 3, MinValue: &least}, {Count: 500, MinValue: &least},
					{Count: 3, MinValue: &least, Groups: folds},
				} {
					want := musttest.Get(tiles.Neighbours(t.Context(), k, opt))(t)
					got := musttest.Get(joined.Neighbours(t.Context(), k, opt))(t)
					ran(t, spec, &joins, &none, by)
					for i := range x.Rows() {
						found[0] += len(want.List(i))
						if !slices.Equal(got.List(i), want.List(i)) {
							t.Fatalf("%s, %s, %v: document %d has %v, by tiles %v", name, spec, opt, i, got.List(i), want.List(i))
						}
					}
					if opt.Groups != nil {
						continue
					}
					for _, test := range []*sparse.Embedded{other, x} {
						want = musttest.Get(tiles.Neighbours(t.Context(), k, ofTest(opt, test)))(t)
						got = musttest.Get(joined.Neighbours(t.Context(), k, ofTest(opt, test)))(t)
						ran(t, spec+" of others", &joins, &none, by)
						for i := range test.Rows() {
							if test == other {
								found[1] += len(want.List(i))
							}
							if !slices.Equal(got.List(i), want.List(i)) {
								t.Fatalf("%s, %s, %v: other document %d has %v, by tiles %v", name, spec, opt, i, got.List(i), want.List(i))
							}
						}
					}
				}
			}
			if by > 0 && (found[0] == 0 || found[1] == 0) {
				t.Errorf("%s, %s: %d neighbours of documents and of others", name, spec, found)
			}
		}
	}
}

// Pairs of documents of two sets agree with the definition, by a join and by tiles.
func TestCrossWithin(t *testing.T) {
	var joins, none atomic.Int64
	for _, d := range corpora() {
		name, m := d.name, d.CSR
		for _, emb := range []sparse.Embedding{sparse.SphereEmbedding, {Weighting: sparse.TFIDF, Norm: sparse.NormL2}} {
			x := enginetest.EmbedCSR(t, emb, m)
			half := make([]int, 0, m.Rows())
			for i := 0; i < m.Rows(); i += 2 {
				half = append(half, i)
			}
			rows := musttest.Get(x.Embedder.Transform(m.SelectRows(half)))(t)
			pairs := 0
			for _, c := range []float64{0, 0.02, 0.3} {
				var want []pair
				for i := range rows.Rows() {
					for j := range x.Rows() {
						if v := panel.ExactC(rows, i, x, j); v <= c*(1+1e-9) {
							want = append(want, pair{i, j, float32(v)})
						}
					}
				}
				pairs += len(want)
				for _, method := range []string{byJoin, byTiles} {
					opt := forced(byJoin, &joins)
					if method == byTiles {
						opt = forced(byTiles, &none)
					}
					var got []pair
					_, err := EachCrossPair(t.Context(), rows, x, c, opt,
						func(i, j int, c float64) error {
							got = append(got, pair{i, j, float32(c)})
							return nil
						})
					slices.SortFunc(got, func(a, b pair) int { return (a.i-b.i)*x.Rows() + a.j - b.j })
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%s, %v, within %v by %s: %d pairs, %v, expected %d", name, emb, c, method, len(got), err, len(want))
					}
				}
				ran(t, "pairs of two sets", &joins, &none, 1)
			}
			if pairs == 0 {
				t.Errorf("%s, %v: no pairs within any bound", name, emb)
			}
		}
	}
}

func copies(n int) *sparse.CSR {
	m := &sparse.CSR{Cols: 60, Offsets: []int64{0}}
	for range n {
		for k := range uint32(50) {
			m.Terms, m.Values = append(m.Terms, k), append(m.Values, float32(1+k%3))
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// Copies take little time: a hundred thousand copies form a group for any bound.
func TestJoinCopies(t *testing.T) {
	musttest.SkipRace(t)
	const n = 100_000
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, copies(n))
	for _, c := range []float64{0, 0.02, 0.9} {
		w, err := GroupsWithin(t.Context(), x, c, Options{Workers: 2})
		if err != nil || len(w.Groups) != 1 || len(w.Groups[0]) != n || w.PairCount != n*(n-1)/2 ||
			w.EqualPairCount != w.PairCount {
			t.Fatalf("within %v: %d groups, %d pairs, %v", c, len(w.Groups), w.PairCount, err)
		}
		if w.Plan.Method != byJoin || w.Plan.DistinctDocuments != 1 || w.Plan.MatchCount != 0 {
			t.Errorf("within %v: %+v", c, w.Plan)
		}
	}
}

// If prefixes don't fit in memory, the search fails before the work.
func TestJoinMemory(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, planted(5, 300, 900, 30))
	_, err := GroupsWithin(t.Context(), x, 0.1, Options{Workers: 2, method: byJoin, MemoryBytes: x.Bytes() + 1<<12})
	if !errors.As(err, new(*MemoryError)) {
		t.Errorf("far too little memory: %v", err)
	}
	// The limit includes the caller's memory and copies.
	k, least := kernel.MustParse("bhattacharyya"), 0.95
	n := x.Rows()
	e := newEngine(t, x, Options{Workers: 2, method: byJoin})
	e.memoryLimit = e.Info().Bytes + NeighboursBytes(n, n) + 1<<12
	_, err = e.Neighbours(t.Context(), k, NeighbourOptions{Count: n, MinValue: &least})
	if !errors.As(err, new(*MemoryError)) {
		t.Errorf("memory for lists alone: %v", err)
	}
	x = enginetest.EmbedCSR(t, sparse.SphereEmbedding, copies(10_000))
	_, err = GroupsWithin(t.Context(), x, 0.1, Options{Workers: 2, method: byJoin, MemoryBytes: x.Bytes() + 1<<19})
	if !errors.As(err, new(*MemoryError)) {
		t.Errorf("too little memory for copies: %v", err)
	}
}

// A join ends when its context is done.
func TestJoinEnds(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, planted(5, 500, 900, 60))
	opt := Options{Workers: 2, method: byJoin}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	_, err := EachCrossPair(ctx, x, x, 0.3, opt, func(int, int, float64) error {
		seen++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || seen > 64 {
		t.Errorf("after the end of its context: %v, %d pairs", err, seen)
	}
	failed := errors.New("failed")
	musttest.WantError(EachCrossPair(t.Context(), x, x, 0.3, opt, func(int, int, float64) error { return failed }))(t,
		"an error of visit", failed)
	musttest.WantError(GroupsWithin(t.Context(), x, math.NaN(), Options{}))(t, "a bound that is no number")
}
