package corpus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/run"
)

// Raw holds documents before they are divided into terms: texts, or rows of a table. The zero value
// is empty.
type Raw struct {
	Texts   []string   // Texts[i] is the text of document i
	Columns []string   // names of the columns of Rows
	Rows    [][]string // Rows[i] has the fields of document i, in the order of Columns
}

// HasRawDocuments reports whether r holds documents.
func (r Raw) HasRawDocuments() bool { return r.Texts != nil || r.Rows != nil }

// Len returns the number of documents.
func (r Raw) Len() int { return max(len(r.Texts), len(r.Rows)) }

// Select returns a Raw whose document i is document documents[i] of r.
func (r Raw) Select(documents []int) Raw {
	return Raw{run.Select(r.Texts, documents), r.Columns, run.Select(r.Rows, documents)}
}

// fieldBytes is the size of a field without its text, and rowBytes is the size of an empty row.
const fieldBytes, rowBytes = 16, 24

// Bytes returns the size of the documents in bytes. It excludes the string headers of texts.
func (r Raw) Bytes() (n int64) {
	for _, text := range r.Texts {
		n += int64(len(text))
	}
	for _, row := range r.Rows {
		n += rowSize(row)
	}
	return n
}

func rowSize(row []string) int64 {
	n := rowBytes + fieldBytes*len(row)
	for _, field := range row {
		n += len(field)
	}
	return int64(n)
}

// Text returns the text of document i, or its fields with column names, as in "title: bike; price:
// 3". It omits vectors. It returns "" if r holds no documents.
func (r Raw) Text(i int) string {
	switch {
	case r.Texts != nil:
		return r.Texts[i]
	case r.Rows == nil:
		return ""
	}
	var parts []string
	for k, field := range r.Rows[i] {
		if field != "" && len(token.ParseVector(field)) < 2 {
			parts = append(parts, r.Columns[k]+": "+field)
		}
	}
	return strings.Join(parts, "; ")
}

// fields returns the fields of document i, or its text as the only field.
func (r Raw) fields(i int) []string {
	if r.Rows == nil {
		return r.Texts[i : i+1]
	}
	return r.Rows[i]
}

func (r Raw) checkRows() error {
	for i, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fmt.Errorf("corpus: row %d has %d fields, but there are %d columns (%s)", i, len(row),
				len(r.Columns), strings.Join(r.Columns, ", "))
		}
	}
	return nil
}

// arrangeFor returns the documents in the form that a tokenizer requires: texts, or rows with a
// field per column.
func (r Raw) arrangeFor(t Tokenizer) (Raw, error) {
	columns := t.Columns()
	if err := r.checkRows(); err != nil {
		return r, err
	}
	switch names := columns.Names(); {
	case columns == nil && r.Rows != nil:
		return r, fmt.Errorf("corpus: got rows with columns %s instead of texts", strings.Join(r.Columns, ", "))
	case columns != nil && r.Texts != nil:
		return r, fmt.Errorf("corpus: got texts instead of rows with columns %s", strings.Join(names, ", "))
	case slices.Equal(r.Columns, names):
		return r.normalizeNumbers(columns), nil
	default:
		rows, err := columns.Arrange(r.Columns, r.Rows)
		if err != nil {
			err = fmt.Errorf("corpus: %w", err)
		}
		return Raw{Columns: names, Rows: rows}.normalizeNumbers(columns), err
	}
}

// normalizeNumbers applies normalizeNumber to numeric columns whose values contain commas. A column
// changes only if all its values are numbers with a decimal comma, or all are numbers with a
// decimal point, but not both.
func (r Raw) normalizeNumbers(columns Columns) Raw {
	cloned := false
	for k, c := range columns {
		if !c.IsNumber || !slices.ContainsFunc(r.Rows, func(row []string) bool { return strings.Contains(row[k], ",") }) {
			continue
		}
		values := make([]string, len(r.Rows))
		for i, row := range r.Rows {
			values[i] = row[k]
		}
		_, asPoint := countNumbers(values, false)
		_, asComma := countNumbers(values, true)
		if asPoint == asComma {
			continue
		}
		if !cloned {
			r.Rows, cloned = slices.Clone(r.Rows), true
			for i, row := range r.Rows {
				r.Rows[i] = slices.Clone(row)
			}
		}
		for i, v := range values {
			r.Rows[i][k] = normalizeNumber(v, asComma)
		}
	}
	return r
}

// FromRows makes a corpus of rows in memory. Each row has a field per column. Columns without a
// view in opt.Tokenizer are ignored. If opt.Tokenizer has no views of columns, the columns are
// detected as for [Read]. labels and errors are as for [FromTexts].
func FromRows(ctx context.Context, columns []string, rows [][]string, labels []string, opt Options) (*Corpus, error) {
	raw := Raw{Columns: columns, Rows: rows}
	if opt.Tokenizer.HasColumns() {
		return fromRaw(ctx, raw, labels, opt)
	}
	if len(columns) == 0 {
		return nil, newSyntaxError("no columns", "at least one column").withPosition("rows", 0)
	}
	if err := raw.checkRows(); err != nil {
		return nil, err
	}
	t := &table{firstRecord: columns, sampleRecords: rows[:min(len(rows), sampleRows)], hasHeader: true, noLabels: true}
	if t.detectColumns(&opt); t.err != nil {
		return nil, t.err.withPosition("rows", 0)
	}
	opt.Tokenizer = cmp.Or(t.tokenizer, opt.Tokenizer)
	raw = Raw{Columns: opt.Tokenizer.Columns().Names()}
	var names []string
	var weights []float64
	for i, row := range rows {
		if t.idColumn >= 0 {
			names = append(names, row[t.idColumn])
		}
		if t.weightColumn >= 0 {
			w, bad := parseWeight(row[t.weightColumn])
			if bad != nil {
				return nil, bad.withPosition(fmt.Sprintf("row %d", i), 0)
			}
			weights = append(weights, w)
		}
		if t.rowColumns == nil {
			raw.Texts = append(raw.Texts, row[t.textColumn])
		} else {
			raw.Rows = append(raw.Rows, t.appendFields(row, nil))
		}
	}
	c, err := fromRaw(ctx, raw, labels, opt)
	if err != nil {
		return nil, err
	}
	c.Weights = weights
	if c.Table, c.ViewsInferred = t.columns, t.viewsInferred; names != nil && allDistinct(names) {
		c.Names = names
	}
	return c, nil
}

// sampleRows is the number of rows in memory from which kinds of columns are inferred.
const sampleRows = 1000
