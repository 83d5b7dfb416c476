package model

import (
	"math"
	"testing"
)

// zipf returns the numbers of values before each term, and of all, of documents whose terms follow
// Zipf's law.
func zipf(documents, terms int, values float64) []int64 {
	first := []int64{0}
	for t := range terms {
		n := values * float64(documents) / (float64(t+3) * math.Log(float64(terms)/3))
		first = append(first, first[t]+int64(min(n, float64(documents))))
	}
	return first
}

// The head has the fewest cycles of all that it could be, and counts what [Of] counts.
func TestHead(t *testing.T) {
	const perChunk, mostChunks = 40, 3
	for _, c := range []struct{ documents, terms int }{{0, 5}, {7, 0}, {300, 90}, {20_000, 500}, {100_000, 70}} {
		first := zipf(c.documents, c.terms, 30)
		got := Reckoned.Head(first, c.documents, perChunk, mostChunks, 2048)
		cycles := func(head int) float64 {
			tail, panel := Reckoned.Cycles(Of(first, c.documents, head, perChunk), 2048)
			return tail + panel
		}
		for head := range min(c.terms, perChunk*mostChunks) + 1 {
			if least := cycles(got); !(least <= cycles(head)*(1+1e-12)) {
				t.Errorf("%+v: a head of %d terms takes %v cycles, one of %d %v", c, got, least, head, cycles(head))
			}
		}
	}
}

// Work is counted by hand: four documents, of which all have term 0, two term 1 and one term 2.
func TestOf(t *testing.T) {
	got := Of([]int64{0, 4, 6, 7}, 4, 1, 1)
	want := Work{Documents: 4, HeadValues: 4 + 1.5*4, Chunks: 1, TailValues: 3, Matches: 2*2 + 1}
	if got != want {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	if c := Of([]int64{0, 4, 6, 7}, 4, 3, 2).Chunks; c != 2 {
		t.Errorf("%v chunks, expected 2", c)
	}
}

// Where kernels do nothing else the device's memory bounds them.
func TestTimes(t *testing.T) {
	m := Machine{Multiprocessors: 1, Hertz: 1, BytesPerSecond: 8, Rows: 1}
	if got := m.Times(&Costs{}, Work{Documents: 4}); got != (Times{4, 8, 0, 4}) { // 8 pairs of 4 bytes
		t.Errorf("found %+v", got)
	}
	c := Costs{Value: 128, Match: 1, Close: 2, Digest: 1e6}
	got := m.Times(&c, Work{Documents: 128, HeadValues: 1e9, Matches: 1e9})
	if got != (Times{5e8, 64e9, 128, 64e6}) || got.Sum() != 5e8+64e9+128+64e6 {
		t.Errorf("found %+v", got)
	}
}
