package learn

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
)

// Row says what is known of a document that was predicted.
type Row struct {
	Document    string   `json:"document"`       // its file, or its number from 1
	Text        string   `json:"text,omitempty"` // where texts were kept
	Truth       string   `json:"truth,omitempty"`
	Prediction  string   `json:"prediction"`             // several labels have commas between them
	Probability *float64 `json:"probability,omitempty"`  // of the prediction, where the model has them
	Second      string   `json:"second,omitempty"`       // the class that comes second; of ? that which it would be
	Margin      float64  `json:"margin"`                 // the decision value f, see [DocumentExplanation]
	Nearest     *float64 `json:"nearest,omitempty"`      // the greatest kernel value to a training document
	Rank        *float64 `json:"nearest_rank,omitempty"` // among these documents' own: small is new, see [Novelty]
	Known       int      `json:"terms_known"`            // different terms that the model knows
	Note        string   `json:"note,omitempty"`         // NoKnownWord, or nothing
}

// NoKnownWord notes a document of which the model knows nothing: what is predicted is that of an empty one.
const NoKnownWord = "no known word"

// RowsOf describes predictions of a corpus, one row per document. Errors: predictions of another model or
// corpus.
func RowsOf(m Model, p *model.Prediction, c *corpus.Corpus) ([]Row, error) {
	a := m.About()
	l := &Lines{Of: a, P: p}
	if err := l.check(); err != nil {
		return nil, err
	}
	if l.Documents() != c.Documents.Rows() {
		return nil, asMany(l.Documents(), c.Documents.Rows(), "rows")
	}
	out := make([]Row, l.Documents())
	for i := range out {
		r := &out[i]
		labels := a.Labels(p, i)
		r.Document, r.Prediction = strconv.Itoa(i+1), strings.Join(labels, ",")
		if c.Names != nil {
			r.Document = c.Names[i]
		}
		if c.Texts != nil {
			r.Text = c.Texts[i]
		}
		if len(c.Labels.IDs) > 0 {
			var truth []string
			for _, id := range c.Labels.Of(i) {
				truth = append(truth, c.Classes[id])
			}
			r.Truth = strings.Join(truth, ",")
		}
		terms, _ := c.Documents.Row(i)
		if r.Known = a.Known(terms); r.Known == 0 && a.Kernel != model.Precomputed {
			r.Note = NoKnownWord
		}
		if p.Rank != nil {
			if r.Rank = &p.Rank[i]; !math.IsNaN(p.Nearest[i]) {
				r.Nearest = &p.Nearest[i]
			}
		}
		if p.Probabilities != nil && len(p.Probabilities[i]) != len(a.Classes) {
			return nil, fmt.Errorf("learn: document %d has %d probabilities, expected one of each of %d classes", i,
				len(p.Probabilities[i]), len(a.Classes))
		}
		var err error
		if r.Margin, r.Second, err = a.Margin(m, p, i); err != nil {
			return nil, err
		}
		if p.Class != nil && i < len(p.Rejected) && p.Rejected[i] {
			r.Second = a.Classes[p.Class[i]]
		}
		if p.Probabilities != nil && p.Class != nil {
			r.Probability = &p.Probabilities[i][p.Class[i]]
		} else if p.Probabilities != nil && p.Labels != nil && len(p.Labels[i]) == 1 {
			r.Probability = &p.Probabilities[i][p.Labels[i][0]]
		}
	}
	return out, nil
}

// optional writes a number that may be missing.
func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// TableFormats are what [WriteRows] knows.
var TableFormats = []string{"csv", "tsv", "jsonl"}

// WriteRows writes rows as csv (RFC 4180), tsv (the same with TABs) or jsonl (one JSON object per line). In csv and tsv
// an apostrophe precedes a text that spreadsheets would take for a formula, such as =1+1. Columns that
// no row fills are left out. Errors: another format, those of w and of ctx.
func WriteRows(ctx context.Context, w io.Writer, format string, rows []Row) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ended := func(i int) bool { return i%1024 == 0 && ctx.Err() != nil }
	if format == "jsonl" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for i := range rows {
			if ended(i) {
				return ctx.Err()
			}
			if err := e.Encode(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	out := csv.NewWriter(w)
	switch format {
	case "csv":
	case "tsv":
		out.Comma = '\t'
	default:
		return fmt.Errorf("learn: format %q, expected one of %s", format, strings.Join(TableFormats, ", "))
	}
	columns := []struct {
		name string
		of   func(r *Row) string
	}{
		{"document", func(r *Row) string { return r.Document }},
		{"text", func(r *Row) string { return r.Text }},
		{"truth", func(r *Row) string { return r.Truth }},
		{"prediction", func(r *Row) string { return r.Prediction }},
		{"probability", func(r *Row) string { return optional(r.Probability) }},
		{"second", func(r *Row) string { return r.Second }},
		{"margin", func(r *Row) string { return strconv.FormatFloat(r.Margin, 'g', -1, 64) }},
		{"nearest", func(r *Row) string { return optional(r.Nearest) }},
		{"nearest_rank", func(r *Row) string { return optional(r.Rank) }},
		{"terms_known", func(r *Row) string { return strconv.Itoa(r.Known) }},
		{"note", func(r *Row) string { return r.Note }},
	}
	var header []string
	filled := columns[:0]
	for _, c := range columns {
		if len(rows) == 0 {
			filled, header = append(filled, c), append(header, c.name)
		}
		for i := range rows {
			if c.of(&rows[i]) != "" {
				filled, header = append(filled, c), append(header, c.name)
				break
			}
		}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	record := make([]string, len(filled))
	for i := range rows {
		if ended(i) {
			return ctx.Err()
		}
		for k, c := range filled {
			record[k] = run.PlainCell(c.of(&rows[i]))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
