package lafferty

import (
	"math"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
)

// Two complete rows: measured figures of e and 1/e times the printed ones, diffusion better once;
// a third lacks a figure.
func TestAgreement(t *testing.T) {
	table := newAgreement()
	rows := []compared{
		{measured: [...]float64{math.E, 2, 1}, printed: [...]float64{1, 2, 0.5}, clear: true},
		{measured: [...]float64{1 / math.E, 2, 2}, printed: [...]float64{1, 2, 0.5}, printedClear: true},
		{measured: [...]float64{1, 2, 0.501}, printed: [...]float64{1, 2, 0.5}, printedClear: true}, // in two digits
		{measured: [...]float64{nan, 2, 2}, printed: [...]float64{1, 2, 0.5}},
	}
	for i := range rows {
		rows[i].better, rows[i].digits = -1, 2
	}
	addAgreement(table, "1", "tf", rows)
	addAgreement(table, "2", "tf", rows[3:]) // nothing to say
	for i := range rows {
		rows[i].better = 1
	}
	addAgreement(table, "6", "tf", rows)
	want := [][]string{
		{"1", "tf", "3", "0.667", "0.000", "0.694", "2", "3", "1", "1", "2"}, // (ln 2 + ln 4 + ln 1.002)/3
		{"6", "tf", "3", "0.667", "0.000", "0.694", "1", "0", "1", "", ""},
	}
	if len(table.Rows) != len(want) {
		t.Fatalf("%d rows, expected %d", len(table.Rows), len(want))
	}
	for i, row := range table.Rows {
		for j, cell := range row {
			if cell.Text != want[i][j] {
				t.Errorf("row %d, %s: %s, expected %s", i, table.Columns[j].Key, cell.Text, want[i][j])
			}
		}
	}
	shifts := newShifts()
	addShift(shifts, "1", "tf", "a", rows)
	addShift(shifts, "1", "tf", "b", rows[3:]) // nothing to say
	if len(shifts.Rows) != 1 {
		t.Fatalf("%d rows of shifts, expected 1", len(shifts.Rows))
	}
	for j, want := range []string{"1", "tf", "a", "3", "0.000", "0.000", "0.694"} {
		if cell := shifts.Rows[0][j]; cell.Text != want {
			t.Errorf("%s: %s, expected %s", shifts.Columns[j].Key, cell.Text, want)
		}
	}
	if got := rows[0].cells()[0]; got != repro.Value(1, 2) {
		t.Errorf("printed figure %v", got)
	}
	for _, c := range []struct {
		better float64
		of     [len(kernels)]float64
		want   string
	}{
		{-1, [...]float64{3, 2, 1}, "DGL"}, {1, [...]float64{3, 2, 1}, "LGD"}, {1, [...]float64{1, 1.001, 2}, "DG=L"},
		{-1, [...]float64{1, 1, 1}, "D=G=L"}, {-1, [...]float64{1, nan, 1}, ""},
	} {
		if got := (&compared{better: c.better, digits: 2}).order(c.of); got != c.want {
			t.Errorf("order of %v: %q, expected %q", c.of, got, c.want)
		}
	}
}
