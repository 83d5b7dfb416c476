package experiments

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// small is a run of an experiment in a few seconds: on generated corpora of its form, and on the real
// ones.
var small = map[string]struct {
	generated func(t testing.TB) string // the folder of corpora
	flags     string                    // for generated ones
	real      []repro.Source
	realFlags string
}{
	"lafferty-lebanon": {
		reprotest.Topics, "-splits 2 -sizes 20 -scales 2 -c 10 -folds 2",
		[]repro.Source{repro.WebKB, repro.Reuters},
		"-tables 1,2,3,4 -features tf -splits 2 -sizes 80 -scales 2 -c 10 -folds 0",
	},
	"zhang-chen-lee": {generated: reprotest.Groups, flags: "-c 1"}, // of the real ones no part is small
	"cho": {
		reprotest.Groups,
		"-sets 20news-bydate,convex -train 60 -test 40 -min-df 1 -c 10 -layers 2 -factors 2 -degrees 1,2 -fractions 1",
		[]repro.Source{repro.MNIST}, "-sets mnist -train 500 -test 200 -c 10 -kernels composed -degrees 1 -layers 2",
	},
	"lebanon-lafferty": {
		reprotest.Topics, "-splits 2 -sizes 20 -folds 2",
		[]repro.Source{repro.WebKB, repro.Reuters}, "-splits 2 -sizes 80 -folds 2",
	},
}

// Every experiment runs, from the files to a table: the command itself, on little data and with few
// settings.
func TestSmallRuns(t *testing.T) {
	for _, e := range Experiments {
		s, ok := small[e.Name]
		if !ok {
			t.Errorf("%s has no small run", e.Name)
			continue
		}
		t.Run(e.Name+"/generated", func(t *testing.T) { runSmall(t, e.Name, s.generated(t), s.flags) })
		if s.real == nil {
			continue
		}
		t.Run(e.Name+"/real", func(t *testing.T) {
			if testing.Short() {
				t.Skip("some seconds")
			}
			data := filepath.Join("..", "..", "..", "..", "shared", "data")
			for _, source := range s.real {
				for _, file := range source.Files {
					if _, err := os.Stat(filepath.Join(data, source.Name, file)); err != nil {
						t.Skip("without the real corpora: ", err)
					}
				}
			}
			runSmall(t, e.Name, data, s.realFlags)
		})
	}
}

// runSmall checks that a run has a table with rows, and that each figure with a mean is one.
func runSmall(t *testing.T, name, data, flags string) {
	args := append([]string{"repro", name, "-data", data, "-json"}, strings.Fields(flags)...)
	var out, diagnostics bytes.Buffer
	program := cli.Program{Name: "gramlab", Commands: []*cli.Command{Command}}
	if status := program.Run(args, &out, &diagnostics); status != cli.Done {
		t.Fatalf("%q: status %d: %s", args, status, &diagnostics)
	}
	var report struct {
		Rows []map[string]any `json:"rows"`
	}
	musttest.Do(t, json.Unmarshal(out.Bytes(), &report))
	if len(report.Rows) == 0 {
		t.Fatalf("no rows in %s", &out)
	}
	for i, row := range report.Rows {
		for key, value := range row {
			if v, ok := value.(map[string]any); ok && v["mean"] == nil {
				t.Errorf("row %d, %s: no mean: %v", i, key, v)
			}
		}
	}
}
