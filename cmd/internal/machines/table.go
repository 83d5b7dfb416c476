package machines

import (
	"strings"

	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/table"
)

// columnsOf returns the columns of a table of predictions.
func columnsOf(rows []learn.Row) []table.Column {
	text := func(name string, of func(r *learn.Row) string) table.Column {
		return table.Column{Name: name, Text: func(i int) (string, bool) {
			s := strings.ToValidUTF8(of(&rows[i]), "\uFFFD")
			return s, s != "" || name == "prediction"
		}}
	}
	number := func(name string, of func(r *learn.Row) *float64) table.Column {
		return table.Column{Name: name, Real: func(i int) (float64, bool) {
			if v := of(&rows[i]); v != nil {
				return *v, true
			}
			return 0, false
		}}
	}
	return []table.Column{
		text("document", func(r *learn.Row) string { return r.Document }),
		text("text", func(r *learn.Row) string { return r.Text }),
		text("truth", func(r *learn.Row) string { return r.Truth }),
		text("prediction", func(r *learn.Row) string { return r.Prediction }),
		number("probability", func(r *learn.Row) *float64 { return r.Probability }),
		text("second", func(r *learn.Row) string { return r.Second }),
		number("margin", func(r *learn.Row) *float64 { return &r.Margin }),
		number("nearest", func(r *learn.Row) *float64 { return r.Nearest }),
		number("nearest_rank", func(r *learn.Row) *float64 { return r.Rank }),
		{Name: "terms_known", Whole: func(i int) (int64, bool) { return int64(rows[i].Known), true }},
		text("note", func(r *learn.Row) string { return r.Note }),
	}
}
