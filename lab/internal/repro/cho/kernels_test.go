package cho

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// The kernels agree with their formulas for vectors with known norms and angle.
func TestChoKernels(t *testing.T) {
	p := &settings{
		Kernels: families, Degrees: repro.Words{"0", "1", "2"}, MaxLayers: 3, MaxFactors: 3, Gammas: repro.Floats{2},
		Fractions: repro.Floats{1}, Biases: repro.Floats{0.5}, Sigmas: repro.Floats{0.5},
	}
	const x, y, c = 1.5, 2, 0.3 // norms, and 1 - cosine
	// J_n of the thesis as a function of the angle, divided by π; layers are composed with the
	// angle of the layer below.
	j := func(n int, a float64) float64 {
		s, co := math.Sincos(a)
		switch n {
		case 0:
			return (math.Pi - a) / math.Pi
		case 1:
			return (s + (math.Pi-a)*co) / math.Pi
		}
		return (3*s*co + (math.Pi-a)*(1+2*co*co)) / math.Pi
	}
	layers := func(degrees ...int) float64 {
		kxy, kx, ky := x*y*(1-c), x*x, float64(y*y)
		for _, n := range degrees {
			a := math.Acos(kxy / math.Sqrt(kx*ky))
			kxy = math.Pow(kx*ky, float64(n)/2) * j(n, a)
			kx, ky = math.Pow(kx, float64(n))*j(n, 0), math.Pow(ky, float64(n))*j(n, 0)
		}
		return kxy
	}
	normalised := func(degrees ...int) float64 { // normalised layers don't depend on the norms
		kxy, a := 0., math.Acos(1-c)
		for _, n := range degrees {
			kxy = j(n, a) / j(n, 0)
			a = math.Acos(kxy)
		}
		return kxy
	}
	want := map[string]float64{
		"linear":                              x * y * (1 - c),
		"Gaussian":                            math.Exp(-2. / 10 * (x*x + y*y - 2*x*y*(1-c))),
		"degree 0, 1 layer":                   layers(0),
		"degree 1, 3 layers":                  layers(1, 1, 1),
		"degree 2, 1 layer":                   layers(2),
		"degree 2, 3 layers, normalised":      normalised(2, 2, 2),
		"degree 0, then 1, 3 layers":          layers(0, 1, 1),
		"degree 2, then 1, 2 layers":          layers(2, 1),
		"degree 1, 3 factors":                 math.Pow(layers(1), 3),
		"degree 1":                            layers(1),
		"degree 2, 2 layers, as it is":        layers(2, 2),
		"degree 1, times degree 0, 3 factors": layers(1) * layers(0) * layers(0),
		"average of degrees 0, 1, 2":          (layers(0) + normalised(1) + normalised(2)),
		"average of degree 2, 1 to 3 layers":  normalised(2) + normalised(2, 2) + normalised(2, 2, 2),
		"average of degree 0, 1 to 3 factors": layers(0) + math.Pow(layers(0), 2) + math.Pow(layers(0), 3),
	}
	embedding := musttest.Get(sparse.ParseEmbedding("tf"))(t)
	found := 0
	for _, row := range p.kernelRows(3, 10) {
		k, err := kernel.ParseIn(row.specs[0], embedding)
		if err != nil {
			t.Fatalf("%s: %v", row.label, err)
		}
		v, ok := want[row.label]
		if !ok {
			continue
		}
		found++
		// Both sides have rounding errors of about ten float64 operations per layer, for at most 3
		// layers.
		if got := k.Eval(c, x, y); !(math.Abs(got-v) <= 1e-12*math.Abs(v)) {
			t.Errorf("%s, %s: %v, expected %v", row.label, row.specs[0], got, v)
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d kernels were there", found, len(want))
	}
	for norm, layers := range map[float64]int{1: 5, 9.2: 3, 1e5: 1} { // maximum layers within float32
		if !squareFits(norm, layers) || squareFits(norm, layers+1) {
			t.Errorf("norm %v: expected room for %d layers", norm, layers)
		}
	}
	specs := fmt.Sprint(p.kernelRows(3, 10))
	for _, part := range []string{"bias=1.5", "sigma=1.5", "gamma=0.2", "n=-0.25"} {
		if !strings.Contains(specs, part) {
			t.Errorf("no %s in %s", part, specs)
		}
	}
}
