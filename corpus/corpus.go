package corpus

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Corpus is a set of documents as they were read: raw counts or values, labels, and a vocabulary.
type Corpus struct {
	Source     string         // what was read, as the user named it
	Format     Format         // of the file that was read; empty for folders, texts in memory, and what isn't read
	Documents  *sparse.CSR    // one row per document: term counts, or the values of a vector file
	Vocabulary []string       // Vocabulary[t] is the text of term t; nil if the source has indices only
	Classes    []string       // names of the classes, in the order of their first document
	Labels     sparse.Labels  // the classes of each document
	Weights    []float64      // Weights[i] > 0 multiplies the price of document i in training that has one; nil: 1 each
	Names      []string       // Names[i] is the file of document i, or its key name in JSON; nil without names
	Groups     []int64        // documents with equal Groups[i] are in the same fold; nil for no groups
	Tokenizer  Tokenizer      // what cut text into terms; the default for vectors
	Form       Form           // what options said of how the source is read, for others like it
	Scripts    []Script       // without spaces, of which the tokenizer made characters and pairs of them
	Raw                       // documents as they were read, for [Corpus.Recut]; none unless Options.KeepTexts asks
	Blank      map[int]string // Blank[i] is a digest of document i, a text without terms of the vocabulary
	Warnings   []Warning      // what deserves notice, such as empty documents, each kind once

	Table []TableColumn // the columns of a table in its order; nil for other sources

	minDF, maxDF int // of the options that Raw.Rows were read by
}

// KernelRows returns the documents as rows of a Gram matrix that was computed elsewhere: column j
// has the kernel's value with training document j. A row of LIBSVM's precomputed format (svm-train
// -t 4, FormatSVMLight),
//
//	label 0:serial 1:K(x, x₁) 2:K(x, x₂) …
//
// begins with a number that is left out, and the others count from 1: read it with Options.ZeroBased. Rows
// of other formats are what they are. The matrix of c is changed and must not be used any more. An error names the
// first row without 0:serial.
func (c *Corpus) KernelRows() (*sparse.CSR, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := c.Documents
	if c.Format != FormatSVMLight {
		return m, nil
	}
	for i := range m.Rows() {
		if terms, _ := m.Row(i); len(terms) == 0 || terms[0] != 0 {
			return nil, fmt.Errorf("corpus: %s, row %d: no 0:serial before the values, expected it in each row of a "+
				"precomputed kernel", c.Source, i+1)
		}
	}
	out := &sparse.CSR{Cols: max(m.Cols-1, 0), Offsets: m.Offsets, Terms: m.Terms, Values: m.Values}
	to, from := int64(0), int64(0)
	for i := range m.Rows() {
		end := m.Offsets[i+1]
		for k := from + 1; k < end; k++ {
			out.Terms[to], out.Values[to] = m.Terms[k]-1, m.Values[k]
			to++
		}
		from, out.Offsets[i+1] = end, to
	}
	out.Terms, out.Values = out.Terms[:to], out.Values[:to]
	return out, nil
}

// Warning is something in what was read that deserves notice.
type Warning struct {
	Message string // such as "empty document"
	Count   int64  // how often
	Of      int64  // how often it could have, such as words in all; 0 where that says nothing
	First   string // where it occurred first, such as "train.svm:12"
	Option  string // the field of Options that mends it, such as "Encoding"; empty where none does
	Remedy  string // what that field does, such as "names the encoding"
}

// Select returns the corpus of the given documents, in the given order, with the same vocabulary and classes.
func (c *Corpus) Select(documents []int) *Corpus {
	out := *c
	out.Documents = c.Documents.SelectRows(documents)
	out.Labels = sparse.Labels{}
	out.Names, out.Groups = run.Pick(c.Names, documents), run.Pick(c.Groups, documents)
	out.Raw, out.Weights = c.Raw.Select(documents), run.Pick(c.Weights, documents)
	if out.Blank = nil; c.Blank != nil {
		out.Blank = map[int]string{}
		for at, i := range documents {
			if digest, ok := c.Blank[i]; ok {
				out.Blank[at] = digest
			}
		}
	}
	if len(c.Labels.Offsets) > 0 {
		for _, i := range documents {
			out.Labels.Add(c.Labels.Of(i)...)
		}
	}
	return &out
}

// Fold is Select for the training of a cross-validation. Embeddings learn the terms and their document frequencies from
// all documents of c, and what depends on labels or scales columns from the selected documents.
func (c *Corpus) Fold(documents []int) *Corpus {
	out := c.Select(documents)
	out.Documents = c.Documents.FoldRows(documents)
	return out
}

// Validate checks documents as [sparse.CSR.Validate] does and labels as [sparse.Labels.Validate] does, and that
// there are a term for every column, and a name, a group and a weight for every document, each unless nil.
// It takes one pass.
func (c *Corpus) Validate() error {
	if c == nil {
		return fmt.Errorf("corpus: no corpus, expected one")
	}
	if err := c.Documents.Validate(); err != nil {
		return err
	}
	rows := c.Documents.Rows()
	if err := c.Labels.Validate(rows, len(c.Classes)); err != nil {
		return err
	}
	switch {
	case c.Kept() && c.Raw.Len() != rows:
		return fmt.Errorf("corpus: the corpus has %d texts, expected one for each of %d documents", c.Raw.Len(), rows)
	case c.Vocabulary != nil && len(c.Vocabulary) < c.Documents.Cols:
		return fmt.Errorf("corpus: a vocabulary of %d terms, expected at least %d, one for each column, or none",
			len(c.Vocabulary), c.Documents.Cols)
	case c.Names != nil && len(c.Names) != rows:
		return fmt.Errorf("corpus: %d names, expected %d, one for each document, or none", len(c.Names), rows)
	case c.Groups != nil && len(c.Groups) != rows:
		return fmt.Errorf("corpus: %d groups, expected %d, one for each document, or none", len(c.Groups), rows)
	case c.Weights != nil && len(c.Weights) != rows:
		return fmt.Errorf("corpus: %d weights, expected %d, one for each document, or none", len(c.Weights), rows)
	}
	for i, w := range c.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("corpus: weight %v of document %d, expected a finite number above 0", w, i)
		}
	}
	return nil
}

// FitCorpus fits an embedding on the documents of a corpus, and on their labels if the embedding is supervised. The
// embedder keeps the error of [sparse.Embedding.Fit] or [sparse.Embedding.FitLabels].
func Fit(e sparse.Embedding, c *Corpus) *sparse.Embedder {
	if c == nil {
		return e.Fit(nil)
	}
	return e.FitLabels(c.Documents, c.Labels, len(c.Classes))
}
