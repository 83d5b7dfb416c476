package cho

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// layers is the experiment of chapter 4. The tests run it with all sets and families.
var layers = Experiments[1]

// Each set, read or generated, gives a table with errors below chance.
func TestChoSets(t *testing.T) {
	var names []string
	for _, s := range datasets {
		names = append(names, s.name)
	}
	r := &repro.Env{DataDir: standIns(t), Seed: 1}
	report := musttest.Get(reprotest.RunExperiment(t, layers, r, "sets="+strings.Join(names, ","), "train=240",
		"test=100", "c=100", "kernels=composed", "degrees=1", "layers=2", "min-df=1"))(t)
	for _, s := range datasets {
		name := (&settings{Kernels: repro.Words{familyComposed}}).variants(&s)[0].name
		rows, classes := reprotest.TableRows(t, report, name), 2.
		switch {
		case s.isText():
			classes = 3
		case s.source != nil:
			classes = 10
		}
		chance := 1 - 1/classes // expected error; the bound is two standard deviations of 100 documents below it
		most := 100 * (chance - 2*math.Sqrt(chance*(1-chance)/100))
		if len(rows) != 2 || !(reprotest.ParseNumber(t, rows[1]["test"]) < most) {
			t.Errorf("%s: %v, expected two rows and an error below %v %%", s.name, rows, most)
		}
	}
	if sets := len(datasets); len(report.Charts) != sets || len(report.Notes) != sets {
		t.Errorf("%d charts and %d notes", len(report.Charts), len(report.Notes))
	}
}

// The test runs all families. Rows with the same kernel and C share one training run.
func TestCho(t *testing.T) {
	whole := reprotest.CheckSameReport(t, layers, standIns(t), "sets=20news-bydate,convex", "train=60", "test=40",
		"c=1,100",
		"kernels="+strings.Join(families, ","), "layers=3", "factors=2", "fractions=0.5,1", "biases=0.5", "sigmas=0.5",
		"gammas=0.5,2")
	// 2 plain; 3·3 composed, 2·2 mixed, 3 square; 3·1 products, 2·1 times degree 0, 5 averages; 4
	// degrees; a bias, a σ, and the best of each.
	const rows = 2 + 9 + 4 + 3 + 3 + 2 + 5 + 4 + 2 + 2
	for _, set := range []string{"20news-bydate", "convex"} {
		got := reprotest.TableRows(t, whole, set)
		if len(got) != rows {
			t.Fatalf("%s: %d rows, expected %d", set, len(got), rows)
		}
		for _, row := range got {
			if row["of"] != "40" || row["validation"] == "" || row["printed"] != "" ||
				(row["kernel"] == "Gaussian" || row["kernel"] == bestBias || row["kernel"] == bestSigma) !=
					(row["scale"] != "") || (row["kernel"] == "Gaussian") != (row["p"] == "") {
				t.Errorf("%s: %v", set, row)
			}
		}
	}
	// Several families share degrees 0, 1 and 2 of one layer. Validation trains 30 kernels with 2
	// values of C and the Gaussian with 4; the test trains 31, without shared kernels. The two sets
	// have 3 and 1 pairs of classes.
	if want := int64((30*2 + 4 + 31) * (3 + 1)); whole.ClassifierCount != want {
		t.Errorf("%d machines, expected %d", whole.ClassifierCount, want)
	}
	if len(whole.Charts) != 2*6 || len(whole.Notes) != 2*3 {
		t.Errorf("%d charts and %d notes", len(whole.Charts), len(whole.Notes))
	}
}

func TestChoRefuses(t *testing.T) {
	reprotest.CheckErrors(t, layers, standIns(t), map[string][]string{
		"layers must be an integer": {"layers=0"}, "factors must be an integer": {"factors=33"},
		"train must be an integer": {"train=-1"}, "embed": {"embed=words"},
		"degrees=3": {"degrees=3"}, "kernels=x": {"kernels=x"}, "too few": {"sets=rectangles", "train=3"},
		"of memory": {"sets=rectangles", "test=10", "train=100"},
	})
	reprotest.CheckErrors(t, layers, t.TempDir(), map[string][]string{"train-images": {}})
}

// Printed errors are from Tables 2.2 and 3.1. The table shows them only if the training set is
// complete.
func TestChoPrinted(t *testing.T) {
	for of, want := range map[[2]string]float64{
		{"rectangles", bestBias}: 2.48, {"convex", "Gaussian"}: 18.76, {"mnist-image", "degree 0, 1 layer"}: 23.81,
		{"rectangles-image", bestSigma}: 24.48, {"mnist-rand", "linear"}: 17.31, {"convex", "degree 2, 1 layer"}: 19.53,
	} {
		if got, ok := printedError(of[0], of[1]); !ok || got != want {
			t.Errorf("%s: %v, expected %v", of, got, want)
		}
	}
	if got, ok := printedError("mnist", "linear"); ok {
		t.Errorf("mnist, linear: %v, expected none", got)
	}
	m := &measurement{p: &settings{}, dataset: &dataset{name: "convex"}, report: &repro.Report{}}
	chosen := []kernelResult{{row: row{family: familyPlain, label: "linear"}},
		{row: row{family: familyPlain, label: "Gaussian"}},
		{row: row{family: familyComposed, curve: "degree 0", x: 1, label: "degree 0, 1 layer"}},
		{row: row{family: familyMixed, curve: "degree 0", x: 2, label: "degree 0, then 1, 2 layers"}}}
	for i, right := range []string{"1100", "1110", "0111", "1111"} {
		chosen[i].validationError, chosen[i].CorrectMask = 0.5-float64(i)/10, right
	}
	m.addTable(chosen)
	rows := reprotest.TableRows(t, m.report, "convex")
	if rows[0]["printed"] != "45.67" || rows[1]["p"] != "" || rows[2]["p"] != "1.000" || rows[3]["|ln|"] != "" ||
		rows[2]["|ln|"] != repro.FormatFixed(math.Log(25/20.05), 3) {
		t.Errorf("%v", rows)
	}
	notes := strings.Join(m.report.Notes, "\n")
	for _, want := range []string{"degree 0, then 1, 2 layers is best on the validation set and has a test error of 0.00%",
		"0.00% to 25.00%", "over 3 values"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
}
