package tables

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// Accuracy for classes and R² for targets are nearly perfect. A table with a category has no
// vectors.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	folder, classes, targets := t.TempDir(), "x,y,kind,class\n", "x,y,target\n"
	for i := range 120 {
		x, y := r.NormFloat64(), 1000*r.NormFloat64()
		classes += fmt.Sprintf("%v,%v,%c,%t\n", x, y, 'a'+i%3, x+y/1000 > 0)
		targets += fmt.Sprintf("%v,%v,%v\n", x, y, math.Sin(x)+y/1000)
	}
	for name, content := range map[string]string{"classes.csv": classes, "targets.csv": targets} {
		musttest.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666))
	}
	rows := reprotest.TableRows(t, reprotest.CheckSameReport(t, Experiment, folder, "splits=2"), "splits")
	if len(rows) != 2 || rows[0]["table"] != "classes" || rows[0]["rows"] != "120" || rows[0]["vectors"] != "" ||
		rows[0]["measure"] != "accuracy in %" || rows[1]["measure"] != "R²" {
		t.Fatalf("%v", rows)
	}
	for _, title := range []string{"CSV", "vectors"} {
		if v := reprotest.ParseNumber(t, rows[1][title]); !(v > 0.8 && v <= 1) {
			t.Errorf("targets: R² %v from %s", v, title)
		}
	}
	if v := reprotest.ParseNumber(t, rows[0]["CSV"]); !(v > 85 && v <= 100) {
		t.Errorf("classes: an accuracy of %v%%", v)
	}
	reprotest.CheckErrors(t, Experiment, folder, map[string][]string{
		"no CSV files that match files=none.csv": {"files=none.csv"},
	})
	reprotest.CheckErrors(t, Experiment, t.TempDir(), map[string][]string{"no CSV files": nil})
}
