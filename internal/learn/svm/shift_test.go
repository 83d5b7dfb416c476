package svm_test

import (
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
)

// Adding a constant to a kernel doesn't change an SVM with a bias. So a conditionally positive
// definite kernel trains like its positive definite shift: ngd and ngd:shift=pi, the arcsine kernel
// and twice the arc-cosine kernel of degree 0. Source: Zhang, Chen and Lee, SIGIR 2005, §3; Cho's
// thesis, §2.1.2.
func TestShiftedKernels(t *testing.T) {
	c, err := corpus.Read(t.Context(), "synthetic:docs=150,terms=300,length=12,classes=2,seed=4", corpus.Options{})
	musttest.NoError(t, err)
	for _, specs := range [][2]string{
		{"ngd", "ngd:shift=pi"},
		{"2*arccos:n=0,embed=tf", "1*arcsine"},
	} {
		var decisions [2][]float64
		for k, spec := range specs {
			kernel := kernel.MustParse(spec)
			p := musttest.Get(svm.NewProblem(t.Context(), c, kernel.Embedding(), svm.Options{}))(t)
			m, _, err := p.Train(t.Context(), svm.Settings{Kernel: kernel, C: 1, Tolerance: 1e-7})
			musttest.NoError(t, err)
			predictor := musttest.Get(svm.NewPredictor(t.Context(), m, svm.Options{}))(t)
			out := musttest.Get(predictor.Predict(t.Context(), c.Documents))(t)
			for _, d := range out.DecisionValues {
				decisions[k] = append(decisions[k], d[0])
			}
		}
		for i, a := range decisions[0] {
			// float32 values have an error of 10⁻⁶, and the 150 coefficients are at most 1. Both
			// problems are solved to 10⁻⁷.
			if b := decisions[1][i]; !(math.Abs(a-b) <= 150*4e-6) {
				t.Errorf("%v, document %d: %v and %v", specs, i, a, b)
			}
		}
	}
}
