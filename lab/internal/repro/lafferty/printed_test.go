package lafferty

import (
	"math"
	"testing"
)

// In two complete rows, measured figures are e and 1/e times the printed figures, and diffusion is
// better once. The paper has no values for the fourth row.
func TestAgreement(t *testing.T) {
	table := newAgreementTable()
	rows := []comparison{
		{measured: [...]float64{math.E, 2, 1}, printed: [...]float64{1, 2, 0.5}, isSignificant: true},
		{measured: [...]float64{1 / math.E, 2, 2}, printed: [...]float64{1, 2, 0.5}, isPrintedSignificant: true},
		{measured: [...]float64{1, 2, 0.501}, printed: [...]float64{1, 2, 0.5}, isPrintedSignificant: true}, // in two digits
		{measured: [...]float64{1, 2, 2}, printed: [...]float64{math.NaN(), 2, 0.5}},
	}
	for i := range rows {
		rows[i].direction, rows[i].decimals = -1, 2
	}
	addAgreementRow(table, "1", "tf", rows)
	addAgreementRow(table, "2", "tf", rows[3:]) // without the paper's values
	for i := range rows {
		rows[i].direction = 1
	}
	addAgreementRow(table, "6", "tf", rows)
	want := [][]string{
		{"1", "tf", "3", "0.667", "0.000", "0.694", "2", "3", "1", "1", "2"}, // (ln 2 + ln 4 + ln 1.002)/3
		{"6", "tf", "3", "0.667", "0.000", "0.694", "1", "0", "1", "", ""},
	}
	if len(table.Rows) != len(want) {
		t.Fatalf("%d rows, expected %d", len(table.Rows), len(want))
	}
	for i, row := range table.Rows {
		for j, cell := range row {
			if cell != want[i][j] {
				t.Errorf("row %d, %s: %s, expected %s", i, table.Columns[j], cell, want[i][j])
			}
		}
	}
	for _, c := range []struct {
		better float64
		of     [len(kernels)]float64
		want   string
	}{
		{-1, [...]float64{3, 2, 1}, "DGL"}, {1, [...]float64{3, 2, 1}, "LGD"}, {1, [...]float64{1, 1.001, 2}, "DG=L"},
		{-1, [...]float64{1, 1, 1}, "D=G=L"}, {-1, [...]float64{math.NaN(), 1, 1}, ""},
	} {
		if got := (&comparison{direction: c.better, decimals: 2}).order(c.of); got != c.want {
			t.Errorf("order of %v: %q, expected %q", c.of, got, c.want)
		}
	}
}

// printedFigures returns the right values for some rows of each table.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		table, class, features string
		documents, digits      int
		diffusion              float64
		mark                   string
	}{
		{"1", "course", "tf", 40, 4, 0.0646, ""}, {"2", "project", "tfidf", 600, 4, 0.0358, ""},
		{"3", "moneyFx", "tfidf", 80, 4, 0.0647, "*"}, {"3", "crude", "tfidf", 400, 4, 0.0297, ""},
		{"4", "acq", "tf", 80, 4, 0.0856, "*"}, {"5", "corn", "tf", 0, 5, 0.00563, ""},
		{"6", "ship", "tf", 0, 4, 0.8827, "+"},
	} {
		got, digits, mark := printedFigures(c.table, c.class, c.features, c.documents)
		if got[diffusion] != c.diffusion || digits != c.digits || mark != c.mark {
			t.Errorf("%+v: %v, %d digits, mark %q", c, got, digits, mark)
		}
	}
	if got, _, _ := printedFigures("3", "earn", "tf", 40); !math.IsNaN(got[0]) {
		t.Errorf("Table 3 has %v for 40 documents, expected none", got)
	}
}
