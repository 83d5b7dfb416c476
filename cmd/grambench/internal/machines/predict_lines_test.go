package machines

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/learn"
)

// A table of Parquet holds what was written, and nulls for what isn't known.
func TestWriteParquet(t *testing.T) {
	half := 0.5
	var rows []learn.Row
	for i := range 3000 {
		row := learn.Row{Document: strings.Repeat("d", i%7), Prediction: "a", Margin: float64(i) / 3, Known: i}
		if i%2 == 0 {
			row.Text, row.Probability, row.Rank = "ü\"\n", &half, &half
		}
		rows = append(rows, row)
	}
	var b bytes.Buffer
	if err := writeRows(t.Context(), &b, "parquet", rows); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[learn.Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("%d rows are read, %d were written, or they differ", len(got), len(rows))
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{"document", "text", "truth", "prediction", "probability", "second", "margin", "nearest", "nearest_rank",
		"terms_known", "note"}
	for i, c := range f.Schema().Fields() {
		if c.Name() != columns[i] {
			t.Errorf("column %d is %s, expected %s", i, c.Name(), columns[i])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeRows(ctx, &b, "parquet", rows); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
