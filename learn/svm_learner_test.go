package learn

import (
	"testing"

	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// One-vs-one is a candidate for up to as many pairs of classes as there are documents, and up to 6,000.
func TestSchemesOfManyClasses(t *testing.T) {
	for _, c := range []struct{ classes, documents, want int }{
		{2, 900, 1}, {3, 900, 2}, {40, 780, 2}, {40, 779, 1}, {110, 20000, 2}, {111, 20000, 1},
	} {
		corpus := &sparse.Corpus{Classes: make([]string, c.classes), Vocabulary: []string{},
			Documents: &sparse.CSR{Offsets: make([]int64, c.documents+1)}}
		got, _, err := (&Options{Work: 1}).candidates(corpus, svm.Settings{Scheme: solver.OneVsOne}, nil)
		if err != nil || len(got.Schemes) != c.want || c.classes > 2 && got.Schemes[0] != solver.OneVsRest {
			t.Errorf("%d classes, %d documents: %v, %v, expected %d", c.classes, c.documents, got.Schemes, err, c.want)
		}
	}
}
