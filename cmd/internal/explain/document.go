package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode"

	"github.com/gramengine/gram/cmd/internal/effects"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
)

// documentReport explains the prediction for one document.
type documentReport struct {
	Model    string `json:"model"`
	Document string `json:"document"`
	*learn.DocumentExplanation
	Columns []learn.ColumnEffect   `json:"columns,omitempty"` // columns of a table row, ordered by effect
	Marks   []learn.WordOccurrence `json:"marks,omitempty"`   // words with the largest effects

	text     string
	terminal bool   // true if the report is written to a terminal
	source   string // source of the training documents, as set by the user
}

// engineMemoryFactor is the memory for explaining a prediction, in multiples of the model's memory.
const engineMemoryFactor = 4

func (r *explainFlags) explainDocument(ctx context.Context, e *cli.Env, m learn.Model) error {
	p := e.NewProgress(false)
	defer p.Clear()
	a := m.About()
	r.OtherBytes = a.Bytes
	r.Need = func(s corpus.Size) int64 { return s.Bytes() + engineMemoryFactor*r.OtherBytes }
	c, i, err := r.read(ctx, e, p, &a)
	if err != nil {
		return err
	}
	p.StartStage("explaining")
	out := &documentReport{Model: r.model, Document: "the text", source: a.Source}
	if r.document > 0 {
		out.Document = c.DocumentName(i)
	}
	o := learn.Options{
		Workers: r.limits.Workers, MemoryBytes: r.limits.Budget(), HeldBytes: backend.RuntimeBytes + a.Bytes + c.Bytes(),
		Progress: func(_ string, done, total int64, _ ...string) { p.Update(done, total) },
	}
	if o.Predictor, err = learn.NewPredictor(ctx, m, o); err == nil {
		out.DocumentExplanation, err = learn.ExplainDocument(ctx, m, c.Documents, i, r.n, o)
	}
	if err == nil && c.Rows != nil {
		out.Columns, err = learn.ExplainColumns(ctx, m, c.Documents, c.Raw, i, o)
	}
	if err == nil && c.Texts != nil {
		out.text, out.terminal = c.Texts[i], cli.TerminalWidth(e.Stdout) > 0 && os.Getenv("TERM") != "dumb"
		_, out.Marks, err = learn.ExplainText(ctx, m, out.text, r.n, o)
	}
	p.Clear()
	if o.Predictor != nil {
		err = errors.Join(err, o.Predictor.Close())
	}
	if err != nil {
		return fmt.Errorf("-model %s: %w", r.model, r.RaiseToTotalNeed(c.DescribeError(err), c))
	}
	return report.Write(e.Stdout, out, r.f.JSON)
}

// read returns documents tokenised as in training, and the index of the document to explain.
func (r *explainFlags) read(
	ctx context.Context, e *cli.Env, p *cli.Progress, a *learn.About,
) (*corpus.Corpus, int, error) {
	if r.document == 0 {
		if a.Vocabulary == nil {
			return nil, 0, fmt.Errorf("-text requires a model trained on texts, but %s was trained on vectors; "+
				"use -in SOURCE -document N", r.model)
		}
		counter, err := corpus.NewCounter(a.Tokenizer, a.Vocabulary)
		if err != nil {
			return nil, 0, err
		}
		raw := corpus.Raw{Texts: []string{r.text}}
		if columns := a.Tokenizer.Columns(); columns != nil {
			fields, err := columns.ParseObject([]byte(r.text))
			if err != nil {
				return nil, 0, fmt.Errorf("-text: %w", err)
			}
			raw = corpus.Raw{Columns: columns.Names(), Rows: [][]string{fields}}
		}
		docs, _, err := counter.CountUnknown(ctx, raw)
		return &corpus.Corpus{Documents: docs, Vocabulary: a.Vocabulary, Raw: raw}, 0, err
	}
	r.KeepTexts = cmp.Or(r.ReadLimitBytes()/4, math.MaxInt64)
	r.TrainingForm, r.Signed = a.Form, true // embedding fails if the model requires non-negative values
	r.Tokenizer = &a.Tokenizer
	r.VocabularyLater = func() ([]string, error) {
		if a.Vocabulary == nil {
			return nil, fmt.Errorf("%s contains text, but %s was trained on vectors", r.Source, r.model)
		}
		return a.Vocabulary, nil
	}
	c, err := r.Read(ctx, e, p)
	switch {
	case err != nil:
		return nil, 0, err
	case c.Vocabulary == nil && a.Vocabulary != nil:
		return nil, 0, fmt.Errorf("%s contains vectors, but %s was trained on text", r.Source, r.model)
	case r.document > c.Documents.Rows():
		return nil, 0, fmt.Errorf("-document %d does not exist, because %s has only %s", r.document, r.Source,
			report.FormatDocuments(c.Documents.Rows()))
	}
	return c, r.document - 1, nil
}

// highlightedText returns the text with its words highlighted as in x.Marks. Control characters
// except line breaks and tabs become spaces.
func (x *documentReport) highlightedText() string {
	var b strings.Builder
	clean := func(text string) {
		b.WriteString(strings.Map(func(c rune) rune {
			if unicode.IsControl(c) && c != '\n' && c != '\t' {
				return ' '
			}
			return c
		}, text))
	}
	at := 0
	for _, k := range x.Marks {
		clean(x.text[at:k.Start])
		begin, end := "[+", "]"
		switch {
		case x.terminal && k.Effect > 0:
			begin, end = "\x1b[1m", "\x1b[0m"
		case x.terminal:
			begin, end = "\x1b[4m", "\x1b[0m"
		case k.Effect < 0:
			begin = "[-"
		}
		b.WriteString(begin)
		clean(x.text[k.Start:k.End])
		b.WriteString(end)
		at = k.End
	}
	clean(x.text[at:])
	return strings.TrimSpace(b.String())
}

func (x *documentReport) Describe(d *report.Document) {
	against := ""
	if x.SecondClass != "" {
		against = " against " + x.SecondClass
	}
	d.AddLinef("%s: %s, predicted by %s\ndecision value %.4g%s; the model knows %s of the document", x.Document,
		x.Label,
		x.Model, x.Value+0, against, report.FormatCountOf(x.KnownTermCount, "term", "terms")) // + 0 turns -0 into 0
	if x.KnownTermCount == 0 {
		d.AddLinef("%s: the prediction is the same as for an empty document", learn.NoKnownTerm)
	}
	if len(x.Marks) > 0 {
		d.AddLinef("\n%s", x.highlightedText())
	}
	if len(x.Columns) > 0 {
		d.AddLine("")
		d.AddTable("Columns", "", effects.ColumnTable(x.Columns))
	}
	if len(x.Terms) > 0 {
		d.AddLine("")
		d.AddTable("Terms", "", effects.TermTable(x.DocumentExplanation.Terms))
	}
	if len(x.SupportVectors) > 0 {
		d.AddTable("Support vectors", "Support vectors with the largest contributions to the decision value "+
			"(documents of "+x.source+")",
			effects.SupportTable(x.DocumentExplanation, nil))
	}
}
