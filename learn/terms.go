package learn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/sparse/token"
)

// Terms is a way to cut text into terms.
type Terms struct {
	Tokenizer sparse.Tokenizer
	MinDF     int // least number of documents with a term; 0 for the default
}

// String returns the tokenizer's text form and the least number of documents, where it isn't the default.
func (t Terms) String() string {
	if t.MinDF == 0 {
		return t.Tokenizer.String()
	}
	return fmt.Sprintf("%s, min-df %d", t.Tokenizer, t.MinDF)
}

// KeptTexts bounds the texts that are kept to choose terms, in bytes.
const KeptTexts = 256 << 20

// DefaultTerms are what is chosen from where nothing says how text is cut: terms as they were read first, then
// words with pairs of words, characters within words, and both.
func DefaultTerms(c *sparse.Corpus) []Terms {
	words := c.Tokenizer
	words.MinN, words.MaxN = 1, 2
	chars := sparse.Tokenizer{Analyzer: token.CharWB, MinN: 2, MaxN: 5}
	both := sparse.Tokenizer{Views: words.String() + " + " + chars.String()}
	return []Terms{{Tokenizer: c.Tokenizer}, {words, 1}, {chars, 1}, {both, 1}}
}

// sampledTexts is how many texts tell what other terms cost.
const sampledTexts = 200

// Over lets a choice try other terms, the first of which are those of the corpus: it does nothing without
// texts that were kept. opt has Workers and MemoryBytes.
func Over(ctx context.Context, c *sparse.Corpus, terms []Terms, from *svm.Candidates, opt sparse.Options) error {
	if c.Texts == nil || len(terms) < 2 {
		return nil
	}
	n := min(len(c.Texts), sampledTexts)
	some := make([]int, n)
	var first int64
	for k := range some {
		some[k] = k * len(c.Texts) / n
		of, _ := c.Documents.Row(some[k])
		first += int64(len(of))
	}
	from.Cuts, from.Values = len(terms), make([]float64, len(terms))
	from.Values[0] = 1
	for i, t := range terms[1:] {
		cut, err := c.Recut(ctx, some, t.options(opt))
		if err != nil {
			return err
		}
		from.Values[1+i] = float64(max(cut.Documents.NNZ(), 1)) / float64(max(first, 1))
	}
	from.Corpus = func(ctx context.Context, cut int, documents []int) (*sparse.Corpus, error) {
		return c.Recut(ctx, documents, terms[cut].options(opt))
	}
	from.Suited = func(k engine.Kernel, cut int) engine.Kernel {
		if terms[cut].Tokenizer.Views == "" {
			return k
		}
		return undamped(k)
	}
	return nil
}

// options are those that cut text into the terms.
func (t Terms) options(opt sparse.Options) sparse.Options {
	opt.Tokenizer, opt.MinDF = t.Tokenizer, t.MinDF
	return opt
}

// Cut returns the corpus with its texts cut into other terms.
func (t Terms) Cut(ctx context.Context, c *sparse.Corpus, opt sparse.Options) (*sparse.Corpus, error) {
	return c.Recut(ctx, nil, t.options(opt))
}

// undamped returns the kernel with counts that aren't damped, which views want; nil where there is none.
func undamped(k engine.Kernel) engine.Kernel {
	e := k.Embedding()
	switch e.Weighting {
	case sparse.LogTF:
		e.Weighting = sparse.TF
	case sparse.LogTFIDF:
		e.Weighting = sparse.TFIDF
	default:
		return k
	}
	out, err := engine.ParseKernelIn(kernel.Family(k), e)
	for _, name := range []string{"t", "gamma"} {
		if v, ok := kernel.ParamOf(k, name); ok && err == nil {
			out, err = kernel.With(out, name, v)
		}
	}
	if err != nil {
		return nil
	}
	return out
}
