package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Kernels have their documented properties: the reference matrix of a positive definite kernel has
// no negative eigenvalue beyond rounding, and neither has the matrix of a conditionally positive
// definite kernel on vectors with sum 0. The bound is n ulp of the largest eigenvalue, times the
// error of a value, below 100 ulp.
func TestProperties(t *testing.T) {
	specs := append(
		[]string{"hellinger", "sigmoid:gamma=0.5,r=-1", "polynomial:gamma=1,r=-1,degree=3", "diffusion:t=8"},
		mapSpecs...)
	for _, info := range kernel.Catalogue() {
		specs = append(specs, info.Examples...)
	}
	rows := testRows()
	matrices := map[sparse.Embedding]*Reference{}
	known := map[kernel.Definiteness]int{}
	for _, spec := range specs {
		k := kernel.MustParse(spec)
		ref := matrices[k.Embedding()]
		if ref == nil {
			ref = NewReference(embed(t, k.Embedding(), rows))
			matrices[k.Embedding()] = ref
		}
		n := ref.Len()
		values := make([]float64, n*n)
		means := make([]float64, n)
		var mean float64
		overflow := false
		for i := range n {
			for j := range i + 1 {
				v := ref.Value(k, i, j)
				overflow = overflow || math.Abs(v) > 1e150
				values[i*n+j], values[j*n+i] = v, v
			}
		}
		for i := range n {
			for j := range n {
				means[i] += values[i*n+j] / float64(n)
				mean += values[i*n+j] / float64(n*n)
			}
		}
		p := kernel.PropertiesOf(k)
		if p.NonNegative && slices.Min(values) < 0 {
			t.Errorf("%s: a value of %v, where none is below 0", spec, slices.Min(values))
		}
		known[p.Definiteness]++
		if p.Definiteness == kernel.UnprovenDefiniteness || overflow {
			continue
		}
		var size float64
		for i := range n {
			for j := range n {
				size = max(size, math.Abs(values[i*n+j]))
				if p.Definiteness == kernel.ConditionallyPositiveDefinite {
					values[i*n+j] += mean - means[i] - means[j]
				}
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(n, values), false) {
			t.Fatalf("%s: no eigenvalues", spec)
		}
		if least := eigen.Values(nil)[0]; !(least >= -100*float64(n)*0x1p-53*size) {
			t.Errorf("%s, %v: an eigenvalue of %v, of values up to %v", spec, p.Definiteness, least, size)
		}
	}
	if known[kernel.PositiveDefinite] < 20 || known[kernel.ConditionallyPositiveDefinite] < 5 ||
		known[kernel.UnprovenDefiniteness] < 5 {
		t.Errorf("%v kernels of each kind", known)
	}
}

// An engine sets n from the documents.
func TestParametrixGram(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(150, 400, 30, 3))
	e := newEngine(t, x, Options{})
	r := NewReference(x)
	for _, spec := range []string{"diffusion:t=0.01,order=1", "diffusion:t=0.5,cutoff=3,constant=full"} {
		k := kernel.MustParse(spec)
		g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
		k = r.Resolve(k)
		for i := range g.N {
			for j := range g.N {
				c := r.C(i, j)
				if want := k.Eval(c, 1, 1); !kernel.WithinTolerance(k, g.At(i, j), want, c, 1, 1) {
					t.Fatalf("%s: (%d, %d) is %v, expected %v", k, i, j, g.At(i, j), want)
				}
			}
		}
	}
}
