package corpus

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Corpus holds documents: term counts or values, labels, and a vocabulary.
type Corpus struct {
	Source        string        // name of the source, as passed to Read
	Format        Format        // file format; "synthetic" for generated documents; empty for folders and texts in memory
	Documents     *sparse.CSR   // one row per document: term counts, or the values of a vector file
	Vocabulary    []string      // Vocabulary[t] is the text of term t; nil if the source has indices only
	Classes       []string      // class names, in order of their first document
	Labels        sparse.Labels // classes of each document
	Weights       []float64     // Weights[i] > 0 multiplies C for document i, in learners with C; nil for weights of 1
	Names         []string      // Names[i] is the file name of document i, or its id in a table; nil if there are no names
	Groups        []int64       // documents with equal Groups[i] are in the same fold; nil if there are no groups
	Tokenizer     Tokenizer     // tokenizer of the texts; the default for vectors
	FormatOptions FormatOptions // format of the source, see Options.TrainingFormat
	Scripts       []Script      // scripts without spaces that were split into characters and character pairs
	Raw                         // original documents, for [Corpus.Retokenize]; empty unless Options keep texts or rows
	Hashes        []uint64      // Hashes[i] is a hash of the text or row of document i; nil for vectors
	Warnings      []Warning     // warnings, such as empty documents; one per kind

	Table         []TableColumn // columns of a table, in file order; nil for other sources
	ViewsInferred bool          // true if the views of the table's columns were inferred with the default tokenizer

	minDF, maxDF int // values of Options.MinDF and Options.MaxDF with which Raw.Rows were read
}

// Warning describes a problem of a source that isn't an error.
type Warning struct {
	Message string // text of the warning, such as "empty document"
	Count   int64  // number of occurrences
	Of      int64  // number of possible occurrences, such as all words; 0 if unknown
	First   string // position of the first occurrence, such as "train.svm:12"
	Option  string // field of Options that avoids the warning, such as "Encoding"; empty if there is none
	Remedy  string // effect of the field Option, such as "sets the encoding"
}

// Select returns a corpus whose document i is document documents[i] of c. Vocabulary and classes
// are unchanged.
func (c *Corpus) Select(documents []int) *Corpus {
	out := *c
	out.Documents = c.Documents.SelectRows(documents)
	out.Labels = sparse.Labels{}
	out.Names, out.Groups = run.Select(c.Names, documents), run.Select(c.Groups, documents)
	out.Raw, out.Weights = c.Raw.Select(documents), run.Select(c.Weights, documents)
	out.Hashes = run.Select(c.Hashes, documents)
	if len(c.Labels.Offsets) > 0 {
		for _, i := range documents {
			out.Labels.Add(c.Labels.Classes(i)...)
		}
	}
	return &out
}

// SelectFold is like Select, for the training set of a fold in cross-validation. For embeddings
// fitted to the result, see [sparse.CSR.FoldRows].
func (c *Corpus) SelectFold(documents []int) *Corpus {
	out := c.Select(documents)
	out.Documents = c.Documents.FoldRows(documents)
	return out
}

// Validate checks documents as [sparse.CSR.Validate] does, and labels as [sparse.Labels.Validate]
// does. The vocabulary, texts, names, hashes, groups and weights may be nil. A non-nil vocabulary
// must have one term per column. All other non-nil lists must have one element per document.
// Weights must be positive and finite. Validate reads all values once.
func (c *Corpus) Validate() error {
	if c == nil {
		return fmt.Errorf("corpus: corpus is nil")
	}
	if err := c.Documents.Validate(); err != nil {
		return err
	}
	rows := c.Documents.Rows()
	if err := c.Labels.Validate(rows, len(c.Classes)); err != nil {
		return err
	}
	if c.Vocabulary != nil && len(c.Vocabulary) < c.Documents.Cols {
		return fmt.Errorf("corpus: the vocabulary has %d terms, but the documents have %d columns",
			len(c.Vocabulary), c.Documents.Cols)
	}
	for _, list := range []struct {
		name string
		n    int
		set  bool
	}{{"texts", c.Raw.Len(), c.HasRawDocuments()}, {"names", len(c.Names), c.Names != nil},
		{"hashes", len(c.Hashes), c.Hashes != nil}, {"groups", len(c.Groups), c.Groups != nil},
		{"weights", len(c.Weights), c.Weights != nil}} {
		if list.set && list.n != rows {
			return fmt.Errorf("corpus: %d %s, but %d documents", list.n, list.name, rows)
		}
	}
	for i, w := range c.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("corpus: weight of document %d must be positive and finite, got %v", i, w)
		}
	}
	return nil
}

// Fit fits the embedding e to the documents of c, and to their labels if e is supervised. The
// embedder holds any error, see [sparse.Embedding.Fit] and [sparse.Embedding.FitLabels].
func Fit(e sparse.Embedding, c *Corpus) *sparse.Embedder {
	if c == nil {
		return e.Fit(nil)
	}
	return e.FitLabels(c.Documents, c.Labels, len(c.Classes))
}
