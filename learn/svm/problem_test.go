package svm

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// A program that has read nothing yet gets an error, not a panic.
func TestProblemWantsDocuments(t *testing.T) {
	for name, c := range map[string]*sparse.Corpus{
		"no corpus": nil, "no matrix": {}, "no offsets": {Documents: &sparse.CSR{}}, "no rows": {
			Documents: &sparse.CSR{Offsets: []int64{0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewProblem(t.Context(), c, sparse.Sphere, Options{})
			if p != nil || err == nil || !strings.Contains(err.Error(), "expected at least one") {
				t.Errorf("problem %v, error %v", p != nil, err)
			}
		})
	}
}

// Options out of range are errors of the call, also those that the engine behind would find after
// the embedding.
func TestProblemRefusesOptions(t *testing.T) {
	c := read(t, "synthetic:docs=20,terms=30,length=5,classes=2", sparse.Options{})
	for want, opt := range map[string]Options{
		"-1 workers": {Workers: -1}, `"avx9"`: {ISA: "avx9"}, "memory": {MemoryBytes: 1000},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := NewProblem(t.Context(), c, sparse.Sphere, opt); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
