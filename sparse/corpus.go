package sparse

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// Corpus is a set of documents as they were read: raw counts or values, labels, and a vocabulary.
type Corpus struct {
	Source     string         // what was read, as the user named it
	Format     Format         // of the file that was read; empty for folders, texts in memory, and what isn't read
	Documents  *CSR           // one row per document: term counts, or the values of a vector file
	Vocabulary []string       // Vocabulary[t] is the text of term t; nil if the source has indices only
	Classes    []string       // names of the classes, in the order of their first document
	Labels     Labels         // the classes of each document
	Weights    []float64      // Weights[i] > 0 multiplies the price of document i in training that has one; nil: 1 each
	Names      []string       // Names[i] is the file of document i, or its key name in JSON; nil without names
	Groups     []int64        // documents with equal Groups[i] are in the same fold; nil for no groups
	Tokenizer  Tokenizer      // what cut text into terms; the default for vectors
	Form       Form           // what options said of how the source is read, for others like it
	Scripts    []Script       // without spaces, of which the tokenizer made characters and pairs of them
	Texts      []string       // Texts[i] is the text of document i, for [Corpus.Recut]; nil unless Options.KeepTexts asks
	Blank      map[int]string // Blank[i] is a digest of document i, a text without terms of the vocabulary
	Warnings   []Warning      // what deserves notice, such as empty documents, each kind once

	minDF, maxDF int // of the options that rows in Texts were read by
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
func (c *Corpus) KernelRows() (*CSR, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := c.Documents
	if c.Format != FormatSVMLight {
		return m, nil
	}
	for i := range m.Rows() {
		if terms, _ := m.Row(i); len(terms) == 0 || terms[0] != 0 {
			return nil, fmt.Errorf("sparse: %s, row %d: no 0:serial before the values, expected it in each row of a "+
				"precomputed kernel", c.Source, i+1)
		}
	}
	out := &CSR{Cols: max(m.Cols-1, 0), Offsets: m.Offsets, Terms: m.Terms, Values: m.Values}
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

// Labels holds the classes of each document, none, one or several.
type Labels struct {
	Offsets []int64 // document i has the classes IDs[Offsets[i]:Offsets[i+1]]
	IDs     []int32 // indices into Corpus.Classes
}

// Of returns the classes of document i, which the caller must not change. The zero value has none
// for any i.
func (l Labels) Of(i int) []int32 {
	if len(l.Offsets) == 0 {
		return nil
	}
	lo, hi := l.Offsets[i], l.Offsets[i+1]
	return l.IDs[lo:hi:hi]
}

// Add appends a document with the given classes.
func (l *Labels) Add(ids ...int32) {
	if len(l.Offsets) == 0 {
		l.Offsets = append(l.Offsets, 0)
	}
	l.IDs = append(l.IDs, ids...)
	l.Offsets = append(l.Offsets, int64(len(l.IDs)))
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

// Select returns the corpus of the given documents, in the given order, with the same vocabulary
// and classes. It panics with the error of [Corpus.Validate], or if there is no such document.
func (c *Corpus) Select(documents []int) *Corpus {
	must(c.Validate())
	out := *c
	out.Documents = c.Documents.SelectRows(documents)
	out.Labels = Labels{}
	out.Names, out.Groups = run.Pick(c.Names, documents), run.Pick(c.Groups, documents)
	out.Texts, out.Weights = run.Pick(c.Texts, documents), run.Pick(c.Weights, documents)
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
	out.Documents.all = cmp.Or(c.Documents.all, c.Documents)
	return out
}

// Validate checks documents as [CSR.Validate] does and labels as [Labels.Validate] does, and that
// there are a term for every column, and a name, a group and a weight for every document, each unless nil.
// It takes one pass.
func (c *Corpus) Validate() error {
	if c == nil {
		return fmt.Errorf("sparse: no corpus, expected one")
	}
	if err := c.Documents.Validate(); err != nil {
		return err
	}
	rows := c.Documents.Rows()
	if err := c.Labels.Validate(rows, len(c.Classes)); err != nil {
		return err
	}
	switch {
	case c.Texts != nil && len(c.Texts) != c.Documents.Rows():
		return fmt.Errorf("sparse: the corpus has %d texts, expected one for each of %d documents", len(c.Texts),
			c.Documents.Rows())
	case c.Vocabulary != nil && len(c.Vocabulary) < c.Documents.Cols:
		return fmt.Errorf("sparse: a vocabulary of %d terms, expected at least %d, one for each column, or none",
			len(c.Vocabulary), c.Documents.Cols)
	case c.Names != nil && len(c.Names) != rows:
		return fmt.Errorf("sparse: %d names, expected %d, one for each document, or none", len(c.Names), rows)
	case c.Groups != nil && len(c.Groups) != rows:
		return fmt.Errorf("sparse: %d groups, expected %d, one for each document, or none", len(c.Groups), rows)
	case c.Weights != nil && len(c.Weights) != rows:
		return fmt.Errorf("sparse: %d weights, expected %d, one for each document, or none", len(c.Weights), rows)
	}
	for i, w := range c.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("sparse: weight %v of document %d, expected a finite number above 0", w, i)
		}
	}
	return nil
}

// Validate checks that labels fit so many documents and classes. The zero value, no labels at all,
// fits any number. It takes one pass.
func (l Labels) Validate(documents, classes int) error {
	switch n := len(l.Offsets); {
	case n == 0 && len(l.IDs) > 0:
		return fmt.Errorf("sparse: labels without offsets have %d classes, expected none", len(l.IDs))
	case n == 0:
		return nil
	case n-1 != documents:
		return fmt.Errorf("sparse: labels of %d documents, expected those of %d, or none", n-1, documents)
	case l.Offsets[0] != 0:
		return fmt.Errorf("sparse: labels begin at offset %d, expected 0", l.Offsets[0])
	case l.Offsets[documents] != int64(len(l.IDs)):
		return fmt.Errorf("sparse: labels end at offset %d, expected %d, the number of classes that they list",
			l.Offsets[documents], len(l.IDs))
	}
	for i := range documents {
		if lo, hi := l.Offsets[i], l.Offsets[i+1]; hi < lo {
			return fmt.Errorf("sparse: labels of document %d end at offset %d, expected at least %d, where they begin",
				i, hi, lo)
		}
	}
	for k, id := range l.IDs {
		if id < 0 || int64(id) >= int64(classes) {
			return fmt.Errorf("sparse: labels: class %d at offset %d, expected 0 to %d, one in the list of classes",
				id, k, classes-1)
		}
	}
	return nil
}
