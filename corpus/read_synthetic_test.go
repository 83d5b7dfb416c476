package corpus

import (
	"maps"
	"math"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// TestSyntheticLaw compares frequencies in a drawn corpus with the documented distribution. The
// frequency of N independent words of probability p has standard deviation √(p(1−p)/N); the
// tolerance is 6 of these.
func TestSyntheticLaw(t *testing.T) {
	s := Synthetic{Documents: 4000, Terms: 50, Length: 100, Classes: 2, Seed: 5}
	c := readWhole(t, s.String(), Options{})
	count := make([][]float64, s.Classes)
	words := make([]float64, s.Classes)
	for class := range count {
		count[class] = make([]float64, s.Terms)
	}
	for i := range s.Documents {
		class := c.Labels.Of(i)[0]
		if int(class) != i%s.Classes {
			t.Fatalf("document %d has class %d", i, class)
		}
		length := 0.0
		terms, values := c.Documents.Row(i)
		for k, term := range terms {
			count[class][term] += float64(values[k])
			length += float64(values[k])
		}
		if length < 50 || length > 150 {
			t.Fatalf("document %d has %v words, expected 50 to 150", i, length)
		}
		words[class] += length
	}
	var sum float64
	z := make([]float64, s.Terms)
	for r := range z {
		z[r] = 1 / (float64(r) + 2.7)
		sum += z[r]
	}
	for class := range count {
		order := randomOrder(s.Terms, newDrawer(s.Seed, uint64(class)))
		p := make([]float64, s.Terms)
		for r := range z {
			p[r] += 0.75 * z[r] / sum
			p[order[r]] += 0.25 * z[r] / sum
		}
		n := words[class]
		for term := range p {
			tol := 6 * math.Sqrt(p[term]*(1-p[term])/n)
			if err := math.Abs(count[class][term]/n - p[term]); !(err <= tol) {
				t.Errorf("class %d, term %d: frequency %v, want %v within %v", class, term, count[class][term]/n,
					p[term], tol)
			}
		}
	}
	if mean := (words[0] +
		words[1]) / float64(s.Documents); !(math.Abs(mean-100) <= 6*30/math.Sqrt(float64(s.Documents))) {
		t.Errorf("mean length %v, want 100; its standard deviation is below 30/√%d", mean, s.Documents)
	}
}

func TestParseSynthetic(t *testing.T) {
	got, err := ParseSynthetic("seed=18446744073709551615,docs=3")
	want := DefaultSynthetic
	want.Seed, want.Documents = math.MaxUint64, 3
	if err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := ParseSynthetic(want.String()[len("synthetic:"):]); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// The number of copies is as specified; each differs from an earlier document by at most Changed
// words. Other documents are the same as without copies.
func TestSyntheticCopies(t *testing.T) {
	s := Synthetic{Documents: 400, Terms: 5000, Length: 50, Classes: 3, Seed: 5, Copies: 100, Changed: 3}
	c := readWhole(t, s.String(), Options{}).Documents
	plain := s
	plain.Copies = 0
	without := readWhole(t, plain.String(), Options{}).Documents
	words := func(m *sparse.CSR, i int) map[uint32]float32 {
		out := map[uint32]float32{}
		terms, values := m.Row(i)
		for k, term := range terms {
			out[term] = values[k]
		}
		return out
	}
	copies := 0
	for i := range s.Documents {
		own := words(c, i)
		if maps.Equal(own, words(without, i)) {
			continue
		}
		copies++
		least := float32(math.MaxFloat32)
		for k := range i {
			changed := float32(0)
			of := words(c, k)
			for term, n := range own {
				changed += max(n-of[term], 0)
			}
			least = min(least, changed)
		}
		if least > float32(s.Changed) {
			t.Errorf("document %d has %v words that no other has", i, least)
		}
	}
	if copies != 39 { // a tenth of the documents, except document 0
		t.Errorf("%d copies, expected 39", copies)
	}
}
