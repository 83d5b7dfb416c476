package lafferty

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// A number of workers or a plan that makes no sense is an error, before any goroutine works on it.
func TestMatrixRefuses(t *testing.T) {
	docs := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	kernel := engine.MustParseKernel("diffusion:t=0.5")
	pairs, err := newPairs(t.Context(), &repro.Run{}, kernel.Embedding().Fit(docs), docs, "pairs")
	if err != nil {
		t.Fatal(err)
	}
	defer pairs.Close()
	for _, workers := range []int{0, -1} {
		if _, err := pairs.matrix(t.Context(), kernel, workers); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%d workers: %v, expected an error", workers, err)
		}
	}
	if m, err := pairs.matrix(t.Context(), kernel, 1); err != nil || m.k[0] != 1 || m.k[3] != 1 || m.k[1] != m.k[2] {
		t.Errorf("%v, %v", m.k, err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	const n = 12
	clouds := func() *task {
		return &task{Name: "a", Docs: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Positive: []bool{true, true, true, true, true, true, false, false, false, false, false, false}}
	}
	for what, spoil := range map[string]func(p *plan, m *matrix, workers *int){
		"nothing":              func(*plan, *matrix, *int) {},
		"a value missing":      func(_ *plan, m *matrix, _ *int) { m.k = m.k[1:] },
		"no workers":           func(_ *plan, _ *matrix, w *int) { *w = 0 },
		"no sizes":             func(p *plan, _ *matrix, _ *int) { p.Sizes = nil },
		"sizes that fall":      func(p *plan, _ *matrix, _ *int) { p.Sizes = []int{6, 4} },
		"a size too large":     func(p *plan, _ *matrix, _ *int) { p.Sizes = []int{4, 11} },
		"a size too small":     func(p *plan, _ *matrix, _ *int) { p.Sizes = []int{1, 4} },
		"no C":                 func(p *plan, _ *matrix, _ *int) { p.C = nil },
		"C that is NaN":        func(p *plan, _ *matrix, _ *int) { p.C = []float64{1, math.NaN()} },
		"a document too many":  func(p *plan, _ *matrix, _ *int) { p.Tasks[0].Docs[11] = 12 },
		"a document below 0":   func(p *plan, _ *matrix, _ *int) { p.Tasks[0].Docs[0] = -1 },
		"a document twice":     func(p *plan, _ *matrix, _ *int) { p.Tasks[0].Docs[1] = 0 },
		"a document of no use": func(p *plan, _ *matrix, _ *int) { p.Tasks[0].Positive = p.Tasks[0].Positive[:11] },
	} {
		p := &plan{Tasks: []*task{clouds()}, Splits: 2, Sizes: []int{4, 6}, C: []float64{1, 10}, Folds: 2}
		m, workers := matrix{n, make([]float32, n*n)}, 1
		for i := range n {
			m.k[i*n+i] = 1
		}
		spoil(p, &m, &workers)
		_, err := p.measure(t.Context(), m, workers, asm.Best(), func() {})
		if (err == nil) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
