package machines

import (
	"context"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/learn"
)

// tables are the formats of a table of predictions, each the ending of a file's name too.
var tables = append(learn.TableFormats[:len(learn.TableFormats):len(learn.TableFormats)], "parquet")

// writeTable writes predictions in one of these formats.
func writeTable(ctx context.Context, w io.Writer, format string, rows []learn.Row) error {
	if format == "parquet" {
		return writeParquet(ctx, w, rows)
	}
	return learn.WriteRows(ctx, w, format, rows)
}

// parquetRow is a [learn.Row] as columns of Parquet: what a document lacks is null.
type parquetRow struct {
	Document    string   `parquet:"document,snappy"`
	Text        *string  `parquet:"text,optional,snappy"`
	Truth       *string  `parquet:"truth,optional,dict,snappy"`
	Prediction  string   `parquet:"prediction,dict,snappy"`
	Probability *float64 `parquet:"probability,optional,snappy"`
	Second      *string  `parquet:"second,optional,dict,snappy"`
	Margin      float64  `parquet:"margin,snappy"`
	Nearest     *float64 `parquet:"nearest,optional,snappy"`
	Rank        *float64 `parquet:"nearest_rank,optional,snappy"`
	Known       int64    `parquet:"terms_known,snappy"`
	Note        *string  `parquet:"note,optional,dict,snappy"`
}

// writeParquet writes predictions as Parquet, all columns whether filled or not.
func writeParquet(ctx context.Context, w io.Writer, rows []learn.Row) error {
	text := func(s *string) *string {
		if *s == "" {
			return nil
		}
		return s
	}
	out := parquet.NewGenericWriter[parquetRow](w)
	const atOnce = 1024
	own := make([]parquetRow, 0, atOnce)
	for len(rows) > 0 && ctx.Err() == nil {
		own = own[:0]
		for i := range rows[:min(atOnce, len(rows))] {
			r := &rows[i]
			own = append(own, parquetRow{
				Document: r.Document, Text: text(&r.Text), Truth: text(&r.Truth), Prediction: r.Prediction,
				Probability: r.Probability, Second: text(&r.Second), Margin: r.Margin, Nearest: r.Nearest, Rank: r.Rank,
				Known: int64(r.Known), Note: text(&r.Note),
			})
		}
		if _, err := out.Write(own); err != nil {
			return err
		}
		rows = rows[len(own):]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return out.Close()
}
