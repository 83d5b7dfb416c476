package gram_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// Terms that were selected stay selected, whatever a training would choose among.
func TestSelectedTermsStay(t *testing.T) {
	c, _, err := gram.SelectTerms(t.Context(), rareWords(t), 10, gram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{}))
	if n := m.About().Terms; n != 10 || c.Texts != nil {
		t.Errorf("a model of %d terms, and texts %v to cut anew, expected the 10 that were selected and no texts", n, c.Texts)
	}
}

// rareWords is a corpus of texts that are kept, many of whose words one has.
func rareWords(t *testing.T) *corpus.Corpus {
	var texts, labels []string
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 80 {
		words := make([]string, 12)
		for j := range words {
			n := r.IntN(1 + r.IntN(600))
			words[j] = string([]byte{'w', 'a' + byte(n/26), 'a' + byte(n%26)}) // words are letters
		}
		texts, labels = append(texts, strings.Join(words, " ")), append(labels, string(rune('a'+i%2)))
	}
	return gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{}))
}

// Labels mean the same of texts, of terms and of numbers.
func TestLabelsAreAlike(t *testing.T) {
	labels := []string{"a,b", " b , a", "-", "", " ", "a"}
	var texts []string
	var terms [][]string
	for range labels {
		texts, terms = append(texts, "red"), append(terms, []string{"red"})
	}
	want := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 1}))
	for name, got := range map[string]*corpus.Corpus{
		"terms":   gram.Must(gram.Terms(terms, labels)),
		"numbers": gram.Must(gram.FromMatrix(mat.NewDense(len(labels), 1, []float64{1, 1, 1, 1, 1, 1}), labels)),
	} {
		for i := range labels {
			if !slices.Equal(namesOf(got, i), namesOf(want, i)) {
				t.Errorf("%s: document %d has the labels %q, expected %q", name, i, namesOf(got, i), namesOf(want, i))
			}
		}
	}
}

// namesOf are the labels of a document, sorted.
func namesOf(c *corpus.Corpus, i int) (names []string) {
	for _, id := range c.Labels.Of(i) {
		names = append(names, c.Classes[id])
	}
	slices.Sort(names)
	return names
}
