package cho

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// A family of several curves names the curve, one of a single curve doesn't say its name twice.
func TestChoNote(t *testing.T) {
	points := []repro.Point{{X: 0.5, Y: 3}, {X: 1, Y: 2.5}}
	for _, c := range []struct{ family, curve, want string }{
		{bias, bias, "mnist, bias: test error 3.00, 2.50 % for bias / mean norm from 0.5 to 1; the least at 1"},
		{composed, "degree 1",
			"mnist, composed, degree 1: test error 3.00, 2.50 % for layers from 0.5 to 1; the least at 1"},
	} {
		if got := note("mnist", c.family, &repro.Curve{Name: c.curve, Points: points}); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

// Curves are there where two points are: what is said beforehand is what is drawn.
func TestChoCurves(t *testing.T) {
	for _, of := range []struct {
		args   []string
		figure bool
	}{
		{[]string{"-kernels", "plain"}, false},
		{[]string{"-kernels", "composed", "-layers", "1"}, false},
		{[]string{"-kernels", "composed", "-layers", "2"}, true},
		{[]string{"-kernels", "product", "-factors", "2"}, false},
		{[]string{"-kernels", "product,composed", "-factors", "2", "-layers", "1"}, true},
		{[]string{"-kernels", "degree", "-fractions", "0.5"}, true},
		{[]string{"-kernels", "bias", "-biases", "0.5"}, false},
	} {
		args := append([]string{"-sets", "rectangles", "-train", "12", "-test", "5", "-c", "1", "-degrees", "1"},
			of.args...)
		report, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Seed: 1}, args...)
		if err != nil || len(report.Figures) > 0 != of.figure {
			t.Fatalf("%q: %v, or figures where none are expected, or none: %v", of.args, err, of.figure)
		}
		_, err = reprotest.Do(t.Context(), t, Experiment, &repro.Run{Seed: 1, Plot: true}, args...)
		var usage repro.UsageError
		if errors.As(err, &usage) == of.figure {
			t.Errorf("%q, with curves asked for: %v", of.args, err)
		}
	}
}

// Printed errors are of whole sets, their columns those of Table 3.1; a sign test counts the documents
// on which one kernel alone is right.
func TestChoPrinted(t *testing.T) {
	for of, want := range map[[2]string]float64{
		{"rectangles", bestBias}: 2.48, {"convex", "Gaussian"}: 18.76, {"mnist-image", "degree 0, 1 layer"}: 23.81,
		{"mnist-rand", "linear"}: 17.31, {"rectangles-image", bestSigma}: 24.48, {"20news-random", "degree 0"}: 16.28,
		{"mnist", "degree 1, 1 layer"}: math.NaN(), {"mnist", "linear"}: math.NaN(), {"convex", "degree 1"}: 19.9,
		{"convex", "degree 2, 1 layer"}: 19.53, {"mnist-rand", "degree 1, 1 layer"}: 17.56,
		{"mnist-image", "degree 2"}:      24.36,
		{"rectangles-image", "degree 1"}: 24.6, {"20news-random", "degree 2"}: 15.63, {"rectangles", "degree 1"}: math.NaN(),
		{"20news-bydate", "linear"}: math.NaN(),
	} {
		if got := printed(of[0], of[1]); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: %v, expected %v", of, got, want)
		}
	}
	// 9 and 1 documents: z = (9-5)/√2.5
	if got := against("1111111110111", "0000000001111"); !(math.Abs(got.Statistic-4/math.Sqrt(2.5)) < 1e-12) {
		t.Errorf("%+v", got)
	}
	m := &measurement{p: &protocol{}, set: &set{name: "convex"}, table: newTable("convex"), report: &repro.Report{}}
	rows := []row{{family: plain, shown: "linear"}, {family: plain, shown: "Gaussian"},
		{family: composed, curve: "degree 0", x: 1, shown: "degree 0, 1 layer"},
		{family: mixed, curve: "degree 0", x: 2, shown: "degree 0, then 1, 2 layers"}}
	right := []string{"1100", "1110", "0111", "1111"}
	chosen, outcomes := make([]tried, len(rows)), make([]repro.Outcome, len(rows))
	for i := range rows {
		chosen[i].failed, outcomes[i].Right = 0.5-float64(i)/10, right[i]
	}
	m.fill(rows, chosen, outcomes)
	table := reprotest.Rows(t, &repro.Report{Tables: []*repro.Table{m.table}}, "convex")
	if table[0]["printed_percent"] != 45.67 || table[1]["p"] != nil || table[2]["p"] != 1. || table[3]["ln"] != nil ||
		!(math.Abs(table[2]["ln"].(float64)-math.Log(25/20.05)) < 1e-12) || len(m.p.gaps) != 3 {
		t.Errorf("%v", table)
	}
	notes := strings.Join(m.report.Notes, "\n")
	for _, want := range []string{"by the validation set it would be degree 0, then 1, 2 layers, test error 0.00 %",
		"then 1, 2 layers, test error 0.00 %, 0 support vectors; printed in §4.3.1: 5094",
		"from 0.00 to 25.00 %; printed in Figure 4.8: from 17.15 to 20.51 %; before, 19.13 % of Gaussian machines and " +
			"18.63 %"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
}
