package learners

import (
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/table"
)

func predictionColumns() []table.Column[learn.PredictionRow] {
	number := func(name string, of func(r *learn.PredictionRow) *float64) table.Column[learn.PredictionRow] {
		return table.Column[learn.PredictionRow]{Name: name, Float: func(r *learn.PredictionRow) (float64, bool) {
			if v := of(r); v != nil {
				return *v, true
			}
			return 0, false
		}}
	}
	return []table.Column[learn.PredictionRow]{
		table.TextColumn("document", func(r *learn.PredictionRow) string { return r.Document }),
		table.TextColumn("text", func(r *learn.PredictionRow) string { return r.Text }),
		table.TextColumn("truth", func(r *learn.PredictionRow) string { return r.Truth }),
		{Name: "prediction", Text: func(r *learn.PredictionRow) (string, bool) { return r.Prediction, true }},
		number("probability", func(r *learn.PredictionRow) *float64 { return r.Probability }),
		table.TextColumn("second", func(r *learn.PredictionRow) string { return r.SecondClass }),
		table.FloatColumn("margin", func(r *learn.PredictionRow) float64 { return r.Margin }),
		number("nearest", func(r *learn.PredictionRow) *float64 { return r.Nearest }),
		number("nearest_rank", func(r *learn.PredictionRow) *float64 { return r.Rank }),
		table.IntColumn("terms_known", func(r *learn.PredictionRow) int { return r.KnownTermCount }),
		table.TextColumn("note", func(r *learn.PredictionRow) string { return r.Note }),
	}
}
