package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// read reads the corpus and prints its warnings.
func (f *flags) read(ctx context.Context, e *env, p *progress) (*sparse.Corpus, error) {
	if limit := f.limitMemory(); f.memory > 0 && limit < runtimeBytes {
		return nil, f.fits("any command", runtimeBytes)
	}
	p.stage("reading " + shorten(f.in, 40))
	corpus, err := sparse.Read(ctx, f.in, sparse.Options{
		Format: f.sparseFormat(), Workers: f.workers, MinDF: f.minDF, MaxDF: f.maxDF, Signed: f.signed || f.sets != "", Groups: f.sets == setsByQID, Vocabulary: f.vocabulary, VocabularyLater: f.vocabularyLater,
		MaxLineBytes: int(f.maxLine), MemoryBytes: f.readingBytes(), Progress: p.reading,
	})
	p.clear()
	if err != nil {
		return nil, f.explainMemory(nameFlags(err))
	}
	writeWarnings(e.stderr, corpus)
	return corpus, nil
}

// nameFlags puts flags where a message of package sparse names fields of its options.
func nameFlags(err error) error {
	if syntax, ok := err.(*sparse.SyntaxError); ok {
		flags := map[string]string{"Signed": "-signed", "Groups": "-sets qid", "MaxLineBytes": "-max-line", "Format": "-format"}
		return errors.New(syntax.Describe(func(field string) string { return flags[field] }))
	}
	return err
}

// writeWarnings prints what was read but deserves notice.
func writeWarnings(w io.Writer, c *sparse.Corpus) {
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "grambench: warning: %s", warning.Message)
		if warning.Count > 1 {
			fmt.Fprintf(w, " (%s times)", formatCount(warning.Count))
		}
		if warning.First != "" {
			fmt.Fprintf(w, ", first at %s", warning.First)
		}
		fmt.Fprintln(w)
	}
}

// embed fits an embedding on the corpus and embeds it.
func embed(ctx context.Context, c *sparse.Corpus, emb sparse.Embedding, workers int) (*sparse.Embedded, error) {
	x, err := emb.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, workers)
	if err != nil {
		return nil, nameValue(c, fmt.Errorf("embedding %s: %w", emb, err))
	}
	return x, nil
}

// nameValue puts the document's name and the term's into an error of a value that an embedding can't take; others stay as they are.
func nameValue(c *sparse.Corpus, err error) error {
	var value *sparse.ValueError
	if !errors.As(err, &value) {
		return err
	}
	term := fmt.Sprintf("index %d", value.Term)
	if int(value.Term) < len(c.Vocabulary) {
		term = fmt.Sprintf("term %q", c.Vocabulary[value.Term])
	}
	return fmt.Errorf("%s: %s, %s: found %v, expected %s", c.Source, documentName(c, value.Row), term, value.Value, value.Expected)
}

// warnEmptied says how many documents an embedding has left without terms, beyond those that had none when they were read.
func warnEmptied(w io.Writer, c *sparse.Corpus, x *sparse.Embedded) {
	if n := x.Empty() - c.Documents.EmptyRows(); n > 0 {
		fmt.Fprintf(w, "grambench: warning: %s leaves %s without terms: at a right angle to all others, the same as each other\n", x.Embedder,
			counted(n, "document", "documents"))
	}
}

// newEngine makes an engine on x for a back end: an instruction set or cudaBackend.
func (f *flags) newEngine(x *sparse.Embedded, backend string, workers int, p *progress) (*engine.Engine, error) {
	opt := f.options(backend)
	opt.Workers, opt.Progress = workers, p.computing
	return engine.New(x, opt)
}

// documentFile returns the file that document i came from, "" where it is a line of one.
func documentFile(c *sparse.Corpus, i int) string {
	if c.Names == nil {
		return ""
	}
	return c.Names[i]
}

// documentName returns what document i is called: its file, or its number counted from 1, as lines are.
func documentName(c *sparse.Corpus, i int) string {
	if c.Names != nil {
		return c.Names[i]
	}
	return fmt.Sprintf("document %d", i+1)
}

// corpusLine is what all reports say about the corpus.
type corpusLine struct {
	Source    string `json:"source"`
	Documents int    `json:"documents"`
	Classes   int    `json:"classes"`
	Terms     int    `json:"terms"`
	Values    int64  `json:"values"`
	Digest    string `json:"sha256"`
}

func newCorpusLine(c *sparse.Corpus) corpusLine {
	d := c.Digest()
	terms, _ := c.Documents.TermFrequencies()
	return corpusLine{c.Source, c.Documents.Rows(), len(c.Classes), len(terms), c.Documents.NNZ(), hex.EncodeToString(d[:])}
}

func (l corpusLine) String() string {
	return fmt.Sprintf("%s: %s, %s, %s, %s", l.Source, counted(l.Documents, "document", "documents"), counted(l.Classes, "class", "classes"),
		counted(l.Terms, "term", "terms"), counted(l.Values, "value", "values"))
}

// warnDoubtful says where a kernel's matrices may have eigenvalues below 0 well beyond rounding. Conditionally positive definite kernels go without: a support
// vector machine and a centred matrix take them for positive definite.
func warnDoubtful(w io.Writer, k engine.Kernel) {
	if p := engine.PropertiesOf(k); p.Definite == engine.NotProven && p.Doubtful() != "" {
		fmt.Fprintf(w, "grambench: warning: %s is not known to be positive definite (%s)\n", k, p.Condition)
	}
}

// warnZeros says of how many documents the matrix has next to nothing, since their k(x, x) is so small that it comes out as 0.
func warnZeros(w io.Writer, e *engine.Engine, k engine.Kernel) error {
	zero, err := e.ZeroDiagonal(k)
	if err != nil || zero.Documents == 0 {
		return err
	}
	var norms string
	if engine.PropertiesOf(k).UsesNorms {
		norms = fmt.Sprintf(", of norms from %.4g to %.4g", zero.LeastNorm, zero.MostNorm)
	}
	warn(w, fmt.Sprintf("%s: k(x, x) is so small that it comes out as 0 for %s of %s%s: next to nothing can be learnt from them", k, formatCount(zero.Documents),
		counted(e.Len(), "document", "documents"), norms))
	return nil
}
