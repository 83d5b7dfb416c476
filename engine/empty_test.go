package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device/devicetest"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// emptyValues are k(∅, ∅) and k(∅, x) for documents x of norm 1. ∅ is the zero vector for kernels
// that use norms, and a unit vector orthogonal to all others for kernels of the cosine, such as the
// arc-cosine kernel of degree 0. (2.1) of Cho's thesis gives ½, as smoothed thresholds do.
var emptyValues = map[string][2]float64{
	"linear": {0, 0}, "polynomial:gamma=1,r=1,degree=2": {1, 1}, "rbf:gamma=0.5": {1, math.Exp(-0.5)},
	"sigmoid:gamma=1,r=0.5": {math.Tanh(0.5), math.Tanh(0.5)}, "ned": {0, -1}, "ned-log": {0, -math.Ln2},
	"arccos:n=1": {0, 0}, "arccos:n=0,sigma=0.25": {0.5, 0.5}, "arccos:n=0,bias=0.25": {0, 0},
	"arccos:n=1,layers=3": {0, 0}, "0.5*linear + rbf:gamma=0.5": {1, math.Exp(-0.5)},
	"arccos:n=0": {1, 0.5}, "diffusion:t=0.5": {1, math.Exp(-math.Pi * math.Pi / 2)}, "hellinger": {1, math.Exp(-1)},
	"bhattacharyya": {1, 0}, "ngd": {0, -math.Pi}, "arcsine": {1, 0},
}

// An empty document has the same kernel values with and without normalisation, in square matrices
// and cross matrices, on every instruction set and on a back end that only computes c. A document
// without known terms is an empty document.
func TestEmptyDocuments(t *testing.T) {
	train := &sparse.CSR{Cols: 4, Offsets: []int64{0, 1, 1, 2, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	test := &sparse.CSR{Cols: 4, Offsets: []int64{0, 0, 1, 2}, Terms: []uint32{1, 3}, Values: []float32{1, 2}}
	empty := map[bool][]bool{false: {false, true, false, true}, true: {true, false, true}} // train; test
	embeddings := []string{"tf", "tf-l1", "tf-l2", "tf-l2-sqrt", "tf-sqrt", "tf-l2-pow0.75"}
	for spec, want := range emptyValues {
		for _, name := range embeddings {
			e := musttest.Get(sparse.ParseEmbedding(name))(t)
			k := musttest.Get(kernel.ParseIn(spec, e))(t)
			embedder := e.Fit(train)
			x := musttest.Get(embedder.Transform(train))(t)
			y := musttest.Get(embedder.Transform(test))(t)
			check := func(where string, i, j int, one, other bool, got float64) {
				t.Helper()
				v := want[1]
				switch {
				case one && other:
					v = want[0]
				case !one && !other:
					return
				}
				// Errors of maps and float32 (kernel.Tolerance) are below 10⁻⁶ for values up to π.
				if !(math.Abs(got-v) <= 1e-6) {
					t.Errorf("%s, %s, %s: (%d, %d) is %v, expected %v", spec, name, where, i, j, got, v)
				}
			}
			ref := engine.NewReference(x)
			options := map[string]engine.Options{"on c alone": {Device: devicetest.New}}
			for _, isa := range enginetest.ISAs() {
				options[fmt.Sprintf("isa=%s", isa)] = engine.Options{ISA: string(isa)}
			}
			for where, opt := range options {
				on := musttest.Get(engine.New(x, opt))(t)
				g := musttest.Get(on.Gram(t.Context(), k, nil))(t)
				cross := musttest.Get(on.Rows(t.Context(), k, engine.Request{TestDocuments: y}, nil))(t)
				for j := range x.Rows() {
					for i := range x.Rows() {
						check(where, i, j, empty[false][i], empty[false][j], float64(g.Row(i)[j]))
						check("reference", i, j, empty[false][i], empty[false][j], ref.Value(k, i, j))
					}
					for i := range y.Rows() {
						check(where+", cross", i, j, empty[true][i], empty[false][j], float64(cross.Row(i)[j]))
					}
				}
				musttest.NoError(t, on.Close())
			}
		}
	}
}
