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

// ColumnEffect is the effect of a column of a row: f(x) - f(x without the terms of the column).
type ColumnEffect struct {
	Column string  `json:"column"` // name of the column; the columns of one text view are joined by commas
	Value  string  `json:"value"`
	Note   string  `json:"note,omitempty"` // remark on a missing, unseen or extrapolated value
	Effect float64 `json:"effect"`
	For    string  `json:"-"` // as in TermEffect
}

// ExplainColumns explains the prediction of document i, which is row i of raw, by its columns, in
// descending order of absolute effect. It returns the errors of [ExplainDocument].
func ExplainColumns(
	ctx context.Context, m Model, docs *sparse.CSR, raw corpus.Raw, i int, o Options,
) (_ []ColumnEffect, err error) {
	p := o.Ready
	if p == nil {
		if p, err = Ready(ctx, m, o); err != nil {
			return nil, err
		}
		defer p.Close()
	}
	a := m.About()
	terms, counts := docs.Row(i)
	var out []ColumnEffect
	of := make([]int, len(terms)) // index in out of the column of each term
	views, err := a.Tokenizer.Split()
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for _, v := range views {
		for _, names := range v.Parts() {
			name := strings.Join(names, ",")
			if _, known := place[name]; !known {
				place[name] = len(out)
				out = append(out, columnOf(name, names, raw, i))
			}
		}
	}
	has := make([]bool, len(out))
	for k, t := range terms {
		term := a.Vocabulary[t]
		of[k] = place[strings.Join(views[term[0]-1].TermPart(term[1:]), ",")]
		has[of[k]] = true
	}
	for _, v := range views {
		for _, names := range v.Parts() {
			c := &out[place[strings.Join(names, ",")]]
			switch x, number := token.ParseNumber(c.Value); {
			case v.Analyzer == token.Numbers && math.IsNaN(x):
				c.Note = "missing"
			case v.Analyzer == token.Numbers && number:
				if lo, hi := v.Range(names[0]); x < lo || x > hi {
					c.Note = fmt.Sprintf("outside of training, %.6g to %.6g", lo, hi)
				}
			case v.Analyzer == token.Categories && c.Value == "":
				c.Note = "missing"
			case v.Analyzer == token.Categories && !has[place[c.Column]]:
				c.Note = "not in training"
			}
		}
	}
	x := &explaining{m: m, p: p, n: len(out), o: o, label: -1, whole: docs.SelectRows([]int{i}), parts: len(out)}
	x.without = func(first, end int) (*sparse.CSR, error) {
		rest := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
		for j := first; j < end; j++ {
			for k, t := range terms {
				if of[k] != j {
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
		c := &out[place[e.Term]]
		c.Effect, c.For = e.Effect, e.For
	}
	slices.SortStableFunc(out, func(a, b ColumnEffect) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	return out, nil
}

// columnOf returns a part of a view with its value in row i.
func columnOf(name string, names []string, raw corpus.Raw, i int) ColumnEffect {
	var values []string
	for _, n := range names {
		if at := slices.Index(raw.Columns, n); at >= 0 {
			values = append(values, raw.Rows[i][at])
		}
	}
	return ColumnEffect{Column: name, Value: strings.TrimSpace(strings.Join(values, "; "))}
}
