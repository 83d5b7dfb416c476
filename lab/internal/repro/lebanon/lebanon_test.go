package lebanon

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// From text to tables and charts, whose errors are better than chance.
func TestLebanonLafferty(t *testing.T) {
	report := reprotest.Same(t, Experiment, reprotest.Topics(t), "sets=webkb", "sizes=12,24", "splits=3", "c=1,10",
		"folds=2")
	rows := reprotest.Rows(t, report, "webkb")
	if len(rows) != 8 || len(report.Charts) != 4 || len(report.Notes) != 4 {
		t.Fatalf("%d rows, %d charts and %d notes, expected 4 classes with 2 sizes", len(rows), len(report.Charts),
			len(report.Notes))
	}
	if want := int64(4 * 5 * 3 * 2 * (2*2 + 1)); report.Trainings != want {
		t.Errorf("%d machines, expected %d", report.Trainings, want)
	}
	for _, row := range rows {
		for _, m := range methods {
			if mean := reprotest.Number(t, row[m.name]); !(mean < 0.4) {
				t.Errorf("%s, %s: error %v, no better than chance", row["class"], m.name, mean)
			}
			if lowest := reprotest.Number(t, row[row["lowest"]]); !(reprotest.Number(t, row[m.name]) >= lowest) {
				t.Errorf("%s: %s is below %s", row["class"], m.name, row["lowest"])
			}
		}
	}
	reprotest.Refuses(t, Experiment, t.TempDir(), map[string][]string{
		"folds=1": {"folds=1"}, "sizes=4": {"sizes=4"}, "all.tsv.gz": {},
	})
	reprotest.Refuses(t, Experiment, reprotest.Topics(t), map[string][]string{"too few": {"sizes=200"}})
}

// A split is a permutation of the documents by class, and depends on seed, number and name.
func TestSplit(t *testing.T) {
	k := &task{name: "k", positive: make([]bool, 40)}
	for i := range 15 {
		k.positive[2*i] = true
	}
	positive, negative := k.split(1, 0)
	for _, doc := range positive {
		if !k.positive[doc] {
			t.Errorf("document %d isn't positive", doc)
		}
	}
	all := slices.Sorted(slices.Values(slices.Concat(positive, negative)))
	if len(positive) != 15 || len(slices.Compact(all)) != 40 {
		t.Errorf("%d positive documents and %d others", len(positive), len(negative))
	}
	again, _ := k.split(1, 0)
	other, _ := k.split(1, 1)
	seed, _ := k.split(2, 0)
	if !slices.Equal(again, positive) || slices.Equal(other, positive) || slices.Equal(seed, positive) {
		t.Error("splits of the same seed and number are to be equal, others different")
	}
}
