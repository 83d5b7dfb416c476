package lebanon

import (
	"testing"

	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// This runs the experiment from text to tables and charts, with errors below chance level.
func TestLebanonLafferty(t *testing.T) {
	report := reprotest.CheckSameReport(t, Experiment, reprotest.WriteTopicCorpora(t), "sets=webkb", "sizes=12,24",
		"splits=3", "c=1,10",
		"folds=2")
	rows := reprotest.TableRows(t, report, "webkb")
	if len(rows) != 8 || len(report.Charts) != 4 || len(report.Notes) != 4 {
		t.Fatalf("%d rows, %d charts and %d notes, expected 4 classes with 2 sizes", len(rows), len(report.Charts),
			len(report.Notes))
	}
	if want := int64(4 * 5 * 3 * 2 * (2*2 + 1)); report.ClassifierCount != want {
		t.Errorf("%d machines, expected %d", report.ClassifierCount, want)
	}
	for _, row := range rows {
		for _, m := range methods {
			if mean := reprotest.ParseNumber(t, row[m.name]); !(mean < 0.4) {
				t.Errorf("%s, %s: error %v, no better than chance", row["class"], m.name, mean)
			}
			if lowest := reprotest.ParseNumber(t, row[row["lowest"]]); !(reprotest.ParseNumber(t, row[m.name]) >= lowest) {
				t.Errorf("%s: %s is below %s", row["class"], m.name, row["lowest"])
			}
		}
	}
	reprotest.CheckErrors(t, Experiment, t.TempDir(), map[string][]string{
		"folds must be an integer": {"folds=1"}, "sizes=4": {"sizes=4"}, "all.tsv.gz": {},
	})
	reprotest.CheckErrors(t, Experiment, reprotest.WriteTopicCorpora(t), map[string][]string{"too few": {"sizes=200"}})
}
