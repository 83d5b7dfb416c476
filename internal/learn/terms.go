package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/tune"
)

// MaxKeptTextBytes returns the maximum total size in bytes of texts that are kept to choose a
// tokenizer. memory is the memory limit in bytes (0 = no limit).
func MaxKeptTextBytes(memory int64) int64 {
	const most, share = 256 << 20, 16
	if memory == 0 {
		return most
	}
	return min(most, memory/share)
}

// DefaultTerms returns the tokenizers to choose from if the user set none. For text, these are the
// tokenizer of c (the default tokenizer if c is nil), words with word pairs, character n-grams
// within words, and words with character n-grams. For tables, these are the tokenizer of c, numbers
// with width 2 if no width is set, numbers as values if there is no text, and tokenizers of text
// columns.
func DefaultTerms(c *corpus.Corpus) []corpus.TermOptions {
	var read corpus.Tokenizer
	if c != nil {
		read = c.Tokenizer
	}
	if read.HasColumns() {
		return slices.Concat(withNumberWidths(read, 2), valueTokenizers(c), textTerms(c))
	}
	words := read
	words.MinN, words.MaxN = 1, 2
	chars := corpus.Tokenizer{Analyzer: token.AnalyzerCharWB, MinN: 2, MaxN: 5}
	both := corpus.Tokenizer{Views: words.String() + " + " + chars.String()}
	return []corpus.TermOptions{{Tokenizer: read}, {Tokenizer: words, MinDF: 1}, {Tokenizer: chars, MinDF: 1},
		{Tokenizer: both, MinDF: 2}}
}

// withNumberWidths returns read and, if read has no number width, read with each width in others.
func withNumberWidths(read corpus.Tokenizer, others ...float64) []corpus.TermOptions {
	terms := []corpus.TermOptions{{Tokenizer: read}}
	for _, width := range others {
		if read.NeedsWidth() {
			terms = append(terms, corpus.TermOptions{Tokenizer: read.WithWidth(width)})
		}
	}
	return terms
}

// vectorWeight is an alternative factor for the weight of vectors in tables with text and vectors.
const vectorWeight = 4

// textTerms returns alternative tokenizers for text columns: words with word pairs, with and
// without character n-grams within words. If there are vectors, it adds the tokenizer of c with a
// larger weight of vectors. It returns nil if no column has text, or if the user set views.
func textTerms(c *corpus.Corpus) (terms []corpus.TermOptions) {
	views, _ := c.Tokenizer.SplitViews()
	if !c.ViewsInferred || !hasText(c.Tokenizer) {
		return nil
	}
	pairs := corpus.Tokenizer{MinN: 1, MaxN: 2}
	for _, cuts := range [][]corpus.Tokenizer{{pairs}, {pairs, {Analyzer: token.AnalyzerCharWB, MinN: 2, MaxN: 5}}} {
		var parts []string
		for _, v := range views {
			if v.HasTerms() {
				parts = append(parts, fmt.Sprintf("%v*%s", v.Weight, v))
				continue
			}
			for _, cut := range cuts { // each tokenizer gets an equal part of the column's weight
				own := token.View{Columns: v.Columns, Tokenizer: cut.WithPairs(v.Pairs)}
				parts = append(parts, fmt.Sprintf("%v*%s", v.Weight/float64(len(cuts)), own))
			}
		}
		if t := (corpus.Tokenizer{Views: strings.Join(parts, " + ")}).Canonical(); t.Validate() == nil {
			terms = append(terms, corpus.TermOptions{Tokenizer: t})
		}
	}
	for i := range views {
		if views[i].Analyzer == token.AnalyzerVector {
			views[i].Weight *= vectorWeight
		}
	}
	if t := token.FromViews(views); t != c.Tokenizer {
		terms = append(terms, corpus.TermOptions{Tokenizer: t})
	}
	return terms
}

// searchTerms returns the tokenizers that a search compares. For tables, it adds number width 3 to
// [DefaultTerms]. For text, it adds each tokenizer with the other MinDF, 1 or 2.
func searchTerms(c *corpus.Corpus) []corpus.TermOptions {
	if c.Tokenizer.HasColumns() {
		return slices.Concat(withNumberWidths(c.Tokenizer, 2, 3), valueTokenizers(c), textTerms(c))
	}
	terms := DefaultTerms(c)
	for _, t := range terms[:len(terms):len(terms)] {
		t.MinDF = 3 - cmp.Or(t.MinDF, 2)
		terms = append(terms, t)
	}
	return terms
}

// compareTokenizers adds the comparison of tokenizers to from if the texts of c were kept. It
// returns the compared tokenizers and the options for tokenising, and adds the texts' size to
// o.HeldBytes.
func (o *Options) compareTokenizers(
	ctx context.Context, c *corpus.Corpus, terms []corpus.TermOptions, g *Constraints, from *tune.Candidates,
) ([]corpus.TermOptions, corpus.Options, error) {
	reading := corpus.Options{Workers: o.Workers}
	if !c.HasRawDocuments() || len(terms) < 2 {
		return nil, reading, nil
	}
	o.HeldBytes += c.Raw.Bytes()
	reading.MemoryBytes = MemoryLeft(o.MemoryBytes, o.HeldBytes+c.Documents.Bytes())
	tried, err := affordableTokenizers(ctx, c, terms, g, from, reading)
	return tried, reading, err
}

// sampledTexts is the number of texts from which the cost of other tokenizers is estimated.
const sampledTexts = 40

// minCostValues is the approximate number of values per document below which the time of a dot
// product is constant.
const minCostValues = 150

// tokenizedBytes is the memory in bytes per value of documents that are tokenised and embedded.
const tokenizedBytes = 48

// affordableTokenizers adds to from the comparison of the tokenizers whose documents fit in a third
// of opt.MemoryBytes. It returns these tokenizers, starting with the tokenizer of c. Tokenizers
// with numbers as values are tried only with kernels for vectors, and only if g sets neither kernel
// nor embedding. opt sets Workers and MemoryBytes.
func affordableTokenizers(
	ctx context.Context, c *corpus.Corpus, terms []corpus.TermOptions, g *Constraints, from *tune.Candidates,
	opt corpus.Options,
) ([]corpus.TermOptions, error) {
	n := min(c.Raw.Len(), sampledTexts)
	some := make([]int, n)
	var first int64
	for k := range some {
		some[k] = k * c.Raw.Len() / n
		of, _ := c.Documents.Row(some[k])
		first += int64(len(of))
	}
	tried, values, counted := terms[:1:1], []float64{1}, []float64{0}
	for _, t := range terms[1:] {
		var kernels []kernel.Kernel
		var err error
		if t.Tokenizer.HasValues() {
			if g.Kernel != "" || len(g.Embeddings) > 0 {
				continue
			}
			t, kernels, err = withFittedScales(ctx, c, t, g, opt)
		}
		var cut *corpus.Corpus
		if err == nil {
			cut, err = c.Retokenize(ctx, some, tokenizeOptions(t, opt))
		}
		if memory := (*corpus.MemoryError)(nil); errors.As(err, &memory) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all := float64(cut.Documents.NNZ()) / float64(n) * float64(c.Raw.Len())
		if opt.MemoryBytes > 0 && 3*tokenizedBytes*all > float64(opt.MemoryBytes) {
			continue
		}
		var count float64
		for _, v := range cut.Documents.Values {
			count += float64(v)
		}
		each := max(float64(first)/float64(n), minCostValues)
		if kernels != nil {
			from.KernelsByTokenizer = map[int][]kernel.Kernel{len(tried): kernels}
		}
		tried, values = append(tried, t), append(values, max(float64(cut.Documents.NNZ())/float64(n)/each, 1))
		counted = append(counted, count/float64(n))
	}
	from.TokenizerCount, from.RelativeValueCounts, from.TermCounts, terms = len(tried), values, counted, tried
	// true if tokenizers differ only in the encoding of numbers
	from.UniformCost = c.Tokenizer.HasColumns() && len(textTerms(c)) == 0
	from.Corpus = func(ctx context.Context, cut int, documents []int) (*corpus.Corpus, error) {
		return c.Retokenize(ctx, documents, tokenizeOptions(terms[cut], opt))
	}
	return tried, nil
}

// withFittedScales returns t with column scales fitted to c, and the vector kernels to try.
func withFittedScales(
	ctx context.Context, c *corpus.Corpus, t corpus.TermOptions, g *Constraints, opt corpus.Options,
) (corpus.TermOptions, []kernel.Kernel, error) {
	cut, err := t.Tokenize(ctx, c, opt)
	if err != nil {
		return t, nil, err
	}
	t.Tokenizer = cut.Tokenizer
	kernels, err := g.vectorKernels(cut)
	return t, kernels, err
}

func tokenizeOptions(t corpus.TermOptions, opt corpus.Options) corpus.Options {
	opt.Tokenizer, opt.MinDF = t.Tokenizer, t.MinDF
	return opt
}
