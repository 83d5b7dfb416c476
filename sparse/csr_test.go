package sparse

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// allocated returns the bytes that f allocates, including freed memory.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Documents have the same frequencies if their columns are close together or far apart. Columns far
// apart don't need memory for a table.
func TestTermFrequencies(t *testing.T) {
	const terms, stride = 500, 8_000_000
	near := &CSR{Cols: terms, Offsets: []int64{0}}
	far := &CSR{Cols: math.MaxUint32, Offsets: []int64{0}}
	want := make([]int32, terms)
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		for term := range uint32(terms) {
			if r.IntN(1+int(term)) > 3 {
				continue
			}
			v := float32(r.IntN(3)) // a stored zero counts as absent
			near.Terms, near.Values = append(near.Terms, term), append(near.Values, v)
			far.Terms, far.Values = append(far.Terms, term*stride), append(far.Values, v)
			if v != 0 {
				want[term]++
			}
		}
		near.Offsets = append(near.Offsets, int64(len(near.Terms)))
		far.Offsets = append(far.Offsets, int64(len(far.Terms)))
	}
	for name, m := range map[string]*CSR{"near": near, "far": far} {
		var columns []uint32
		var df []int32
		bytes := allocated(func() { columns, df = m.TermFrequencies() })
		if limit := uint64(8 * maxTableLen(m.NNZ())); bytes > limit {
			t.Errorf("%s: %d bytes allocated, expected at most %d", name, bytes, limit)
		}
		got := make([]int32, terms)
		for k, c := range columns {
			if m == far {
				c /= stride
			}
			got[c] = df[k]
		}
		if !slices.Equal(got, want) || !slices.IsSorted(columns) || slices.Contains(df, 0) {
			t.Errorf("%s: frequencies %v of columns %v, expected %v", name, df, columns, want)
		}
	}
	if columns, df := (&CSR{Offsets: []int64{0}}).TermFrequencies(); len(columns) != 0 || len(df) != 0 {
		t.Errorf("no documents have the terms %v, %v", columns, df)
	}
}
