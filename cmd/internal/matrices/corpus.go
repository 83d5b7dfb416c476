// Package matrices implements the commands corpus, matrix and kernels.
package matrices

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Corpus is the command corpus, which describes documents and writes them as vectors.
var Corpus = &cli.Command{
	Name:    "corpus",
	Summary: "summarize documents: classes, terms, values, document frequencies",
	Help: `
Reads a corpus and prints its classes, the number of values per document, and the mean number of
terms that two documents share. The SHA-256 digest is the same on every platform.

-o also writes the documents as svmlight/LIBSVM vectors, one document per line: the values as read,
or with -embed the embedded values before vectors are scaled to length 1. Words are numbered from 1
in the order of the vocabulary; indices of vectors stay unchanged. Class names that aren't numbers
are numbered, and standard error lists the numbers.

Test documents must be embedded like the training documents: -like uses the vocabulary, the
embedding weights and the class numbers of the training documents.`,
	Examples: `
gram corpus -in train.tsv -json
gram corpus -in train.tsv -embed tf-l1-sqrt -o train.svm && svm-train -t 2 -g 1 train.svm
gram corpus -in test.tsv -like train.tsv -embed tf-l1-sqrt -o test.svm`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &corpusFlags{}
		c.Documents.Declare(f, "goroot", &c.Limits)
		c.DeclareWorkers(f)
		c.DeclareMemory(f)
		f.StartGroup("Output", "")
		f.IntVar(&c.maxListed, "classes", 20, "list the `N` largest classes; -1 = all (-json always lists all)")
		f.OutputVar(&c.out, "o", "write the documents as svmlight vectors to `FILE`")
		c.DeclareEmbedding(f, "embed the written vectors with `EMBEDDING`, such as tf-l1-sqrt (default: none)")
		f.StringVar(&c.vocabularySource, "like", "",
			"use the vocabulary, weights and class numbers of the training data in `SOURCE`")
		f.RegisterInput(&c.vocabularySource, "like", c.Files(&c.vocabularySource))
		f.AddCheck(func() error {
			if c.Embedding != "" && c.out == "" {
				return cli.Usagef("-embed requires -o")
			}
			ending := strings.ToLower(filepath.Ext(c.out))
			if slices.Contains([]string{".jsonl", ".json", ".csv", ".tsv"}, ending) {
				return cli.Usagef("-o %s: svmlight vectors cannot be written to a %s file; use a name such as x.svm "+
					"(duplicates -keep writes texts as JSON lines)", c.out, ending)
			}
			return nil
		})
		return func(ctx context.Context, e *cli.Env) error {
			r, err := c.run(ctx, e)
			if err != nil {
				return err
			}
			return report.Write(e.ReportWriter(), r, f.JSON)
		}
	},
}

type corpusFlags struct {
	source.Documents
	source.Kernels // flag -embed
	backend.Limits
	maxListed             int // maximum number of classes to list; -1 for all
	out, vocabularySource string
}

func (c *corpusFlags) run(ctx context.Context, e *cli.Env) (*corpusReport, error) {
	p := e.NewProgress(false)
	defer p.Clear()
	documents, model, err := c.read(ctx, e, p)
	if err != nil {
		return nil, err
	}
	r := newCorpusReport(documents)
	r.maxListed = c.maxListed
	if c.out != "" {
		r.VectorFile = &vectorFile{File: c.out}
		err = c.write(ctx, e, p, documents, model, r.VectorFile)
	}
	return r, err
}

type corpusReport struct {
	source.Summary
	NumUnlabelled     int              `json:"documents_without_class"`
	NumMultiLabelled  int              `json:"documents_of_several_classes"`
	ValuesPerDocument quantiles        `json:"values_per_document"`
	NumMatches        int64            `json:"matching_terms"` // number of common terms, summed over all pairs
	MatchesPerPair    float64          `json:"matching_terms_per_pair"`
	Warnings          []corpus.Warning `json:"warnings"`
	Rows              []classRow       `json:"rows"`
	VectorFile        *vectorFile      `json:"vectors,omitempty"`

	maxListed int
}

// quantiles describes the distribution of the number of values per document.
type quantiles struct {
	Min    int64   `json:"min"`
	Q25    int64   `json:"q25"`
	Median int64   `json:"median"`
	Q75    int64   `json:"q75"`
	Q95    int64   `json:"q95"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
}

type classRow struct {
	Class        string `json:"class"`
	NumDocuments int    `json:"documents"`
}

func newCorpusReport(c *corpus.Corpus) *corpusReport {
	r := &corpusReport{Summary: source.NewSummary(c), Warnings: c.Warnings, Rows: []classRow{}}
	r.countClasses(c)
	r.countLengths(c.Documents)
	_, df := c.Documents.TermFrequencies()
	for _, d := range df {
		r.NumMatches += int64(d) * int64(d-1) / 2
	}
	if pairs := float64(r.DocumentCount) * float64(r.DocumentCount-1) / 2; pairs > 0 {
		r.MatchesPerPair = float64(r.NumMatches) / pairs
	}
	return r
}

// countClasses counts documents per class, and sorts the classes by size in descending order. Ties
// keep the order of c.Classes.
func (r *corpusReport) countClasses(c *corpus.Corpus) {
	count := make([]int, len(c.Classes))
	for i := range c.Documents.Rows() {
		of := c.Labels.Classes(i)
		switch {
		case len(of) == 0:
			r.NumUnlabelled++
		case len(of) > 1:
			r.NumMultiLabelled++
		}
		for _, id := range of {
			count[id]++
		}
	}
	for id, name := range c.Classes {
		r.Rows = append(r.Rows, classRow{name, count[id]})
	}
	slices.SortStableFunc(r.Rows, func(a, b classRow) int { return b.NumDocuments - a.NumDocuments })
}

func (r *corpusReport) countLengths(m *sparse.CSR) {
	n := m.Rows()
	if n == 0 {
		return
	}
	lengths := make([]int64, n)
	for i := range n {
		lengths[i] = m.Offsets[i+1] - m.Offsets[i]
	}
	slices.Sort(lengths)
	at := func(q float64) int64 { return lengths[int(q*float64(n-1)+0.5)] }
	r.ValuesPerDocument = quantiles{lengths[0], at(0.25), at(0.5), at(0.75), at(0.95), lengths[n-1],
		float64(m.NNZ()) / float64(n)}
}

func (r *corpusReport) Describe(d *report.Document) {
	d.AddLine(r.Summary)
	d.AddLinef("sha256 %s", r.Digest)
	if r.NumUnlabelled > 0 || r.NumMultiLabelled > 0 {
		d.AddLinef("%s without a class, %s with several", report.FormatDocuments(r.NumUnlabelled),
			report.FormatCount(r.NumMultiLabelled))
	}
	l := r.ValuesPerDocument
	d.AddLinef("\nvalues per document: min %s, 25%% %s, median %s, 75%% %s, 95%% %s, max %s, mean %.1f",
		report.FormatCount(l.Min), report.FormatCount(l.Q25), report.FormatCount(l.Median), report.FormatCount(l.Q75),
		report.FormatCount(l.Q95),
		report.FormatCount(l.Max), l.Mean)
	d.AddLinef("terms shared by two documents: %s summed over all pairs, mean %.2f per pair",
		report.FormatCount(r.NumMatches), r.MatchesPerPair)
	r.writeClasses(d)
	if v := r.VectorFile; v != nil {
		what := "values as read"
		if v.Embedding != "" {
			what = v.Embedding
		}
		d.AddLinef("\n%s: %s, %s, %s", v.File, report.FormatCountOf(r.DocumentCount, "vector", "vectors"), what,
			report.FormatBytes(v.Bytes))
	}
}

func (r *corpusReport) writeClasses(d *report.Document) {
	n := len(r.Rows)
	if r.maxListed >= 0 {
		n = min(n, r.maxListed)
	}
	if n == 0 {
		return
	}
	d.AddLine("")
	t := report.NewTable("class", ">documents", ">share")
	for _, row := range r.Rows[:n] {
		t.Add(row.Class, report.FormatCount(row.NumDocuments),
			report.FormatPercent(float64(row.NumDocuments)/float64(max(r.DocumentCount, 1))))
	}
	d.AddTable("Classes", "", t)
	if rest := len(r.Rows) - n; rest > 0 {
		d.AddLinef("and %s (-classes -1 lists all)", report.FormatCountOf(rest, "other class", "other classes"))
	}
}
