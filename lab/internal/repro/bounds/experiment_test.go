package bounds

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// Each corpus gives a table with one row per kernel. Measured averages are at most their bounds.
func TestExperiment(t *testing.T) {
	data := reprotest.WriteTopicCorpora(t)
	for set, documents := range map[string]string{"webkb": "52 documents", "reuters-modapte": "38 documents"} {
		r := &repro.Env{DataDir: data}
		report := musttest.Get(reprotest.RunExperiment(t, Experiment, r, "set="+set, "kernels=linear;diffusion:t=2",
			"r=0.01,0.1"))(t)
		if report.Settings[0].Value != documents {
			t.Errorf("%s: %s, expected %s", set, report.Settings[0].Value, documents)
		}
		if rows := reprotest.TableRows(t, report, "2"); len(rows) != 2 || rows[1]["kernel"] != "diffusion:t=2" {
			t.Errorf("%s: %v", set, rows)
		}
		for _, row := range reprotest.TableRows(t, report, "5") {
			if !(reprotest.ParseNumber(t, row["r=0.01"]) <= reprotest.ParseNumber(t, row["r=0.01: at most"])) {
				t.Errorf("%s: %v", set, row)
			}
		}
	}
	reprotest.CheckErrors(t, Experiment, data, map[string][]string{
		"set=20news": {"set=20news"}, "every must be an integer": {"every=0"}, "of memory": {},
	})
}
