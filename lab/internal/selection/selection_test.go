package selection

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func corpusOf(t *testing.T, classes int, labels []int, rows, cols int, data []float32) *corpus.Corpus {
	t.Helper()
	m := musttest.Get(sparse.FromDense(rows, cols, data))(t)
	c := &corpus.Corpus{Documents: m, Source: "test"}
	for _, y := range labels {
		if y >= 0 {
			c.Labels.Add(int32(y))
		} else {
			c.Labels.Add()
		}
	}
	for y := range classes {
		c.Classes = append(c.Classes, string(rune('a'+y)))
	}
	return c
}

// direct computes the definition with maps and an independent assignment to bins.
func direct(values []float64, labels []int, bins int) float64 {
	least, most, whole := slices.Min(values), slices.Max(values), true
	for _, v := range values {
		whole = whole && v >= 0 && v == math.Floor(v)
	}
	bin := func(v float64) int {
		if whole {
			if v == 0 || most < float64(bins) {
				return int(v)
			}
			return 1 + int(math.Floor(math.Log2(v)))
		}
		for b := range bins {
			if v < least+(most-least)*float64(b+1)/float64(bins) {
				return b
			}
		}
		return bins - 1
	}
	joint, ofBin, ofClass, n := map[[2]int]float64{}, map[int]float64{}, map[int]float64{}, 0.0
	for i, y := range labels {
		if y >= 0 {
			b := bin(values[i])
			joint[[2]int{b, y}]++
			ofBin[b]++
			ofClass[y]++
			n++
		}
	}
	entropy := func(counts []float64) (h float64) {
		for _, c := range counts {
			h -= c / n * math.Log2(c/n)
		}
		return h
	}
	var all, a, b []float64
	for _, c := range joint {
		all = append(all, c)
	}
	for _, c := range ofBin {
		a = append(a, c)
	}
	for _, c := range ofClass {
		b = append(b, c)
	}
	return entropy(a) + entropy(b) - entropy(all)
}

// Scores agree with I = H(b) + H(y) - H(b, y). The sums have at most several hundred terms below 1,
// so the tolerance 10⁻¹² is far above their rounding error.
func TestAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	const rows, cols, classes = 200, 9, 4
	labels := make([]int, rows)
	data := make([]float32, rows*cols)
	for i := range rows {
		labels[i] = r.IntN(classes)
		y := float64(labels[i])
		for j, v := range []float64{
			r.NormFloat64(), r.NormFloat64() + y, float64(r.IntN(3)), float64(int(r.ExpFloat64() * (1 + 4*y))),
			y, 5 + r.Float64(), r.NormFloat64() * float64(r.IntN(2)), -float64(r.IntN(4)), 0,
		} {
			data[i*cols+j] = float32(v)
		}
	}
	whole := corpusOf(t, classes, labels, rows, cols, data)
	for i := range 20 {
		labels[i*7] = -1 // documents without a class are ignored
	}
	part := corpusOf(t, classes, labels, rows, cols, data)
	for _, c := range []*corpus.Corpus{whole, part} {
		var before *Ranking
		for _, workers := range []int{1, 3} {
			got := musttest.Get(Rank(t.Context(), c, Options{Bins: 7, Workers: workers}))(t)
			if before != nil && (!slices.Equal(before.MutualInformation, got.MutualInformation) ||
				!slices.Equal(before.Terms, got.Terms)) {
				t.Error("other bits from other workers")
			}
			before = got
		}
		var values []float64
		var of []int
		for rank, term := range before.Terms {
			values, of = values[:0], of[:0]
			for i := range rows {
				if l := c.Labels.Classes(i); len(l) == 1 {
					values, of = append(values, float64(data[i*cols+int(term)])), append(of, int(l[0]))
				}
			}
			if want := direct(values, of, 7); !(math.Abs(before.MutualInformation[rank]-want) <= 1e-12) {
				t.Errorf("feature %d has %v bits, expected %v", term, before.MutualInformation[rank], want)
			}
			if rank > 0 && before.MutualInformation[rank] > before.MutualInformation[rank-1] {
				t.Errorf("rank %d is above the one before it", rank)
			}
		}
		if before.Terms[0] != 4 || !(math.Abs(before.MutualInformation[0]-before.ClassEntropy) <= 1e-12) {
			t.Errorf("feature %d says %v bits, expected the class itself, %v", before.Terms[0], before.MutualInformation[0],
				before.ClassEntropy)
		}
	}
}

// Documents with several classes are ignored, like those without a class.
func TestSeveralClasses(t *testing.T) {
	values := []float32{0, 1, 0, 1, 1, 1}
	several := corpusOf(t, 2, nil, 6, 1, values)
	none := corpusOf(t, 2, nil, 6, 1, values)
	for _, y := range []int32{0, 1, 0, 1} {
		several.Labels.Add(y)
		none.Labels.Add(y)
	}
	for range 2 {
		several.Labels.Add(0, 1)
		none.Labels.Add()
	}
	got := musttest.Get(Rank(t.Context(), several, Options{}))(t)
	want, err := Rank(t.Context(), none, Options{})
	if err != nil || !slices.Equal(got.MutualInformation, want.MutualInformation) || got.DocumentCount != 4 ||
		got.MutualInformation[0] != 1 {
		t.Errorf("%+v, %v, expected %+v, one bit of 4 documents", got, err, want)
	}
}

// If the largest count is below the number of bins, each count has its own bin; otherwise the bins
// are 0, 1, 2-3, 4-7 and so on, so that 2 and 3 share a bin.
func TestBinsOfCounts(t *testing.T) {
	for most, want := range map[float32]float64{9: 1, 10: 0.5} {
		// 2 and 3 distinguish the classes of two documents, 1 and most of the other two.
		c := corpusOf(t, 2, []int{0, 1, 0, 1}, 4, 1, []float32{2, 3, 1, most})
		r, err := Rank(t.Context(), c, Options{Bins: 10})
		if err != nil || !(math.Abs(r.MutualInformation[0]-want) <= 1e-15) {
			t.Errorf("counts up to %v say %v bits, %v, expected %v", most, r.MutualInformation, err, want)
		}
	}
}

// SelectTerms keeps the values of the listed terms in their columns.
func TestKeep(t *testing.T) {
	c := corpusOf(t, 2, []int{0, 1, 0}, 3, 4, []float32{1, 2, 0, 4, 0, 0, 3, 0, 5, 6, 7, 8})
	got := SelectTerms(c.Documents, []uint32{1, 3})
	if err := got.Validate(); err != nil || got.Cols != 4 {
		t.Fatalf("%v, %d columns", err, got.Cols)
	}
	if !slices.Equal(got.Values, []float32{2, 4, 6, 8}) || !slices.Equal(got.Terms, []uint32{1, 3, 1, 3}) {
		t.Errorf("kept %v in %v", got.Values, got.Terms)
	}
}

func TestWithoutClasses(t *testing.T) {
	c := corpusOf(t, 2, []int{-1, -1}, 2, 2, []float32{1, 2, 3, 4})
	musttest.WantError(Rank(t.Context(), c, Options{}))(t, "documents without classes")
}
