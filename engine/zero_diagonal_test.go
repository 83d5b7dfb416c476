package engine

import (
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Of documents of the norms 1, 2, 4, … and an empty one, those that are short beside the bias, or
// whose powers are, have a diagonal of 0: the matrix says the same. Kernels whose diagonal is 0 by
// nature have nothing to be found, and a kernel of the cosine alone has it for all or none.
func TestZeroDiagonal(t *testing.T) {
	const rows = 12
	m := &sparse.CSR{Offsets: []int64{0, 0}, Cols: 1}
	for i := range rows - 1 {
		m.Terms, m.Values = append(m.Terms, 0), append(m.Values, float32(int(1)<<i))
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	for spec, most := range map[string]float64{"arccos:n=0,bias=100": 4, "arccos:n=0,bias=1e9": 1024,
		"arccos:n=0,bias=-100": 0, "arccos:n=0,bias=0.1": 0,
		"product(arccos:n=0,bias=100,linear)": 4, "polynomial:gamma=1e-6,degree=8": 1,
		"polynomial:gamma=1e-18,degree=4": 1024, "ned": 0, "linear": 0, "ngd:shift=0": 0} {
		k := parse(t, spec)
		e := newEngine(t, embedded(t, k.Embedding(), m), Options{})
		found := musttest.Get(e.ZeroDiagonal(k))(t)
		if found.MostNorm != most || most > 0 && found.LeastNorm != 1 {
			t.Errorf("%s: found %+v, expected norms from 1 to %v", spec, found, most)
		}
		g := musttest.Get(e.Gram(t.Context(), k))(t)
		zeros := 0
		for i := 1; i < rows; i++ {
			if g.Row(i)[i] == 0 {
				zeros++
			}
		}
		if kernel.PropertiesOf(kernel.Resolve(k, 1)).PositiveDiagonal && zeros != found.Documents {
			t.Errorf("%s: %d of the matrix, found %d", spec, zeros, found.Documents)
		}
	}
	k := parse(t, "power(1e-18*diffusion:t=0.5):p=3")
	if found, err := newEngine(t, embedded(t, k.Embedding(), m), Options{}).ZeroDiagonal(k); err != nil ||
		found.Documents != rows {
		t.Errorf("a kernel of the cosine below float32: found %+v of %d documents, error %v", found, rows, err)
	}
	if _, err := newEngine(t, embedded(t, k.Embedding(), m), Options{}).ZeroDiagonal(parse(t,
		"linear:embed=tfidf")); err == nil {
		t.Error("documents of another embedding are taken")
	}
}
