package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/musttest"
)

// A Parquet file has all columns in their order with their types and nulls, in several row groups.
func TestParquet(t *testing.T) {
	type row struct {
		text  string
		real  float64
		whole int
	}
	rows := make([]row, 2*rowsPerGroup+5)
	for i := range rows {
		rows[i] = row{fmt.Sprint("meow\n\x00\"", i%7), []float64{0.5, math.Inf(1), math.MaxFloat64}[i%3], math.MinInt64 + i}
		if i%5 == 0 {
			rows[i].text = "" // null
		}
	}
	var b bytes.Buffer
	musttest.NoError(t, WriteAll(t.Context(), &b, "parquet", rows,
		TextColumn("z, \"text\"", func(r *row) string { return r.text }),
		FloatColumn("b", func(r *row) float64 { return r.real }), IntColumn("a", func(r *row) int { return r.whole })))
	f := musttest.Get(parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name()+" "+c.Type().String())
	}
	if want := []string{`z, "text" STRING`, "b DOUBLE", "a INT(64,true)"}; !slices.Equal(names, want) {
		t.Fatalf("columns %q, expected %q", names, want)
	}
	at, buffer := 0, make([]parquet.Row, 100)
	for _, group := range f.RowGroups() {
		for r := group.Rows(); ; {
			n, err := r.ReadRows(buffer)
			for _, got := range buffer[:n] {
				if want := rows[at]; got[0].IsNull() != (want.text == "") || !got[0].IsNull() && got[0].String() != want.text ||
					got[1].Double() != want.real || got[2].Int64() != int64(want.whole) {
					t.Fatalf("row %d is %v, expected %v", at, got, want)
				}
				at++
			}
			if err == io.EOF {
				break
			}
			musttest.NoError(t, err)
		}
	}
	if at != len(rows) || len(f.RowGroups()) != 3 {
		t.Errorf("%d rows in %d groups, expected %d", at, len(f.RowGroups()), len(rows))
	}
}
