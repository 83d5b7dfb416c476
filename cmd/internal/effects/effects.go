// Package effects builds tables that explain a prediction by terms, columns and support vectors.
package effects

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
)

// Slopes smaller than roundedSlope times the largest slope are printed as 0.
const roundedSlope = 1e-9

// TermTable returns a table of terms, in the given order, with a slope column if slopes are known.
func TermTable(terms []learn.TermEffect) *report.Table {
	titles := []string{"term", ">count", ">effect", "favours", ">slope"}
	if !slices.ContainsFunc(terms, func(e learn.TermEffect) bool { return e.Slope != nil }) {
		titles = titles[:4]
	}
	largest := 0.0
	for _, e := range terms {
		if e.Slope != nil {
			largest = max(largest, math.Abs(*e.Slope))
		}
	}
	t := report.NewTable(titles...)
	for _, e := range terms {
		slope := ""
		if e.Slope != nil {
			if slope = fmt.Sprintf("%+.4g", *e.Slope); math.Abs(*e.Slope) <= roundedSlope*largest {
				slope = "0"
			}
		}
		cells := []string{e.Term, fmt.Sprintf("%g", e.Count), fmt.Sprintf("%+.4g", e.Effect), e.Favours, slope}
		t.Add(cells[:len(titles)]...)
	}
	return t
}

// ColumnTable returns a table of the effects of a row's columns on the prediction.
func ColumnTable(columns []learn.ColumnEffect) *report.Table {
	t := report.NewTable("column", ">effect", "favours")
	for _, c := range columns {
		t.Add(FormatColumn(c, 60), fmt.Sprintf("%+.4g", c.Effect+0), c.Favours) // + 0 turns -0 into 0
	}
	return t
}

// FormatColumn formats a column's name, its value with at most limit characters (see
// [FormatValue]), and its note, as in "price = 3 (missing)".
func FormatColumn(c learn.ColumnEffect, limit int) string {
	name := strings.TrimSuffix(c.Column+" = "+FormatValue(c.Value, limit), " = ")
	if c.Note != "" {
		name += " (" + c.Note + ")"
	}
	return name
}

// FormatValue formats a field of a table. A number with a decimal point is rounded to 6 significant
// digits. Any other text is truncated to limit characters.
func FormatValue(value string, limit int) string {
	if x, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, ".") {
		return fmt.Sprintf("%.6g", x)
	}
	return report.Excerpt(value, limit)
}

// SupportTable returns a table of the support vectors' contributions to a prediction. If texts
// isn't nil, the table also shows the beginning of each support vector's text.
func SupportTable(x *learn.DocumentExplanation, texts []string) *report.Table {
	classes := slices.ContainsFunc(x.SupportVectors, func(s learn.SupportVectorEffect) bool { return s.Class != "" })
	titles := []string{">document", "class", ">kernel", ">share", "favours", "text"}
	if texts == nil {
		titles = titles[:5]
	}
	part := func(row []string) []string {
		if !classes {
			return slices.Delete(slices.Clone(row), 1, 2)
		}
		return row
	}
	t := report.NewTable(part(titles)...)
	for _, s := range x.SupportVectors {
		text := ""
		if i := s.Document - 1; i >= 0 && i < int64(len(texts)) {
			text = report.Excerpt(texts[i], 120)
		}
		cells := []string{fmt.Sprint(s.Document), s.Class, fmt.Sprintf("%.4g", s.KernelValue), fmt.Sprintf("%+.4g", s.Effect),
			s.Favours, text}
		t.Add(part(cells[:len(titles)])...)
	}
	return t
}
