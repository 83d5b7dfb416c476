package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/sparse"
)

// ColumnEffect is the effect of a row's column on f (see [DocumentExplanation]): f(x) - f(x without
// the terms of the column). In a table of values, a removed number is replaced by the column's mean
// over the training documents.
type ColumnEffect struct {
	Column  string  `json:"column"` // column name; names of columns in one text view are joined by commas
	Value   string  `json:"value"`
	Note    string  `json:"note,omitempty"` // remark on a missing, unseen or extrapolated value
	Effect  float64 `json:"effect"`
	Favours string  `json:"-"` // label or direction, as in TermEffect
}

// ExplainColumns returns the effects of the columns on the prediction of document i, in descending
// order of absolute effect. Row i of raw has the document's values. It fails if the model is a
// classifier with only one class, or if a prediction fails.
func ExplainColumns(
	ctx context.Context, m Model, docs *sparse.CSR, raw corpus.Raw, i int, o Options,
) ([]ColumnEffect, error) {
	return explainColumns(ctx, m, docs, raw, i, -1, o)
}

// explainColumns implements [ExplainColumns]. label is as in documentExplainer.
func explainColumns(
	ctx context.Context, m Model, docs *sparse.CSR, raw corpus.Raw, i, label int, o Options,
) ([]ColumnEffect, error) {
	a := m.About()
	terms, counts := docs.Row(i)
	columns, err := newTermColumns(&a)
	if err != nil {
		return nil, err
	}
	out := columns.columnEffects(terms, raw, i)
	x := &documentExplainer{m: m, n: len(out), o: o, label: label, document: docs.SelectRows([]int{i}),
		partCount: len(out)}
	x.withoutParts = func(first, end int) (*sparse.CSR, error) {
		rest := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
		for j := first; j < end; j++ {
			for k, t := range terms {
				if columns.columnIndex(t) != j {
					rest.Terms, rest.Values = append(rest.Terms, t), append(rest.Values, counts[k])
				}
			}
			rest.Offsets = append(rest.Offsets, int64(len(rest.Terms)))
		}
		return rest, nil
	}
	why, err := x.explain(ctx, func(j int) (string, float64) { return out[j].Column, 0 })
	if err != nil {
		return nil, err
	}
	for _, e := range why.Terms {
		c := &out[columns.nameIndex[e.Term]]
		c.Effect, c.Favours = e.Effect, e.Favours
	}
	slices.SortStableFunc(out, func(a, b ColumnEffect) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	return out, nil
}

// termColumns assigns terms to the columns of a table. The columns of one text view are treated as
// one column, whose name is the column names joined by commas.
type termColumns struct {
	vocabulary    []string
	views         []token.View
	names         []string
	columns       [][]string     // columns[k] lists the columns of names[k]
	nameIndex     map[string]int // index of each name
	columnPlusOne []int32        // column index of each term, plus 1; 0 = not yet computed
}

func newTermColumns(a *About) (*termColumns, error) {
	out := &termColumns{vocabulary: a.Vocabulary, nameIndex: map[string]int{},
		columnPlusOne: make([]int32, len(a.Vocabulary))}
	var err error
	if out.views, err = a.Tokenizer.SplitViews(); err != nil {
		return nil, err
	}
	for _, v := range out.views {
		for _, names := range v.ColumnGroups() {
			name := strings.Join(names, ",")
			if _, known := out.nameIndex[name]; !known {
				out.nameIndex[name] = len(out.names)
				out.names, out.columns = append(out.names, name), append(out.columns, names)
			}
		}
	}
	return out, nil
}

func (t *termColumns) columnIndex(term uint32) int {
	if t.columnPlusOne[term] == 0 {
		text := t.vocabulary[term]
		t.columnPlusOne[term] = 1 + int32(t.nameIndex[strings.Join(t.views[text[0]-1].TermColumnGroup(text[1:]), ",")])
	}
	return int(t.columnPlusOne[term]) - 1
}

func (t *termColumns) columnEffects(terms []uint32, raw corpus.Raw, i int) []ColumnEffect {
	var out []ColumnEffect
	for k, name := range t.names {
		out = append(out, newColumnEffect(name, t.columns[k], raw, i))
	}
	has := make([]bool, len(out))
	for _, term := range terms {
		has[t.columnIndex(term)] = true
	}
	for _, v := range t.views {
		for _, names := range v.ColumnGroups() {
			c := &out[t.nameIndex[strings.Join(names, ",")]]
			switch x, number := token.ParseNumber(c.Value); {
			case v.Analyzer == token.AnalyzerVector && math.IsNaN(x):
				c.Note = "missing"
			case v.Analyzer == token.AnalyzerVector:
				c.Value = ""
			case v.HasNumbers() && math.IsNaN(x):
				c.Note = "missing"
			case v.HasNumbers() && number:
				if lo, hi := v.NumberRange(names[0]); x < lo || x > hi {
					c.Note = fmt.Sprintf("outside of training, %.6g to %.6g", lo, hi)
				}
			case v.Analyzer == token.AnalyzerCategories && c.Value == "":
				c.Note = "missing"
			case v.Analyzer == token.AnalyzerCategories && !has[t.nameIndex[c.Column]]:
				c.Note = "not in training"
			}
		}
	}
	return out
}

// Remarks lists, for each row of raw, the values that didn't occur in training, such as "age
// (missing)" and "price = 9 (outside of training, 1 to 5)". docs holds the terms of the same rows.
func (a *About) Remarks(docs *sparse.CSR, raw corpus.Raw) ([][]string, error) {
	columns, err := newTermColumns(a)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(raw.Rows))
	for i := range out {
		terms, _ := docs.Row(i)
		for _, c := range columns.columnEffects(terms, raw, i) {
			if c.Note != "" {
				name := strings.TrimSuffix(c.Column+" = "+c.Value, " = ")
				out[i] = append(out[i], fmt.Sprintf("%s (%s)", name, c.Note))
			}
		}
	}
	return out, nil
}

func newColumnEffect(name string, names []string, raw corpus.Raw, i int) ColumnEffect {
	var values []string
	for _, n := range names {
		if at := slices.Index(raw.Columns, n); at >= 0 {
			values = append(values, raw.Rows[i][at])
		}
	}
	return ColumnEffect{Column: name, Value: strings.TrimSpace(strings.Join(values, "; "))}
}
