package svm

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// A program that has read nothing yet gets an error, not a panic.
func TestProblemWantsDocuments(t *testing.T) {
	for name, c := range map[string]*corpus.Corpus{
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
