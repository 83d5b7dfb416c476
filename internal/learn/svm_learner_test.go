package learn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// One-vs-one is tried for at most 6,000 class pairs, and at most as many pairs as documents.
func TestSchemesOfManyClasses(t *testing.T) {
	for _, c := range []struct{ classes, documents, want int }{
		{2, 900, 1}, {3, 900, 2}, {40, 780, 2}, {40, 779, 1}, {110, 20000, 2}, {111, 20000, 1},
	} {
		docs := &corpus.Corpus{Classes: make([]string, c.classes), Vocabulary: []string{},
			Documents: &sparse.CSR{Offsets: make([]int64, c.documents+1)}}
		got, _, err := (&svmTrainer{}).candidates(&Options{WorkBudget: 1}, docs, svm.Settings{Scheme: solver.OneVsOne}, nil)
		if err != nil || len(got.Schemes) != c.want || c.classes > 2 && got.Schemes[0] != solver.OneVsRest {
			t.Errorf("%d classes, %d documents: %v, %v, expected %d", c.classes, c.documents, got.Schemes, err, c.want)
		}
	}
}

// A regression with too small a C predicts a constant, and training warns.
func TestRegressionAtItsBound(t *testing.T) {
	var texts, labels []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("x%c y%c", 'a'+i%7, 'a'+i%5))
		labels = append(labels, fmt.Sprint(1000*(i%7)+150*(i%5)))
	}
	c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{}))(t)
	for price, warns := range map[float64]bool{1: true, 1e5: false} {
		said := ""
		o := Options{Warn: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
		musttest.Get((&svmTrainer{Settings: svm.Settings{Type: model.EpsilonSVR, C: price}}).Train(t.Context(), c, o))(t)
		if warns != strings.Contains(said, "documents are at this bound") {
			t.Errorf("C = %g: %q", price, said)
		}
	}
}
