package synthetic

import (
	"maps"
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// documents returns the counts of each document.
func documents(t *testing.T, s Spec) []map[uint32]float64 {
	g := musttest.Get(s.NewGenerator(t.Context(), 2))(t)
	list, count := make([]map[uint32]float64, s.DocumentCount), make([]uint32, s.TermCount)
	for i := range list {
		list[i] = map[uint32]float64{}
		for _, term := range g.Document(i, count, nil) {
			list[i][term], count[term] = float64(count[term]), 0
		}
	}
	return list
}

// TestLaw compares frequencies in a drawn corpus with the documented distribution. The frequency of
// N independent words of probability p has standard deviation √(p(1−p)/N); the tolerance is 6 of
// these.
func TestLaw(t *testing.T) {
	s := Spec{DocumentCount: 4000, TermCount: 50, MeanLength: 100, ClassCount: 2, Seed: 5}
	count := make([][]float64, s.ClassCount)
	words := make([]float64, s.ClassCount)
	for class := range count {
		count[class] = make([]float64, s.TermCount)
	}
	for i, counts := range documents(t, s) {
		class := i % s.ClassCount
		length := 0.0
		for term, n := range counts {
			count[class][term] += n
			length += n
		}
		if length < 50 || length > 150 {
			t.Fatalf("document %d has %v words, expected 50 to 150", i, length)
		}
		words[class] += length
	}
	var sum float64
	z := make([]float64, s.TermCount)
	for r := range z {
		z[r] = 1 / (float64(r) + 2.7)
		sum += z[r]
	}
	for class := range count {
		order := randomOrder(s.TermCount, newRandomSource(s.Seed, uint64(class)))
		p := make([]float64, s.TermCount)
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
		words[1]) / float64(s.DocumentCount); !(math.Abs(mean-100) <= 6*30/math.Sqrt(float64(s.DocumentCount))) {
		t.Errorf("mean length %v, want 100; its standard deviation is below 30/√%d", mean, s.DocumentCount)
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("seed=18446744073709551615,docs=3")
	want := DefaultSpec
	want.Seed, want.DocumentCount = math.MaxUint64, 3
	if err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := Parse(want.String()[len("synthetic:"):]); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// The number of copies is as specified; each differs from an earlier document by at most
// MaxChangedWords words. Other documents are the same as without copies.
func TestCopies(t *testing.T) {
	s := Spec{DocumentCount: 400, TermCount: 5000, MeanLength: 50, ClassCount: 3, Seed: 5, CopiesPerThousand: 100,
		MaxChangedWords: 3}
	plain := s
	plain.CopiesPerThousand = 0
	list, without := documents(t, s), documents(t, plain)
	copies := 0
	for i, own := range list {
		if maps.Equal(own, without[i]) {
			continue
		}
		copies++
		least := math.MaxFloat64
		for _, of := range list[:i] {
			changed := 0.0
			for term, n := range own {
				changed += max(n-of[term], 0)
			}
			least = min(least, changed)
		}
		if least > float64(s.MaxChangedWords) {
			t.Errorf("document %d has %v words that no other has", i, least)
		}
	}
	if copies != 39 { // a tenth of the documents, except document 0
		t.Errorf("%d copies, expected 39", copies)
	}
}
