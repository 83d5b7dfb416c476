package corpus

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// handFilledCorpus returns a new corpus of four documents, of which the third is empty.
func handFilledCorpus() *Corpus {
	return &Corpus{
		Source: "mine",
		Documents: &sparse.CSR{
			Cols:    5,
			Offsets: []int64{0, 2, 5, 5, 6},
			Terms:   []uint32{0, 3, 1, 2, 4, 0},
			Values:  []float32{1, 2, 3, 4, 5, 6},
		},
		Classes:    []string{"a", "b"},
		Labels:     sparse.Labels{Offsets: []int64{0, 1, 1, 3, 4}, IDs: []int32{1, 0, 1, 0}},
		Vocabulary: []string{"v", "w", "x", "y", "z"}, Names: make([]string, 4), Groups: make([]int64, 4),
		Weights: []float64{1, 0.5, 2, 1e300},
	}
}

func TestCorporaAreRefused(t *testing.T) {
	for want, spoil := range map[string]func(c *Corpus){
		"":              func(c *Corpus) {},
		"matrix is nil": func(c *Corpus) { c.Documents = nil },
		"labels have 3 documents, but the matrix has 4": func(c *Corpus) {
			c.Labels.Offsets = c.Labels.Offsets[:4]
		},
		"labels have 5 documents, but the matrix has 4":              func(c *Corpus) { c.Labels.Add(0) },
		"labels have 0 documents, but the matrix has 4":              func(c *Corpus) { c.Labels.Offsets = nil },
		"class at offset 1 must be between 0 and 1, got 2":           func(c *Corpus) { c.Labels.IDs[1] = 2 },
		"class at offset 3 must be between 0 and 1, got -1":          func(c *Corpus) { c.Labels.IDs[3] = -1 },
		"class at offset 0 must be between 0 and 0, got 1":           func(c *Corpus) { c.Classes = c.Classes[:1] },
		"the vocabulary has 4 terms, but the documents have 5":       func(c *Corpus) { c.Vocabulary = c.Vocabulary[:4] },
		"3 names, but 4 documents":                                   func(c *Corpus) { c.Names = c.Names[:3] },
		"0 groups, but 4 documents":                                  func(c *Corpus) { c.Groups = []int64{} },
		"3 weights, but 4 documents":                                 func(c *Corpus) { c.Weights = c.Weights[:3] },
		"weight of document 1 must be positive and finite, got 0":    func(c *Corpus) { c.Weights[1] = 0 },
		"weight of document 3 must be positive and finite, got NaN":  func(c *Corpus) { c.Weights[3] = math.NaN() },
		"weight of document 0 must be positive and finite, got +Inf": func(c *Corpus) { c.Weights[0] = math.Inf(1) },
	} {
		c := handFilledCorpus()
		spoil(c)
		err := c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	for _, spoiled := range [][2]int{{0, 1}, {4, 5}, {2, 0}, {3, -1}, {1, math.MaxInt64}} {
		c := handFilledCorpus()
		c.Labels.Offsets[spoiled[0]] = int64(spoiled[1])
		want := "offsets must be ascending from 0 to the number of labels, 4"
		musttest.WantError(c.Validate())(t, fmt.Sprintf("label offset %d is %d", spoiled[0], spoiled[1]), want)
	}
	musttest.WantError((*Corpus)(nil).Validate())(t, "no corpus")
	if err := (&Corpus{Documents: handFilledCorpus().Documents}).Validate(); err != nil {
		t.Errorf("documents alone: %v", err)
	}
	if ids := (sparse.Labels{}).Classes(0); ids != nil {
		t.Errorf("no labels at all have %v", ids)
	}
}

func TestSelect(t *testing.T) {
	c := handFilledCorpus()
	c.Labels = sparse.Labels{}
	if out := c.Select([]int{3, 0}); out.Documents.Rows() != 2 || out.Labels.Offsets != nil {
		t.Errorf("a selection of documents without labels: %+v", out)
	}
	if got := (&Corpus{}).Digest(); got != (&Corpus{Documents: &sparse.CSR{}}).Digest() {
		t.Errorf("the digest of no documents is %x", got)
	}
}

func TestViewsOfText(t *testing.T) {
	opt := Options{Tokenizer: Tokenizer{Views: "words + 3*chars:2..3"}, MinDF: 1}
	c := musttest.Get(FromTexts(context.Background(), []string{"the cat", "a cat sat", "一 chat"}, nil, opt))(t)
	first := slices.IndexFunc(c.Vocabulary, func(s string) bool { return s[0] == 2 })
	want := []sparse.View{{First: 0, Weight: 1}, {First: uint32(first), Weight: 3}}
	if !slices.Equal(c.Documents.Views, want) {
		t.Errorf("views %v, expected %v", c.Documents.Views, want)
	}
	if got := c.Select([]int{1}).Documents.Views; !slices.Equal(got, c.Documents.Views) {
		t.Errorf("views of a selection are %v", got)
	}
}
