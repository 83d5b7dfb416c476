package repro

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

// Printed tables omit empty columns, but saved tables don't. A chart contains each curve with its
// error bars.
func TestReport(t *testing.T) {
	r := &Report{Experiment: "e", Paper: "Paper"}
	table := r.AddTable("1", "Table 1", "class", ">error", ">printed", ">p")
	table.AddRow("a", Summarise([]float64{0.1, 0.3}).Text(4), FormatFixed(math.NaN(), 2), FormatPValue(1e-5))
	table.AddRow("b", Summary{0.5, math.NaN(), 1}.Text(2), "", FormatPValue(0.25))
	r.AddChart("chart", "x", "y",
		Curve{Name: "c", Points: []chart.Point{{X: 40, Y: 0.3}, {X: 80, Y: 0.2}}, SD: []float64{0.1, 0}},
		Curve{Name: "d", Points: []chart.Point{{X: 40, Y: 0.1}}, DrawCrosses: true})
	const want = "\nTable 1\nclass           error       p\na      0.2000 ±0.1414  <0.001\nb                0.50   0.250\n"
	if text := report.Text(r); !strings.Contains(text, want) {
		t.Errorf("%q isn't in %q", want, text)
	}
	folder := t.TempDir()
	musttest.NoError(t, r.Save(folder))
	text := string(musttest.Get(os.ReadFile(filepath.Join(folder, "e-1.tsv")))(t))
	if text != "class\terror\tprinted\tp\na\t0.2000 ±0.1414\t\t<0.001\nb\t0.50\t\t0.250\n" {
		t.Errorf("e-1.tsv is %q", text)
	}
	svg := chart.SVG(r.Charts[0], "", 12, 10)
	if !strings.Contains(svg, ">c<") || !strings.Contains(svg, ">d<") {
		t.Error("the chart doesn't name its curves")
	}
}

func TestRequire(t *testing.T) {
	r := &Env{DataDir: t.TempDir()}
	musttest.WantError(r.Require(WebKB))(t, "a missing file", filepath.Join("webkb", "all.tsv.gz"))
	musttest.NoError(t, os.Mkdir(filepath.Join(r.DataDir, "webkb"), 0o777))
	musttest.NoError(t, os.WriteFile(filepath.Join(r.DataDir, "webkb", "all.tsv.gz"), nil, 0o666))
	musttest.NoError(t, r.Require(WebKB))
	musttest.WantError((&Env{}).Require(WebKB))(t, "no folder of data")
}

// A split is a permutation of each class's documents, and depends on seed and name.
func TestSplit(t *testing.T) {
	docs, positive := make([]int, 40), make([]bool, 40)
	for i := range docs {
		docs[i], positive[i] = i, i%3 == 0
	}
	own, others := SplitByClass(1, "k/0", docs, positive)
	for _, doc := range own {
		if !positive[doc] {
			t.Errorf("document %d isn't positive", doc)
		}
	}
	all := slices.Sorted(slices.Values(slices.Concat(own, others)))
	if len(own) != 14 || !slices.Equal(all, docs) {
		t.Errorf("%d positive documents and %d others", len(own), len(others))
	}
	again, _ := SplitByClass(1, "k/0", docs, positive)
	other, _ := SplitByClass(1, "k/1", docs, positive)
	seed, _ := SplitByClass(2, "k/0", docs, positive)
	if !slices.Equal(again, own) || slices.Equal(other, own) || slices.Equal(seed, own) {
		t.Error("splits of the same seed and name are to be equal, others different")
	}
}
