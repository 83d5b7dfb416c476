package engine

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// pairsWithin returns the pairs that PairsWithin finds, i*Len+j in order, and how many have c = 0.
func pairsWithin(t *testing.T, e *Engine, c float64) (pairs []int, same int) {
	t.Helper()
	err := e.PairsWithin(t.Context(), c, func(i, j int, v float32) error {
		pairs = append(pairs, i*e.Len()+j)
		if v == 0 {
			same++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(pairs)
	return pairs, same
}

// everyEmbedding is each without a power or with the root, and two with another power; but none that
// scales columns, which turns multiples into other directions, or learns from labels, which weighs words that are in as
// many documents differently.
func everyEmbedding() []sparse.Embedding {
	all := slices.DeleteFunc(sparse.Embeddings(), func(e sparse.Embedding) bool { return e.Scales() || e.Supervised() })
	return append(all, sparse.Embedding{Norm: sparse.NormL1, Power: 0.75},
		sparse.Embedding{Weighting: sparse.TFIDF, Power: 2})
}

// turned are documents of 20 words in sequence on a circle of 61, each all times a factor. Every word
// is in 20 documents, so in every embedding c of two that are s words apart is s/20, and 1 from 20 on.
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

// A c that is a bound counts, where float32 and float64 have it above and where below.
func TestPairsWithinTemplates(t *testing.T) {
	rows, c20 := turned([]float32{1, 3, 7, 2, 5})
	for _, emb := range everyEmbedding() {
		e := newEngine(t, enginetest.Embed(t, emb, rows), Options{Workers: 2})
		for s := range 19 {
			bound := float64(s) / 20
			var want []int
			for i := range rows {
				for j := range i {
					if c20(i, j) <= s {
						want = append(want, j*len(rows)+i)
					}
				}
			}
			slices.Sort(want)
			if got, _ := pairsWithin(t, e, bound); !slices.Equal(got, want) {
				t.Errorf("%v: %d pairs within %v, expected %d", emb, len(got), bound, len(want))
			}
			decided := emb.Pairing != sparse.JensenShannon && (emb.Power == 0 || emb.Power == sparse.Root)
			if s == 0 || !decided {
				continue
			}
			if got, _ := pairsWithin(t, e, math.Nextafter(bound, 0)); len(got) != len(want)-len(rows) {
				t.Errorf("%v: %d pairs just below %v, expected %d", emb, len(got), bound, len(want)-len(rows))
			}
		}
	}
}

// exactC returns c of documents from their values, in 700 bits and rounded to float64, by
//
//	c = ½ Σ (a - b)²,  and  ½ Σ (a - b)²/(a + b) by χ².
func exactC(x *sparse.Embedded, i, j int) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(700).SetFloat64(v) }
	dense := func(i int) []*big.Float {
		row, sum := make([]*big.Float, x.Cols), number(0)
		for k := range row {
			row[k] = number(0)
		}
		terms, _ := x.Row(i)
		for k, term := range terms {
			v := number(float64(x.Raw[x.Offsets[i]+int64(k)]))
			if x.Embedder.Weights != nil {
				v.Mul(v, number(x.Embedder.Weights[term]))
			}
			row[term] = v
			if x.Embedder.Pairing == sparse.Dot && x.Embedder.Power == 0 {
				v = number(0).Mul(v, v)
			}
			sum.Add(sum, v)
		}
		if x.Embedder.Pairing == sparse.Dot && x.Embedder.Power == 0 {
			sum.Sqrt(sum)
		}
		for _, v := range row {
			if v.Quo(v, sum); x.Embedder.Power != 0 {
				v.Sqrt(v)
			}
		}
		return row
	}
	a, b, c := dense(i), dense(j), number(0)
	for k := range a {
		d, s := number(0).Sub(a[k], b[k]), number(0).Add(a[k], b[k])
		if d.Mul(d, d); x.Embedder.Pairing != sparse.Dot && s.Sign() > 0 {
			d.Quo(d, s)
		}
		c.Add(c, d)
	}
	v, _ := c.Quo(c, number(2)).SetPrec(500).Float64()
	return v
}

// Bounds that are the c of a pair, and the float64 before, divide the pairs as 700 bits do: of counts,
// of which many c are equal, and of values, of which few are.
func TestPairsWithinExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 40
	for _, draw := range []func() float32{
		func() float32 { return float32(r.IntN(3)) },
		func() float32 { return max(r.Float32()-0.4, 0) },
	} {
		rows := make([][]float32, n)
		for i := range rows {
			for range 9 {
				rows[i] = append(rows[i], draw())
			}
		}
		for _, emb := range sparse.Embeddings() {
			rounded := emb.Scales() || emb.Weighting == sparse.LogTF || emb.Weighting == sparse.LogTFIDF
			if rounded || emb.Pairing == sparse.JensenShannon { // what float64 has is all that is known
				continue
			}
			x := enginetest.Embed(t, emb, rows)
			e := newEngine(t, x, Options{Workers: 2})
			var all []float64
			for i := range n {
				for j := range i {
					all = append(all, exactC(x, j, i))
				}
			}
			bounds := slices.Sorted(slices.Values(all))
			for at := 0; at < len(bounds); at += 13 {
				for _, bound := range []float64{bounds[at], math.Nextafter(bounds[at], 0)} {
					want := 0
					for _, c := range all {
						if c <= bound {
							want++
						}
					}
					if got, _ := pairsWithin(t, e, max(bound, 0)); len(got) != want {
						t.Fatalf("%v: %d pairs within %v, expected %d", emb, len(got), bound, want)
					}
				}
			}
		}
	}
}

// c = 0 have multiples, whatever the factor and the embedding, and nothing else has it.
func TestPairsWithinMultiples(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, emb := range everyEmbedding() {
		damped := emb.Weighting == sparse.LogTF || emb.Weighting == sparse.LogTFIDF
		var rows [][]float32
		var want []int
		const pairs, words = 100, 60
		for p := range pairs {
			a, b, c := make([]float32, words), make([]float32, words), make([]float32, words)
			factor, same := float32(1+r.IntN(4000)), float32(1+r.IntN(4000))
			for k := range words {
				if r.IntN(3) > 0 {
					v := float32(1 + r.IntN(4000))
					if damped {
						v = same // the logarithms of others aren't proportional
					}
					a[k], b[k], c[k] = v, v*factor, v*factor
				}
			}
			at := r.IntN(words)
			c[at] = max(math.Nextafter32(c[at], math.MaxFloat32), 1)
			rows = append(rows, a, b, c)
			want = append(want, (3*p)*3*pairs+3*p+1)
		}
		e := newEngine(t, enginetest.Embed(t, emb, rows), Options{Workers: 2})
		if got, same := pairsWithin(t, e, 0); !slices.Equal(got, want) || same != pairs {
			t.Errorf("%v: %d pairs within 0, %d of them of 0, expected the %d multiples", emb, len(got), same, pairs)
		}
		if got, same := pairsWithin(t, e, 1e-6); len(got) < 2*pairs || same != pairs {
			t.Errorf("%v: %d pairs within 1e-6, %d of them of 0, expected %d of 0", emb, len(got), same, pairs)
		}
	}
	// So near that float32 has 0.
	rows := [][]float32{{1e30, 1}, {1e30, 2}, {-1e30, -1}}
	e := newEngine(t, enginetest.Embed(t, sparse.Embedding{}, rows), Options{})
	for bound, pairs := range map[float64]int{0: 0, 1e-30: 1, 1.99: 1, 2: 3} {
		if got, same := pairsWithin(t, e, bound); len(got) != pairs || same != 0 {
			t.Errorf("%d pairs within %v, %d of them of 0, expected %d", len(got), bound, same, pairs)
		}
	}
}

// A value that is the least counts, in lists of all kinds and in pairs.
func TestNeighboursOfLeast(t *testing.T) {
	rows, c20 := turned([]float32{1})
	k, unweighted := kernel.MustParse("bhattacharyya"), kernel.MustParse("linear:embed=tf")
	for s := 1; s < 20; s++ {
		for least, k := range map[float64]kernel.Kernel{float64(20-s) / 20: k, float64(20 - s): unweighted} {
			x := enginetest.Embed(t, k.Embedding(), rows)
			e := newEngine(t, x, Options{Workers: 2})
			opt := NeighbourOptions{Count: 2*s + 1, Least: &least}
			near, err := e.Neighbours(t.Context(), k, opt)
			if err != nil {
				t.Fatal(err)
			}
			cross := musttest.Get(e.CrossNeighbours(t.Context(), k, x, opt))(t)
			blocks := blocksOf(t, e, k, []int{0, 29, 61}, opt)
			for i := range rows {
				for name, list := range map[string][]Neighbour{"own": near.Of(i), "other": cross.Of(i), "merged": blocks[i]} {
					want := 2 * s
					if name == "other" {
						want++ // itself
					}
					far := slices.ContainsFunc(list, func(n Neighbour) bool { return c20(i, int(n.Document)) > s })
					if len(list) != want || far {
						t.Fatalf("%v of at least %v: %s neighbours of document %d are %v, expected %d", k, least, name, i, list, want)
					}
				}
			}
			pairs := 0
			err = e.Pairs(t.Context(), k, least, func(i, j int, v float32) error {
				if pairs++; c20(i, j) > s {
					return fmt.Errorf("pair %d, %d is too far", i, j)
				}
				return nil
			})
			if err != nil || pairs != s*len(rows) {
				t.Fatalf("%v of at least %v: %d pairs, expected %d; %v", k, least, pairs, s*len(rows), err)
			}
		}
	}
}

// Of equal values by a kernel that falls with c the one of less c comes first, and by others that of
// the smaller number.
func TestNeighboursOfEqualValues(t *testing.T) {
	rows := [][]float32{{40000, 40000}, {40000, 40003}, {40000, 40002}, {40000, 40001}}
	for spec, want := range map[string][]uint32{
		"bhattacharyya": {3, 2, 1}, "linear:embed=tf-l2": {1, 2, 3},
	} {
		k := kernel.MustParse(spec)
		e := newEngine(t, enginetest.Embed(t, k.Embedding(), rows), Options{})
		near := musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: 3}))(t)
		var got []uint32
		for _, n := range near.Of(0) {
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

// Nothing is within a bound that is no number, or below 0; it is an error of what is exported.
func TestCompareRowsBound(t *testing.T) {
	x := enginetest.Embed(t, sparse.Sphere, [][]float32{{1, 2}, {2, 1}, {1, 2}})
	for _, bound := range []float64{math.NaN(), -1, math.Inf(-1)} {
		for j := range 3 {
			if _, _, err := CompareRows(x, 0, x, j, bound); err == nil || panel.Within(x, 0, x, j, bound) {
				t.Errorf("rows 0 and %d within %v: %v", j, bound, err)
			}
		}
	}
}
