package sparse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := musttest.Get(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a"}, []string{"x", "y", "x"},
		sparse.Options{MinDF: 1}))(t)
	embedder := sparse.Sphere.Fit(c.Documents)
	x := musttest.Get(embedder.Transform(c.Documents))(t)
	counter := musttest.Get(sparse.NewCounter(c.Tokenizer, c.Vocabulary))(t)
	grouped := func() *sparse.Corpus {
		g := *c
		g.Format = sparse.FormatSVMLight
		g.Groups = []int64{7, 8, 7}
		return &g
	}
	rank := []uint32{2, 0, 1, 3}
	write := func(name, text string) string { return doortest.File(t, name, text) }
	table := write("a.tsv", "x\ta b b\ny\ta b\n")
	later := sparse.Options{MinDF: 1}
	doortest.Run(t, doortest.Package{
		Good: []any{c, *c, c.Documents, *c.Documents, x, embedder, counter, sparse.Sphere, c.Tokenizer, later,
			&sparse.SyntaxError{Option: "x", Err: errors.New("y")}, &sparse.ValueError{}, sparse.Warning{Option: "Strict"}},
		Calls: [][]any{
			{sparse.ByRank, c.Documents, rank, 2},
			{sparse.ByRankInto, func() *sparse.CSR { return &sparse.CSR{} }, c.Documents, rank, 2},
			{sparse.CheckEncoding, "utf-8"},
			{(*sparse.Corpus).SetsByGroup, grouped},
			{"Corpus.NameValue", nil},
			{"CSR.Row", 0},
			{"CSR.SelectRows", []int{1, 0}},
			{"Corpus.Select", []int{1, 0}},
			{"Embedder.TransformRows", c.Documents, []int{1, 0}, 2},
			{sparse.EmbeddedBytes},
			{sparse.Embeddings},
			{sparse.Files, table, sparse.Format("")},
			{sparse.FromDense, 2, 2, []float32{1, 2, 3, 4}},
			{sparse.FromTexts, []string{"a b", "b a"}, []string{"x", "y"}},
			{sparse.NewCounter, c.Tokenizer, c.Vocabulary},
			{sparse.Order, []int32{1, 0, 2}},
			{sparse.ParseEmbedding, "tf-l2"},
			{sparse.ParseSynthetic, "docs=4"},
			{sparse.ParseTokenizer, "word"},
			{sparse.Ranks, rank}, {sparse.ViewsOf, c.Tokenizer, c.Vocabulary},
			{sparse.Read, table},
			{sparse.ReadFrom, func() *strings.Reader { return strings.NewReader("1 1:2\n") }, "a.svm"},
			{sparse.ReadSets, write("a.sets", "0 0 0 1\n"), 1},
			{sparse.RestoreEmbedder, *embedder},
			{"Labels.Validate", 3, 2},
		},
		Elsewhere: map[string]string{"Corpus.Recut": "TestRecut", "ShareTerms": "TestShareTerms"},
	})
}
