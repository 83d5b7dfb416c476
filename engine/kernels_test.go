package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Kernels are held to what is said of them: the reference's matrix of a kernel that is called
// positive definite has no eigenvalue below rounding, and neither has that of a conditionally
// positive definite one on vectors whose sum is 0. Rounding: n ulp of the greatest eigenvalue,
// times what a value's own error is, below 100 ulp.
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
		known[p.Definite]++
		if p.Definite == kernel.NotProven || overflow {
			continue
		}
		var size float64
		for i := range n {
			for j := range n {
				size = max(size, math.Abs(values[i*n+j]))
				if p.Definite == kernel.ConditionallyPositive {
					values[i*n+j] += mean - means[i] - means[j]
				}
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(n, values), false) {
			t.Fatalf("%s: no eigenvalues", spec)
		}
		if least := eigen.Values(nil)[0]; !(least >= -100*float64(n)*0x1p-53*size) {
			t.Errorf("%s, %v: an eigenvalue of %v, of values up to %v", spec, p.Definite, least, size)
		}
	}
	if known[kernel.Positive] < 20 || known[kernel.ConditionallyPositive] < 5 || known[kernel.NotProven] < 5 {
		t.Errorf("%v kernels of each kind", known)
	}
}

// The whole way, through an engine: n comes from the documents.
func TestParametrixGram(t *testing.T) {
	x := embedded(t, sparse.Sphere, zipf(150, 400, 30, 3))
	e := newEngine(t, x, Options{})
	r := NewReference(x)
	for _, spec := range []string{"diffusion:t=0.01,order=1", "diffusion:t=0.5,cutoff=3,constant=full"} {
		k := kernel.MustParse(spec)
		g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
		k = r.Resolve(k)
		for i := range g.N {
			for j := range g.N {
				c := r.C(i, j)
				if want := k.Eval(c, 1, 1); !kernel.Within(k, g.At(i, j), want, c, 1, 1) {
					t.Fatalf("%s: (%d, %d) is %v, expected %v", k, i, j, g.At(i, j), want)
				}
			}
		}
	}
}

// The definition from counts, Σ θ^ρ θ′^ρ, against a Gram matrix; ρ = ½ is Bhattacharyya's kernel
// and ρ = 1 the inner product, to the bit.
func TestProbabilityProduct(t *testing.T) {
	m := zipf(90, 400, 30, 5)
	of := func(spec string) (kernel.Kernel, *Symmetric, *sparse.Embedded) {
		k := parse(t, spec)
		x := embedded(t, k.Embedding(), m)
		g := musttest.Get(newEngine(t, x, Options{}).Gram(t.Context(), k, nil))(t)
		return k, g, x
	}
	for _, power := range []float64{0.01, 0.3, 0.75, 2, 8} {
		k, g, x := of(fmt.Sprintf("linear:embed=tf-l1-pow%v", power))
		theta := make([][]float64, m.Rows())
		for i := range theta {
			theta[i] = make([]float64, m.Cols)
			terms, values := m.Row(i)
			total := 0.0
			for _, v := range values {
				total += float64(v)
			}
			for j, term := range terms {
				theta[i][term] = math.Pow(float64(values[j])/total, power)
			}
		}
		for i := range theta {
			for j := range theta {
				var want float64
				for term, v := range theta[i] {
					want += v * theta[j][term]
				}
				// c carries 10⁻⁶ (the engine's promise), which counts by the product of the norms;
				// the definition above and the powers some 10⁻¹³.
				scale := x.Norms[i] * x.Norms[j]
				if scale == 0 { // one has no terms
					if g.At(i, j) != 0 {
						t.Fatalf("%v: documents %d and %d, one of them empty, have %v", k, i, j, g.At(i, j))
					}
					continue
				}
				if err := math.Abs(g.At(i, j) - want); !(err <= scale*(1e-6+1e-13)+k.Error(1-want/scale, x.Norms[i],
					x.Norms[j])) {
					t.Fatalf("%v: documents %d and %d have %v, expected %v", k, i, j, g.At(i, j), want)
				}
			}
		}
	}
	for spec, same := range map[string]string{"linear:embed=tf-l1-sqrt": "bhattacharyya",
		"linear:embed=tf-l1-pow0.5": "bhattacharyya"} {
		_, a, _ := of(spec)
		_, b, _ := of(same)
		for i, v := range a.Data {
			if math.Float32bits(v) != math.Float32bits(b.Data[i]) {
				t.Errorf("%s differs from %s: %v, %v", spec, same, v, b.Data[i])
				break
			}
		}
	}
}
