package cho

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// The effect of feature selection in the notes agrees with the table.
func TestChoAblation(t *testing.T) {
	report := reprotest.CheckSameReport(t, networksExperiment, standIns(t), "sets=mnist", "train=200", "test=100",
		"components=8",
		"networks=1-1,+1-1", "runs=1")
	rows := reprotest.TableRows(t, report, "mnist")
	if len(rows) != 4 || rows[0]["selection"] != "yes" || rows[3]["selection"] != "no" || rows[3]["network"] != "1-1" {
		t.Fatalf("%v", rows)
	}
	sum := 0.0
	for _, final := range []string{"lmnn", "knn", "svm"} {
		for row := range 2 {
			sum += (reprotest.ParseNumber(t, rows[row][final]) - reprotest.ParseNumber(t, rows[row+2][final])) / 6
		}
	}
	// chance is 90%, with a standard deviation of 3 points for 100 documents
	if e := reprotest.ParseNumber(t, rows[2]["lmnn"]); !(e < 75) {
		t.Errorf("error %v %%", e)
	}
	found := false
	for _, note := range report.Notes {
		var got float64
		if _, rest, ok := strings.Cut(note, "selection against all features: "); ok {
			found = true
			if _, err := fmt.Sscan(rest, &got); err != nil || !(math.Abs(got-sum) <= 0.005+1e-9) {
				t.Errorf("%q, expected %v points", note, sum)
			}
		}
	}
	if !found {
		t.Errorf("no effect of selection in %q", report.Notes)
	}
	reprotest.CheckErrors(t, networksExperiment, standIns(t), map[string][]string{
		"runs must be an integer": {"runs=0"}, "steps must be an integer": {"steps=-1"}, "networks": {"networks=1-x"},
		"sets of images": {"sets=20news-bydate"},
	})
}

// Each prefix of a network has exactly one row, with mean and deviation over the runs.
func TestChoNetworks(t *testing.T) {
	p := &networkSettings{Networks: repro.Words{"1-0", "1-1"}, RunCount: 2}
	runs := func(wrong ...float64) (out [][]networkResult) {
		for _, n := range wrong {
			var run []networkResult
			for layers := range 3 {
				run = append(run, networkResult{width: 10, validationError: 50, testErrors: []float64{n - float64(layers), n, n},
					steps: 7})
			}
			out = append(out, run)
		}
		return out
	}
	report, chains := &repro.Report{}, p.parseNetworks()
	found := [][][]networkResult{runs(10, 12), runs(20, 22)}
	p.addTable("mnist-rand", chains, found, report)
	p.addEffects("mnist-rand", chains, found, report)
	var got []string
	for _, row := range reprotest.TableRows(t, report, "mnist-rand") {
		got = append(got, row["network"]+" "+row["lmnn"])
		if row["steps of lmnn"] != "7 ±0" {
			t.Errorf("%s steps, expected 7", row["steps of lmnn"])
		}
	}
	const want = "none 11.00 ±1.41, 1 10.00 ±1.41, 1-0 9.00 ±1.41, 1-1 19.00 ±1.41"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, expected %s", text, want)
	}
	notes := strings.Join(report.Notes, "\n")
	for _, want := range []string{"9.00% to 19.00%", "lmnn against knn: -1.00 points ± 0.00, over 6 pairs",
		"2 layers against 1: -0.33 points ± 0.00, over 6 pairs"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
}
