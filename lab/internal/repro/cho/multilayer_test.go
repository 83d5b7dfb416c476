package cho

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// The ablation says what selection changes, as its table does.
func TestChoAblation(t *testing.T) {
	folder := standIns(t)
	args := []string{"-kernels", "mkm", "-sets", "mnist", "-train", "200", "-test", "100", "-components", "8", "-ablation",
		"-degrees", "1", "-deep", "2", "-runs", "1"}
	report := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1}, args...))(t)
	rows := reprotest.Rows(t, report, "mnist-mkm")
	if len(rows) != 4 || rows[0]["selection"] != "yes" || rows[3]["selection"] != "no" || rows[3]["network"] != "1-1" {
		t.Fatalf("%v", rows)
	}
	mean := func(row int, final string) float64 {
		return rows[row][final+"_percent"].(map[string]any)["mean"].(float64)
	}
	sum := 0.0
	for _, final := range []string{"lmnn", "knn", "svm"} {
		for row := range 2 {
			sum += (mean(row, final) - mean(row+2, final)) / 6
		}
	}
	// chance is 90 %, with a deviation of 3 of 100 documents
	if e := mean(2, "lmnn"); !(e < 75) {
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
	for _, bad := range [][]string{{"-runs", "0"}, {"-components", "0"}, {"-steps", "-1"}, {"-deep", "99"}} {
		_, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1}, append(args, bad...)...)
		if err == nil || !strings.Contains(err.Error(), bad[0]) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// All beginnings of networks have a row, each once, with mean and deviation over the runs.
func TestChoNetworks(t *testing.T) {
	p := &protocol{networks: "1-x", runs: 1, deep: 1, components: 1, base: 2}
	if err := p.checkMultilayer(); err == nil || !strings.Contains(err.Error(), "-networks 1-x") {
		t.Errorf("degree x: %v", err)
	}
	p.networks = "1-0,1-1"
	chains := p.chains()
	runs := func(wrong ...int) (out [][]depth) {
		for _, n := range wrong {
			var run []depth
			for layers := range 3 {
				run = append(run, depth{Width: 10, Failed: 0.5, Wrong: []int{n - layers, n, n}, Tests: 100, Steps: 7})
			}
			out = append(out, run)
		}
		return out
	}
	report := &repro.Report{}
	p.fillMultilayer("mnist-rand", chains, [][][]depth{runs(10, 12), runs(20, 22)}, report)
	var got []string
	for _, row := range reprotest.Rows(t, report, "mnist-rand-mkm") {
		lmnn := row["lmnn_percent"].(map[string]any)
		got = append(got, fmt.Sprintf("%s %v %.4f", row["network"], lmnn["mean"], lmnn["sd"]))
		if steps := row["steps"].(map[string]any)["mean"]; steps != 7.0 {
			t.Errorf("%v steps, expected 7", steps)
		}
	}
	const want = "none 11 1.4142, 1 10 1.4142, 1-0 9 1.4142, 1-1 19 1.4142"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, expected %s", text, want)
	}
	notes := strings.Join(report.Notes, "\n")
	for _, want := range []string{"from 9.00 to 19.00 %", "printed in Figure 5.4, of other images: from 6.13 to 7.69 %",
		"lmnn against knn: -1.00 points ± 0.00, over 6 pairs", "2 layers against 1: -0.33 points ± 0.00, over 6 pairs"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
}
