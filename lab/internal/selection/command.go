package selection

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Command implements `gramlab select`.
var Command = &cli.Command{
	Name:    "select",
	Summary: "rank terms by their mutual information with the class",
	Help: `
Ranks the terms of documents by their mutual information with the class, from a histogram of each
(Cho's thesis, §5.2.3). Counts up to 9 have a bin for each number; if there are greater ones, the
bins are 0, 1, 2-3, 4-7 and so on. Other values have ten bins of equal width. Documents without a
class, or with several, are ignored.`,
	Examples: `
gramlab select -in train.tsv -n 300 -json`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &command{f: f}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.StartGroup("Output", "")
		f.IntVar(&c.count, "n", 20, "list the best `N` terms")
		f.StartGroup("Computing", "")
		c.DeclareMemory(f)
		c.DeclareWorkers(f)
		f.AddCheck(func() error {
			if c.count < 1 {
				return cli.Usagef("-n must be positive, got %d", c.count)
			}
			return nil
		})
		return c.run
	},
}

type command struct {
	source.Documents
	backend.Limits
	f     *cli.Flags
	count int
}

type result struct {
	Corpus        source.Summary `json:"corpus"`
	DocumentCount int            `json:"documents"` // number of documents with exactly one class
	TermCount     int            `json:"terms"`     // number of ranked terms
	ClassEntropy  float64        `json:"class_bits"`
	Rows          []row          `json:"rows"`
}

// row is a ranked term. Index is the column, counted from 0.
type row struct {
	Term              string  `json:"term"`
	Index             uint32  `json:"index"`
	MutualInformation float64 `json:"bits"`
}

func (c *command) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	docs, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	// Check the memory for the copy of the values in termValues.
	if err := c.CheckMemory("ranking terms", 2*docs.Documents.Bytes()); err != nil {
		return err
	}
	p.StartStage("ranking terms")
	ranking, err := Rank(ctx, docs, Options{Workers: c.Workers})
	if err != nil {
		return err
	}
	r := &result{Corpus: source.NewSummary(docs), DocumentCount: ranking.DocumentCount, TermCount: len(ranking.Terms),
		ClassEntropy: ranking.ClassEntropy, Rows: []row{}}
	for i, term := range ranking.Terms[:min(c.count, r.TermCount)] {
		name := docs.TermName(term)
		if docs.Vocabulary != nil {
			name = docs.Tokenizer.FormatTerm(docs.Vocabulary[term])
		}
		r.Rows = append(r.Rows, row{name, term, ranking.MutualInformation[i]})
	}
	p.Clear()
	return report.Write(e.Stdout, r, c.f.JSON)
}

// Describe implements report.Describer.
func (r *result) Describe(d *report.Document) {
	d.AddLine(r.Corpus)
	t := report.NewTable(">rank", "term", ">bits")
	for i, row := range r.Rows {
		t.Add(strconv.Itoa(i+1), row.Term, fmt.Sprintf("%.4f", row.MutualInformation))
	}
	d.AddTable("Terms", fmt.Sprintf("mutual information with the class (entropy %.4g bits), from %s", r.ClassEntropy,
		report.FormatDocuments(r.DocumentCount)), t)
	d.AddLinef("%s of %s", report.FormatCount(len(r.Rows)), report.FormatCountOf(r.TermCount, "term", "terms"))
}
