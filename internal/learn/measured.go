package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/sparse"
)

// vectorKernelFamilies lists the kernels for vectors in the order in which the automatic choice
// tries them. The linear kernel is also used for text.
var vectorKernelFamilies = []string{"rbf", "linear", "polynomial"}

// NeedsVectors reports whether kernels and an embedding require a table's numbers as values instead
// of terms. An embedding requires values if it scales columns. If no embedding is set, each kernel
// must scale columns, or be rbf or polynomial without an embedding.
func NeedsVectors(specs []string, embedding string) bool {
	if embedding != "" {
		e, err := sparse.ParseEmbedding(embedding)
		return err == nil && e.Scales()
	}
	terms := func(spec string) bool {
		k, err := kernel.Parse(spec)
		if err != nil || k.Embedding().Scales() {
			return err != nil
		}
		family := kernel.FamilyName(k)
		return k.Embedding() != sparse.Embedding{} || family != "rbf" && family != "polynomial"
	}
	return len(specs) > 0 && !slices.ContainsFunc(specs, terms)
}

// WithVectors returns the documents with their numbers as values if kernels or the embedding
// require values, and if c is a table of numbers and categories. Otherwise it returns c. It fails
// if the embedding scales columns and the table has text or vector columns, only categories, or
// views set by the user. It also fails if the table's rows weren't kept.
func WithVectors(
	ctx context.Context, c *corpus.Corpus, specs []string, embedding string, opt corpus.Options,
) (*corpus.Corpus, error) {
	if !c.Tokenizer.HasColumns() || c.Tokenizer.HasValues() || !NeedsVectors(specs, embedding) {
		return c, nil
	}
	values, ok := c.Tokenizer.WithValues()
	switch {
	case ok && c.ViewsInferred && c.HasRawDocuments():
		opt.Tokenizer, opt.MinDF = values, 0
		return c.Retokenize(ctx, nil, opt)
	case ok && c.ViewsInferred:
		return nil, flagtext.Errorf("%s: kernels for vectors require the rows of the table, which were not stored", c.Source)
	case embedding == "":
		return c, nil
	}
	var others []string
	columns := c.Tokenizer.Columns()
	for _, column := range columns {
		if column.IsText || column.Size > 0 {
			others = append(others, column.Name)
		}
	}
	switch {
	case others == nil && !columns.HasNumbers():
		return nil, flagtext.Errorf("-embed %s requires a column of numbers to scale, but %s has only categories (%s)",
			embedding, c.Source, strings.Join(columns.Names(), ", "))
	case others == nil:
		return nil, flagtext.Errorf("-embed %s requires value columns, such as -views x,y=values, but %s has the views %s",
			embedding, c.Source, c.Tokenizer.ShortString())
	}
	return nil, flagtext.Errorf("-embed %s: %s has columns of text or vectors (%s), "+
		"but only numbers and categories can be scaled; -columns %s=ignore drops a column",
		embedding, c.Source, strings.Join(others, ", "),
		others[0])
}

// valueTokenizers returns a tokenizer that uses numbers as values. It returns nil unless c is a
// table of numbers and categories that was read with default views.
func valueTokenizers(c *corpus.Corpus) []corpus.TermOptions {
	t, ok := c.Tokenizer.WithValues()
	if !ok || !c.ViewsInferred || c.Tokenizer.HasValues() {
		return nil
	}
	return []corpus.TermOptions{{Tokenizer: t}}
}

func hasText(t corpus.Tokenizer) bool {
	return slices.ContainsFunc(t.Columns(), func(of token.Column) bool { return of.IsText })
}
