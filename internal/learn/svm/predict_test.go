package svm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Decision values equal Σ coef·k(x, support vector) - rho, computed in float64 from the raw values.
func TestDecisionsAreTheSum(t *testing.T) {
	musttest.SkipRace(t)
	learn, test := halves(read(t, "synthetic:docs=700,terms=2000,length=40,classes=5,seed=1", corpus.Options{}))
	for _, spec := range []string{DefaultKernel, "rbf:gamma=0.5", "linear", "arccos:n=1"} {
		for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest} {
			t.Run(spec+"/"+scheme.String(), func(t *testing.T) {
				k := kernel.MustParse(spec)
				m, _ := train(t, learn, Settings{Kernel: k, Scheme: scheme, C: 10}, Options{})
				got := predict(t, m, test.Documents, Options{})
				support := musttest.Get(m.Embedder.Transform(m.Support))(t)
				x := musttest.Get(m.Embedder.Transform(test.Documents))(t)
				c := distances(x, support)
				for i := range c {
					for j, machine := range m.Classifier.Functions {
						want, slack := -machine.Rho, 0.0
						for s, row := range machine.Support {
							v := k.Eval(c[i][row], x.Norms[i], support.Norms[row])
							want += machine.Coef[s] * v
							// documented error of c, times the kernel's slope, plus the map's error
							step := 2e-6
							up := k.Eval(min(c[i][row]+step, 2), x.Norms[i], support.Norms[row])
							down := k.Eval(max(c[i][row]-step, 0), x.Norms[i], support.Norms[row])
							slack += math.Abs(machine.Coef[s]) * (math.Abs(up-v) + math.Abs(down-v) + k.Error(
								c[i][row], x.Norms[i], support.Norms[row],
							))
						}
						within(t, fmt.Sprintf("document %d, machine %d", i, j), got.DecisionValues[i][j], want, slack+1e-9)
					}
					if want := m.Classifier.PredictClass(got.DecisionValues[i]); got.ClassIndices[i] != want {
						t.Fatalf("document %d has class %d, expected %d", i, got.ClassIndices[i], want)
					}
				}
			})
		}
	}
}

// Predictions are bit-identical for any number of workers and batches, on every instruction set.
func TestPredictionIsTheSameFromAnyWorkers(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=2500,terms=3000,length=30,classes=4,seed=2", corpus.Options{}))
	m, _ := train(t, learn, Settings{C: 10}, Options{})
	for _, isa := range asm.Available() {
		want := predict(t, m, test.Documents, Options{ISA: string(isa), Workers: 1})
		for _, workers := range []int{2, 5} {
			got := predict(t, m, test.Documents, Options{ISA: string(isa), Workers: workers})
			for i := range want.DecisionValues {
				if !slices.Equal(got.DecisionValues[i], want.DecisionValues[i]) {
					t.Fatalf("%s, %d workers: decision values of document %d differ", isa, workers, i)
				}
			}
		}
		last := test.Documents.Rows() - 1
		alone := predict(t, m, test.Documents.SelectRows([]int{last}), Options{ISA: string(isa)})
		if !slices.Equal(alone.DecisionValues[0], want.DecisionValues[last]) {
			t.Errorf("%s: a document alone has other decision values than among others", isa)
		}
	}
}

func TestPredictorNeedsNoSupportVectors(t *testing.T) {
	c := read(t, "synthetic:docs=20,terms=100,length=10,classes=2,seed=3", corpus.Options{})
	m := &model.Model{Type: model.CSVC, Kernel: DefaultKernel, Embedder: sparse.SphereEmbedding.Fit(c.Documents),
		Origin:     archive.Origin{Classes: []string{"a", "b"}},
		Classifier: solver.Classifier{Scheme: solver.OneVsOne, Classes: 2, Functions: []*solver.DecisionFunction{{Rho: 0.5}}},
		Support:    &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0}}}
	p := predict(t, m, c.Documents, Options{})
	for i, d := range p.DecisionValues {
		if d[0] != -0.5 || p.ClassIndices[i] != 1 {
			t.Fatalf("document %d: %v, class %d, expected -0.5 and class 1", i, d, p.ClassIndices[i])
		}
	}
}

func TestPredictSaysWhatItNeeds(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=600,terms=500,length=20,classes=2,seed=4", corpus.Options{}))
	m, _ := train(t, learn, Settings{}, Options{})
	musttest.WantError(NewPredictor(t.Context(), m, Options{MemoryBytes: 1000}))(t, "1000 bytes", "the limit is")
	p := musttest.Get(NewPredictor(t.Context(), m, Options{MemoryBytes: 1 << 20, HeldBytes: 600 << 10}))(t)
	musttest.WantError(p.Predict(context.Background(), test.Documents))(t, "1 MiB", "the limit is 1 MiB")
	p = musttest.Get(NewPredictor(t.Context(), m, Options{MemoryBytes: 64 << 20, HeldBytes: 60 << 20}))(t)
	musttest.WantError(p.WithHeldBytes(64<<20).Predict(context.Background(), test.Documents))(t, "64 MiB",
		"the limit is 64 MiB")
	if _, err := p.WithHeldBytes(0).Predict(context.Background(), test.Documents); err != nil {
		t.Error(err)
	}
}
