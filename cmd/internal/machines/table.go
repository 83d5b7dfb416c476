package machines

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/parquet"
)

// tables are the formats of a table of predictions, each the ending of a file's name too.
var tables = slices.Concat(learn.TableFormats, []string{"parquet"})

// writeTable writes predictions in one of these formats. As Parquet they have all columns, whether filled or not.
func writeTable(ctx context.Context, w io.Writer, format string, rows []learn.Row) error {
	if format != "parquet" {
		return learn.WriteRows(ctx, w, format, rows)
	}
	text := func(name string, of func(r *learn.Row) string) parquet.Column {
		return parquet.Column{Name: name, Text: func(i int) (string, bool) {
			s := strings.ToValidUTF8(of(&rows[i]), "\uFFFD") // as JSON has it
			return s, s != ""
		}}
	}
	number := func(name string, of func(r *learn.Row) *float64) parquet.Column {
		return parquet.Column{Name: name, Real: func(i int) (float64, bool) {
			if v := of(&rows[i]); v != nil {
				return *v, true
			}
			return 0, false
		}}
	}
	return parquet.Write(ctx, w, len(rows), []parquet.Column{
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
	})
}
