package matrices

import (
	"math"
	"runtime"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// The memory for a report doesn't grow with the largest column index.
func TestCorpusReportOfFarColumns(t *testing.T) {
	c := &corpus.Corpus{Documents: &sparse.CSR{
		Cols: math.MaxUint32, Offsets: []int64{0, 2, 3}, Terms: []uint32{1, math.MaxUint32 - 1, 1},
		Values: []float32{1, 2, 3},
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newCorpusReport(c)
	runtime.ReadMemStats(&after)
	if r.TermCount != 2 || r.NumMatches != 1 {
		t.Errorf("%d terms and %d matches, expected 2 and 1", r.TermCount, r.NumMatches)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<20 {
		t.Errorf("%d bytes allocated for 3 values", bytes)
	}
}
