package gram_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// Labels have the same meaning for texts, terms and numbers.
func TestLabelsAreAlike(t *testing.T) {
	labels := []string{"a,b", " b , a", "-", "", " ", "a"}
	var texts []string
	var terms [][]string
	for range labels {
		texts, terms = append(texts, "red"), append(terms, []string{"red"})
	}
	want := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 1}))
	for name, got := range map[string]*corpus.Corpus{
		"terms":   gram.Must(gram.FromTerms(terms, labels)),
		"numbers": gram.Must(gram.FromMatrix(mat.NewDense(len(labels), 1, []float64{1, 1, 1, 1, 1, 1}), labels)),
	} {
		for i := range labels {
			if !slices.Equal(namesOf(got, i), namesOf(want, i)) {
				t.Errorf("%s: document %d has the labels %q, expected %q", name, i, namesOf(got, i), namesOf(want, i))
			}
		}
	}
}

// namesOf returns the sorted labels of a document.
func namesOf(c *corpus.Corpus, i int) (names []string) {
	for _, id := range c.Labels.Classes(i) {
		names = append(names, c.Classes[id])
	}
	slices.Sort(names)
	return names
}
