package serve

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gramengine/gram/cmd/internal/effects"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
)

//go:embed page.css
var pageStyle string

var style = report.StyleSheet + pageStyle

// contentPolicy is a content security policy that forbids scripts and external resources.
var contentPolicy = func() string {
	digest := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'self'; "+
		"frame-ancestors 'none'", base64.StdEncoding.EncodeToString(digest[:]))
}()

// pageContent holds the contents of the page. The page omits empty fields.
type pageContent struct {
	Model, Kind, Text, Error string
	Fields                   []field // one form field per column; nil if the model predicts texts
	Answers                  []pageSection
}

type field struct {
	Name, Kind, Value string
	Values            []string // values of a categorical column, except the empty value
}

// fields returns the form's fields, filled with the values of row unless row is nil.
func (l *loadedModel) fields(row []string) (fields []field) {
	a := l.model.About()
	for i, column := range l.columns {
		f := field{Name: column.Name, Kind: "text"}
		switch {
		case column.IsNumber:
			f.Kind = "number"
		case column.IsCategory && !column.IsText:
			f.Kind = "category"
			for _, value := range a.Tokenizer.CategoryValues(column.Name, a.Vocabulary) {
				if value != "" {
					f.Values = append(f.Values, value)
				}
			}
		}
		if row != nil {
			f.Value = row[i]
		}
		if f.Kind == "category" && f.Value != "" && !slices.Contains(f.Values, f.Value) {
			f.Values = append(f.Values, f.Value)
		}
		fields = append(fields, f)
	}
	return fields
}

type pageSection struct {
	Title, Note string
	Table       *report.Table
}

const formType = "application/x-www-form-urlencoded"

// page handles GET with an empty form, and POST with the prediction for the submitted form.
func (s *service) page(w http.ResponseWriter, r *http.Request, out *response) error {
	h := w.Header()
	if r.Method != http.MethodPost {
		return s.writePage(h, s.current.Load(), &pageContent{}, out)
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != formType {
		return newStatusError(http.StatusUnsupportedMediaType, "content type must be %s, got %q", formType,
			r.Header.Get("Content-Type"))
	}
	return s.compute(w, r, true, func(ctx context.Context, body []byte, l *loadedModel) error {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return newStatusError(http.StatusBadRequest, "the body is not a valid form")
		}
		raw, p := l.parseForm(form)
		var refused error
		if p.Answers, refused = l.sections(ctx, raw); refused != nil {
			p.Error = statusErrorOf(refused).text
		}
		if err := s.writePage(h, l, p, out); err != nil {
			return err
		}
		out.err = refused
		return nil
	})
}

// parseForm returns the text or row of a submitted form, and a page that shows the form again.
func (l *loadedModel) parseForm(form url.Values) (corpus.Raw, *pageContent) {
	value := func(name string) string {
		return strings.ToValidUTF8(strings.TrimPrefix(form.Get(name), byteOrderMark), "\ufffd")
	}
	if l.columns == nil {
		text := value("text")
		p := &pageContent{Text: text}
		if len(text) > maxExplained {
			p.Text = strings.ToValidUTF8(text[:maxExplained], "") + "…"
		}
		return corpus.Raw{Texts: []string{text}}, p
	}
	row := make([]string, len(l.columns))
	for i, column := range l.columns {
		row[i] = value(column.Name)
	}
	return corpus.Raw{Columns: l.columns.Names(), Rows: [][]string{row}}, &pageContent{Fields: l.fields(row)}
}

func (s *service) writePage(h http.Header, l *loadedModel, p *pageContent, out *response) error {
	p.Model, p.Kind = l.name, l.description()
	if p.Fields == nil {
		p.Fields = l.fields(nil)
	}
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Referrer-Policy", "same-origin")
	out.contentType = "text/html; charset=utf-8"
	writeform(out, p)
	return out.err
}

// sections returns a section with the prediction for a text or row, and sections that explain it.
func (l *loadedModel) sections(ctx context.Context, raw corpus.Raw) (out []pageSection, err error) {
	found, err := l.predict(ctx, raw)
	if err != nil {
		return nil, err
	}
	p := l.prediction(found, 0)
	t := report.NewTable("", ">")
	title := "no label"
	if len(p.Labels) > 0 {
		title = report.Join(p.Labels)
	}
	if refusal := p.rejectionReason(); refusal != "" {
		title = refusal
	}
	number := func(name string, v *float64, format string) {
		if v != nil {
			t.Add(name, fmt.Sprintf(format, *v))
		}
	}
	if p.Value != nil {
		title = fmt.Sprintf("%.6g", *p.Value)
	}
	number("probability", p.Probability, "%.4f")
	number("margin", p.Margin, "%.4g")
	if p.SecondClass != "" {
		t.Add(map[bool]string{true: "closest", false: "second"}[p.Threshold > 0], p.SecondClass)
	}
	t.Add("words", fmt.Sprint(p.NumWords))
	t.Add("known words", fmt.Sprint(p.NumKnownWords))
	first := pageSection{Title: title, Table: t}
	if found.Empty[0] {
		first.Note = "The model knows none of the words, so it predicts the same as for an empty text."
	} else if 2*p.NumKnownWords < p.NumWords || p.NumWords == 0 {
		first.Note = "The model knows less than half of the words, so the prediction is unreliable."
	}
	if len(raw.Text(0)) > maxExplained {
		first.Note += fmt.Sprintf(" The text has more than %s, so it is truncated and not explained.",
			report.FormatBytes(maxExplained))
		return append(out, first), nil
	}
	out = append(out, first)
	why, err := l.explain(ctx, raw, 20)
	if err != nil {
		return out, err
	}
	var terms []learn.TermEffect
	for _, e := range why.Terms {
		terms = append(terms, learn.TermEffect(e))
	}
	if why.Columns != nil {
		var columns []learn.ColumnEffect
		for _, e := range why.Columns {
			columns = append(columns, learn.ColumnEffect(e))
		}
		out = append(out, pageSection{"Columns", "The effect of a column is the margin minus the " +
			"margin without the column's terms.", effects.ColumnTable(columns)})
	}
	return append(out, pageSection{"Decisive terms",
		"The effect of a term is the margin minus the margin without the term.",
		effects.TermTable(terms)}), nil
}
