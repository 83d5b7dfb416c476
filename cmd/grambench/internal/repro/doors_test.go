package repro

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// A matrix or a plan that doesn't fit is an error, before any goroutine works on it.
func TestFillRefuses(t *testing.T) {
	docs := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	kernel := engine.MustParseKernel("diffusion:t=0.5")
	pairs, err := (&Run{}).NewPairs(context.Background(), docs, kernel.Embedding(), "pairs")
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	for _, c := range []struct{ values, workers int }{{0, 1}, {3, 1}, {5, 1}, {4, 0}, {4, -1}} {
		if err := pairs.Fill(context.Background(), kernel, make([]float32, c.values), c.workers); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%d values, %d workers: %v, expected an error", c.values, c.workers, err)
		}
	}
	if err := pairs.Fill(context.Background(), kernel, make([]float32, 4), 1); err != nil {
		t.Error(err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	const n = 12
	task := func() *Task {
		return &Task{Name: "a", Docs: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Positive: []bool{true, true, true, true, true, true, false, false, false, false, false, false}}
	}
	for what, spoil := range map[string]func(p *CurvePlan, m *matrix, workers *int){
		"nothing":              func(*CurvePlan, *matrix, *int) {},
		"a value missing":      func(_ *CurvePlan, m *matrix, _ *int) { m.k = m.k[1:] },
		"no workers":           func(_ *CurvePlan, _ *matrix, w *int) { *w = 0 },
		"no sizes":             func(p *CurvePlan, _ *matrix, _ *int) { p.Sizes = nil },
		"sizes that fall":      func(p *CurvePlan, _ *matrix, _ *int) { p.Sizes = []int{6, 4} },
		"a size too large":     func(p *CurvePlan, _ *matrix, _ *int) { p.Sizes = []int{4, 11} },
		"a size too small":     func(p *CurvePlan, _ *matrix, _ *int) { p.Sizes = []int{1, 4} },
		"no C":                 func(p *CurvePlan, _ *matrix, _ *int) { p.C = nil },
		"C that is NaN":        func(p *CurvePlan, _ *matrix, _ *int) { p.C = []float64{1, math.NaN()} },
		"a document too many":  func(p *CurvePlan, _ *matrix, _ *int) { p.Tasks[0].Docs[11] = 12 },
		"a document below 0":   func(p *CurvePlan, _ *matrix, _ *int) { p.Tasks[0].Docs[0] = -1 },
		"a document twice":     func(p *CurvePlan, _ *matrix, _ *int) { p.Tasks[0].Docs[1] = 0 },
		"a document of no use": func(p *CurvePlan, _ *matrix, _ *int) { p.Tasks[0].Positive = p.Tasks[0].Positive[:11] },
	} {
		plan := &CurvePlan{Tasks: []*Task{task()}, Splits: 2, Sizes: []int{4, 6}, C: []float64{1, 10}, Folds: 2}
		m, workers := matrix{n, make([]float32, n*n)}, 1
		for i := range n {
			m.k[i*n+i] = 1
		}
		spoil(plan, &m, &workers)
		_, err := plan.Measure(context.Background(), m, workers, asm.Best(), func() {})
		if (err == nil) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A figure without panels is an error, and a mean that isn't finite doesn't spoil the whole report.
func TestReportsOfNothing(t *testing.T) {
	if err := (&Figure{Key: "none"}).WritePNG(filepath.Join(t.TempDir(), "a.png")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a figure without panels: %v", err)
	}
	for _, m := range []Measured{{Mean: math.Inf(1), N: 2}, {Mean: 1, SD: math.Inf(1), N: 2}, {Mean: math.NaN(), N: 1}, {}} {
		table := &Table{Key: "a", Columns: []Column{{Key: "b"}}}
		table.Add(m.Cell(2))
		if _, err := table.Objects(); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
}
