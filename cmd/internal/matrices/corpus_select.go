package matrices

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/selection"
	"github.com/gramengine/gram/internal/report"
)

// selected are the terms that say most of the class.
type selected struct {
	Documents int            `json:"documents"` // with one class
	Terms     int            `json:"terms"`     // that were ranked
	Entropy   float64        `json:"class_bits"`
	Rows      []selectedTerm `json:"rows"`
	columns   []uint32       // ascending
}

// selectedTerm is one of them; Index counts from 0.
type selectedTerm struct {
	Term  string  `json:"term"`
	Index uint32  `json:"index"`
	Bits  float64 `json:"bits"`
}

// parseSelect reads -select: how many terms are selected by mutual information.
func parseSelect(text string) (count int, err error) {
	if text == "" {
		return 0, nil
	}
	number, ok := strings.CutPrefix(text, "mi:")
	if count, err = strconv.Atoi(number); !ok || err != nil || count < 1 {
		return 0, cli.Usagef("-select %s, expected mi:NUMBER, such as mi:300", text)
	}
	return count, nil
}

// selectTerms ranks the terms of model, and leaves the best of them in both corpora.
func (c *dataset) selectTerms(ctx context.Context, documents, model *corpus.Corpus) (*selected, error) {
	// values by term, and those that are kept
	need := 3 * (model.Documents.Bytes() + documents.Documents.Bytes())
	if err := c.Fits("ranking terms", need); err != nil {
		return nil, err
	}
	r, err := selection.Rank(ctx, model, selection.Options{Workers: c.Workers})
	if err != nil {
		return nil, err
	}
	if len(r.Terms) == 0 {
		return nil, fmt.Errorf("%s: none of %s has terms, expected some to select from", model.Source,
			report.Documents(model.Documents.Rows()))
	}
	s := &selected{Documents: r.Documents, Terms: len(r.Terms), Entropy: r.Entropy, columns: r.Best(c.most)}
	for i, term := range r.Terms[:min(c.most, len(r.Terms))] {
		name := model.TermName(term)
		if model.Vocabulary != nil {
			name = model.Tokenizer.Term(model.Vocabulary[term])
		}
		s.Rows = append(s.Rows, selectedTerm{name, term, r.Bits[i]})
	}
	return s, nil
}

// keep leaves the selected terms alone.
func (s *selected) keep(c *corpus.Corpus) *corpus.Corpus {
	kept := *c
	kept.Documents = selection.Keep(c.Documents, s.columns)
	return &kept
}

// shownTerms is how many are printed; -json has all.
const shownTerms = 20

func (s *selected) writeText(d *report.Document) {
	t := report.NewTable(">rank", "term", ">bits")
	for i, row := range s.Rows {
		if i < shownTerms || i == len(s.Rows)-1 {
			t.Add(strconv.Itoa(i+1), row.Term, fmt.Sprintf("%.4f", row.Bits))
		}
	}
	d.Table("Terms", fmt.Sprintf("mutual information with the class, of %.4g bits, from %s", s.Entropy,
		report.Documents(s.Documents)), t)
	d.Linef("selected: %s of %s", report.Count(len(s.Rows)), report.Counted(s.Terms, "term", "terms"))
}
