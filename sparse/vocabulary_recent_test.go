package sparse

import (
	"fmt"
	"testing"
)

// Terms that share a place, since they agree in what is hashed, are told apart, met in turns as
// well as one after the other.
func TestRecentTerms(t *testing.T) {
	var words []string
	for c := 'a'; c <= 'e'; c++ {
		words = append(words, fmt.Sprintf("beginning%clastending", c), string(c))
	}
	if a, b := termHash([]byte(words[0])), termHash([]byte(words[2])); a != b {
		t.Fatalf("%s and %s have different hashes: the test tests nothing", words[0], words[2])
	}
	var c termCounter
	want := map[string]uint32{}
	for round := range 7 {
		for i, w := range words {
			for range 1 + (i+round)%3 {
				c.add([]byte(w + " "))
				want[w]++
			}
		}
	}
	if len(c.terms) != len(words) {
		t.Errorf("%d terms, expected %d", len(c.terms), len(words))
	}
	for id, term := range c.terms {
		if c.count[id] != want[term] {
			t.Errorf("%s is counted %d times, expected %d", term, c.count[id], want[term])
		}
	}
}
