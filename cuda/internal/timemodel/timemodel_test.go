package timemodel

import (
	"math"
	"testing"
)

// zipf returns the number of values before each term, and the total, for documents whose terms
// follow Zipf's law.
func zipf(documents, terms int, values float64) []int64 {
	first := []int64{0}
	for t := range terms {
		n := values * float64(documents) / (float64(t+3) * math.Log(float64(terms)/3))
		first = append(first, first[t]+int64(min(n, float64(documents))))
	}
	return first
}

// The head has the fewest cycles of all possible heads, as counted by [CountOperations].
func TestHead(t *testing.T) {
	const perChunk, maxChunks = 40, 3
	for _, c := range []struct{ documents, terms int }{{0, 5}, {7, 0}, {300, 90}, {20_000, 500}, {100_000, 70}} {
		first := zipf(c.documents, c.terms, 30)
		got := MeasuredCosts.HeadTerms(first, c.documents, perChunk, maxChunks, 2048)
		cycles := func(head int) float64 {
			tail, panel := MeasuredCosts.Cycles(CountOperations(first, c.documents, head, perChunk), 2048)
			return tail + panel
		}
		for head := range min(c.terms, perChunk*maxChunks) + 1 {
			if least := cycles(got); !(least <= cycles(head)*(1+1e-12)) {
				t.Errorf("%+v: a head of %d terms takes %v cycles, one of %d %v", c, got, least, head, cycles(head))
			}
		}
	}
}

// A head has at most the terms that fit into its chunks.
func TestHeadRoom(t *testing.T) {
	if got := (&Costs{Match: 1}).HeadTerms(zipf(100, 500, 30), 100, 40, 3, 2048); got != 120 {
		t.Errorf("a head of %d terms, expected 120", got)
	}
}

// Operations are counted by hand: four documents, of which all have term 0, two term 1 and one term
// 2.
func TestOf(t *testing.T) {
	got := CountOperations([]int64{0, 4, 6, 7}, 4, 1, 1)
	want := OperationCounts{Documents: 4, HeadValues: 4 + 1.5*4, Chunks: 1, TailValues: 3, Matches: 2*2 + 1}
	if got != want {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	if c := CountOperations([]int64{0, 4, 6, 7}, 4, 3, 2).Chunks; c != 2 {
		t.Errorf("%v chunks, expected 2", c)
	}
}

// Cycles equals the sum of costs computed by hand.
func TestCycles(t *testing.T) {
	w := OperationCounts{Documents: 8192, HeadValues: 3e5, Chunks: 3, TailValues: 7e5, Matches: 5e6} // 64 panels, 2 blocks
	for _, c := range []struct {
		costs       Costs
		tail, panel float64
	}{
		{Costs{Value: 1}, 0, 64 * 3e5}, {Costs{Row: 1}, 0, 64 * 3 * 8192}, {Costs{Convert: 1}, 0, 64 * 8192},
		{Costs{Fill: 1}, 0, 4 * 3e5}, {Costs{Panel: 1}, 0, 4 * 64 * 3},
		{Costs{Block: 1}, 2 * 8192, 0}, {Costs{List: 1}, 2 * 7e5, 0}, {Costs{Match: 1}, 5e6, 0},
	} {
		if tail, panel := c.costs.Cycles(w, 2048); tail != c.tail || panel != c.panel {
			t.Errorf("%+v: found %v and %v, expected %v and %v", c.costs, tail, panel, c.tail, c.panel)
		}
	}
}

// Terms of a step are dense if, on average, they occur in at least 1/share of the documents. There
// are at least two steps, and no terms without documents.
func TestDense(t *testing.T) {
	upTo := func(terms int, each ...int64) []int64 { // values of 100 documents
		first := []int64{0}
		for t := range terms {
			first = append(first, first[t]+each[t*len(each)/terms])
		}
		return first
	}
	for _, c := range []struct {
		first []int64
		share int64
		want  int
	}{
		{upTo(96, 50, 50, 24), 4, 64}, {upTo(96, 50, 50, 25), 4, 96}, {upTo(96, 50, 50, 24), 0, 0},
		{upTo(96, 50, 24, 24), 4, 0}, {upTo(90, 50, 50, 50), 4, 90}, {upTo(96, 99, 99, 0), 1e6, 64},
		{upTo(1200, 50), 4, DenseMax}, {upTo(64, 99, 99, 99, 0), 4, 48}, {upTo(0), 4, 0},
	} {
		if got := DenseTermsByShare(c.first, 100, c.share); got != c.want {
			t.Errorf("share %d of %d terms: found %d, expected %d", c.share, len(c.first)-1, got, c.want)
		}
	}
}

// By the model, the dense terms maximise the time saved in panelDot minus the time of panelTensor.
// If nothing is saved, there are none.
func TestTerms(t *testing.T) {
	upTo := func(terms int, each int64) (first []int64) { // values of 100 documents
		for t := range terms + 1 {
			first = append(first, int64(t)*each)
		}
		return first
	}
	c := &Costs{Value: 8, Dense: 64, DenseRow: 200} // gain if more than one in four has a term
	for _, of := range []struct {
		first []int64
		want  int
	}{
		{upTo(300, 24), 0}, {upTo(300, 26), 0}, {upTo(300, 50), 288}, {upTo(96, 50), 0}, {upTo(128, 50), 128},
		{upTo(5000, 90), DenseMax}, {upTo(0, 0), 0},
	} {
		if got := c.DenseTerms(of.first, 100, ByModel); got != of.want {
			t.Errorf("%d terms: found %d, expected %d", len(of.first)-1, got, of.want)
		}
	}
	// Terms without documents are never dense.
	ends := func(all, none int) []int64 {
		first := upTo(all, 100)
		for range none {
			first = append(first, first[all])
		}
		return first
	}
	cheap := &Costs{Value: 9, Dense: 64, DenseRow: 100}
	few, more := cheap.DenseTerms(ends(32, 40), 100, ByModel), cheap.DenseTerms(ends(80, 100), 100, ByModel)
	if few != 0 || more != 80 {
		t.Errorf("found %d and %d, expected none of 32 terms and all of 80", few, more)
	}
	if got := c.DenseTerms(upTo(96, 50), 100, 4); got != 96 {
		t.Errorf("found %d by a share of 4, expected 96", got)
	}
}
