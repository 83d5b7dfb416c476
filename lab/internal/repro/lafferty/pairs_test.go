package lafferty

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// A number of workers that makes no sense is an error.
func TestMatrixRefuses(t *testing.T) {
	docs := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	kernel := kernel.MustParse("diffusion:t=0.5")
	pairs := musttest.Get(newPairs(t.Context(), &repro.Run{}, kernel.Embedding().Fit(docs), docs, "pairs"))(t)
	defer pairs.Close()
	for _, workers := range []int{0, -1} {
		if _, err := pairs.matrix(t.Context(), kernel, workers); err == nil ||
			!strings.Contains(err.Error(), "expected") {
			t.Errorf("%d workers: %v, expected an error", workers, err)
		}
	}
	if m, err := pairs.matrix(t.Context(), kernel, 1); err != nil || m.k[0] != 1 || m.k[3] != 1 || m.k[1] != m.k[2] {
		t.Errorf("%v, %v", m.k, err)
	}
}
