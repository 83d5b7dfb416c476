package verify

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// For further embeddings, the closest pairs of every eighth row, right of the diagonal, are
// complete.
func TestClosestPairsOfSomeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	m := &sparse.CSR{Cols: 30, Offsets: []int64{0}}
	for range 2200 { // 275 rows: two chunks, of which the last is partial
		for k := range m.Cols {
			if r.IntN(4) == 0 {
				m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, float32(1+r.IntN(9)))
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	k := kernel.MustParse("c")
	x := musttest.Get(k.Embedding().Fit(m).Transform(m))(t)
	eng := musttest.Get(engine.New(x, engine.Options{}))(t)
	l := &closestPairList{limit: 40, bound: float32(math.Inf(1))}
	musttest.NoError(t, l.addRows(t.Context(), eng, k, defaultRowStep))
	g := musttest.Get(eng.Gram(t.Context(), k, nil))(t)
	var want []closePair
	for i := 0; i < g.N; i += 8 {
		for j := i + 1; j < g.N; j++ {
			want = append(want, closePair{int32(i), int32(j), g.Row(i)[j]})
		}
	}
	slices.SortStableFunc(want, func(a, b closePair) int { return cmp.Compare(a.c, b.c) })
	if got := l.sortedPairs(); !slices.Equal(got, want[:40]) || !(got[0].c > 0) {
		t.Errorf("the closest pairs are %v, expected %v", got, want[:40])
	}
}

func TestClosestPairs(t *testing.T) {
	nan := float32(math.NaN())
	l := &closestPairList{limit: 4, bound: float32(math.Inf(1))}
	// These are rows of the upper triangle. They have three pairs with c = 0, of which two may
	// stay, a NaN, which must stay, and a tie at 0.2.
	for i, row := range [][]float32{
		{0.5, 0, 0.2, 0.9, 0.8, 0.8, 0.8, 0.8},
		{0, 0.7, 0.2, 0.1, 0.8, 0.8, 0.8},
		{0, 0.3, nan, 0.9, 0.6, 0.6},
	} {
		l.addRow(i, row)
	}
	var got [][2]int32
	for _, p := range l.sortedPairs() {
		got = append(got, [2]int32{p.i, p.j})
	}
	want := [][2]int32{{0, 2}, {1, 2}, {2, 5}, {1, 5}}
	if !slices.Equal(got, want) {
		t.Errorf("closest pairs are %v, expected %v", got, want)
	}
}
