package lafferty

import (
	"math"
	"strconv"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// The tables in lab/results contain all printed rows and figures. Their gaps agree with the
// agreement table, and mean gaps of logarithms are below 0.35.
func TestResults(t *testing.T) {
	kernelsOf := []string{"lin", "Gau", "dif"}
	printedRows, gaps, rows := 0, map[string][3]float64{}, map[string]float64{}
	for _, table := range tableNames {
		for _, row := range reprotest.ReadResult(t, Experiment.Name, table) {
			class, features, documents := row["class"], row["features"], 0
			if table >= "5" {
				class, features = row["topic"], "tf"
			} else {
				documents, _ = strconv.Atoi(row["L"])
			}
			figures, digits, _ := printedFigures(table, class, features, documents)
			if math.IsNaN(figures[0]) {
				t.Fatalf("table %s, %s, %s, %d documents: not printed", table, class, features, documents)
			}
			printedRows++
			gap := gaps[table+features]
			for k, kernel := range kernelsOf {
				if row["printed "+kernel] != repro.FormatFixed(figures[k], digits) {
					t.Errorf("table %s, %s %s %d: %s is printed for %s, expected %v", table, class, features, documents,
						row["printed "+kernel], kernel, figures[k])
				}
				own := math.Abs(math.Log(reprotest.ParseNumber(t, row[kernels[k].name]) / figures[k]))
				if ln := reprotest.ParseNumber(t, row["|ln| "+kernel]); !(math.Abs(own-ln) <= 0.05) { // four digits of 0.001
					t.Errorf("table %s, %s %s %d: |ln| is %v, expected %v", table, class, features, documents, ln, own)
				}
				gap[k] += reprotest.ParseNumber(t, row["|ln| "+kernel])
			}
			gaps[table+features], rows[table+features] = gap, rows[table+features]+1
		}
	}
	if printedRows != 194 {
		t.Errorf("%d rows, expected 194 as printed", printedRows)
	}
	for _, row := range reprotest.ReadResult(t, Experiment.Name, "agreement") {
		key := row["table"] + row["features"]
		if rows[key] == 0 {
			continue // rows for both features or both tables
		}
		for k, kernel := range kernels {
			got, want := reprotest.ParseNumber(t, row["|ln| "+kernel.name]), gaps[key][k]/rows[key]
			if !(math.Abs(got-want) <= 0.001) || !(got < 0.35) {
				t.Errorf("table %s, %s: mean |ln| of %s is %v, expected %v", row["table"], row["features"], kernel.name, got,
					want)
			}
		}
	}
}
