package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// embeddedRaw embeds vectors as they are.
func embeddedRaw(t *testing.T, m *sparse.CSR) *sparse.Embedded {
	return embedded(t, sparse.Embedding{}, m)
}

// Distributions as vectors are those of before, to float32; a mean that is 0 for all keeps its coordinate.
func TestNormalsAsVectors(t *testing.T) {
	m := &sparse.CSR{Cols: 6, Offsets: []int64{0, 2, 4, 6, 8}, Terms: []uint32{1, 4, 1, 4, 1, 4, 1, 4}, Values: []float32{1, 0.1, -1, 0.3, 3, 7, -3, 5}}
	x, err := FitNormals(t.Context(), m, []int32{0, 0, 1, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	v, err := x.Vectors(9)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	e := embeddedRaw(t, v)
	y, err := NormalsOf(e)
	if err != nil {
		t.Fatal(err)
	}
	if y.P() != 2 || y.Len() != 2 {
		t.Fatalf("%d distributions on R^%d", y.Len(), y.P())
	}
	for i := range 2 {
		for k, want := range x.Mean(i) {
			if got := y.Mean(i)[k]; !(math.Abs(got-want) <= unit*math.Abs(want)+0x1p-149) {
				t.Errorf("mean %d of distribution %d is %v, expected %v", k, i, got, want)
			}
		}
		if got, want := y.Sigma(i), x.Sigma(i); !(math.Abs(got-want) <= unit*want) {
			t.Errorf("the deviation of distribution %d is %v, expected %v", i, got, want)
		}
	}
	again, err := y.Vectors(9)
	if err != nil || again.NNZ() != v.NNZ() {
		t.Fatal(again, err)
	}
	// Others by the same coordinates: column 1 isn't in use here, column 0 doesn't count, column 4 does.
	other := &sparse.CSR{Cols: 5, Offsets: []int64{0, 2, 3}, Terms: []uint32{0, 4, 4}, Values: []float32{100, 1, 3}}
	z, err := FitNormalsIn(t.Context(), other, []int32{0, 0}, 1, []uint32{1, 4})
	if err != nil || z.P() != 2 || z.Mean(0)[0] != 0 || z.Mean(0)[1] != 2 || !(math.Abs(z.Sigma(0)-math.Sqrt(0.5)) <= 1e-15) {
		t.Errorf("distributions %+v, error %v", z, err)
	}
	if _, err := x.Vectors(4); err == nil || !strings.Contains(err.Error(), "above 4") {
		t.Errorf("deviations in a column of the points: %v", err)
	}
	v.Values[2] = 0 // σ of the first
	if _, err := NormalsOf(embeddedRaw(t, v)); err == nil || !strings.Contains(err.Error(), "vector 1 has the deviation 0") {
		t.Errorf("a distribution without a deviation: %v", err)
	}
	if _, err := NormalsOf(embedded(t, sparse.Embedding{Norm: sparse.NormL2}, v)); err == nil || !strings.Contains(err.Error(), "tf-l2, expected distributions of sets of points") {
		t.Errorf("another embedding: %v", err)
	}
	huge := &sparse.CSR{Cols: 1, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 0}, Values: []float32{math.MaxFloat32, -math.MaxFloat32}}
	if x, err = FitNormals(t.Context(), huge, []int32{0, 0}, 1); err != nil {
		t.Fatal(err)
	}
	if v, err := x.Vectors(1); err != nil || v.Values[1] != math.MaxFloat32 {
		t.Errorf("the greatest deviation: %v, %v", v, err)
	}
}

// The values of a distribution with all of a matrix are those of its row, whatever the order of the others; kernels of sets have no other values.
func TestHyperbolicAgainst(t *testing.T) {
	x := normals(t, 30, 3, 1)
	g := hyperbolicGram(t, "hyperbolic:t=0.7", x, 2)
	m, err := g.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	order := []int{7, 3, 29, 0}
	dst := make([]float32, x.Len())
	for at, j := range order {
		if err := g.Against(x.In(order), at, dst); err != nil {
			t.Fatal(err)
		}
		for i, got := range dst {
			if i != j && got != m.Row(j)[i] || i == j && !(math.Abs(float64(got)-1) <= unit) {
				t.Errorf("distributions %d and %d: %v, expected %v", i, j, got, m.Row(j)[i])
			}
		}
	}
	if err := g.Against(normals(t, 3, 2, 1), 0, dst); err == nil {
		t.Error("distributions of other dimensions are compared")
	}
	k := Hyperbolic{T: 2}.Kernel()
	if h, ok := HyperbolicOf(Resolve(k, 4)); !ok || h.N != 4 || k.String() != "hyperbolic:t=2" {
		t.Errorf("%v resolves to %+v", k, h)
	}
	if _, ok := HyperbolicOf(MustParseKernel("linear")); ok {
		t.Error("a linear kernel compares sets")
	}
	for _, e := range []sparse.Embedding{{}, sparse.Sphere} { // an embedding wouldn't help
		_, err := newEngine(t, embedded(t, e, zipf(5, 20, 4, 1)), Options{}).Gram(t.Context(), k)
		if err == nil || !strings.Contains(err.Error(), "compares sets of points, found documents: FitNormals estimates") {
			t.Errorf("an engine's matrix of %v on documents embedded as %s: %v", k, e, err)
		}
	}
	wide := &sparse.CSR{Cols: 2000, Offsets: []int64{0, 2000, 4000}, Values: make([]float32, 4000)}
	for i := range wide.Values {
		wide.Terms, wide.Values[i] = append(wide.Terms, uint32(i%2000)), float32(1+i/2000)
	}
	many, err := FitNormals(t.Context(), wide, []int32{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 2001} {
		_, err := NewHyperbolic(t.Context(), Hyperbolic{T: 2, N: n}, many, Options{})
		if err == nil || !strings.Contains(err.Error(), "on points of 2000 coordinates, expected at most 1999 of them, one less than n: beyond, terms of") {
			t.Errorf("2000 coordinates, n = %d: %v", n, err)
		}
	}
}
