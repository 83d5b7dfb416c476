package learners

import (
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/table"
)

func predictionColumns() []table.Column[learn.Row] {
	number := func(name string, of func(r *learn.Row) *float64) table.Column[learn.Row] {
		return table.Column[learn.Row]{Name: name, Real: func(r *learn.Row) (float64, bool) {
			if v := of(r); v != nil {
				return *v, true
			}
			return 0, false
		}}
	}
	return []table.Column[learn.Row]{
		table.Text("document", func(r *learn.Row) string { return r.Document }),
		table.Text("text", func(r *learn.Row) string { return r.Text }),
		table.Text("truth", func(r *learn.Row) string { return r.Truth }),
		{Name: "prediction", Text: func(r *learn.Row) (string, bool) { return r.Prediction, true }},
		number("probability", func(r *learn.Row) *float64 { return r.Probability }),
		table.Text("second", func(r *learn.Row) string { return r.Second }),
		table.Real("margin", func(r *learn.Row) float64 { return r.Margin }),
		number("nearest", func(r *learn.Row) *float64 { return r.Nearest }),
		number("nearest_rank", func(r *learn.Row) *float64 { return r.Rank }),
		table.Whole("terms_known", func(r *learn.Row) int { return r.Known }),
		table.Text("note", func(r *learn.Row) string { return r.Note }),
	}
}
