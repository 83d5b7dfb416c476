package source

import (
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Documents have norms 0, 1, 2, 4, …. The diagonal is 0 if the norm, or its power, is too small
// compared with the bias, as in the matrix. Kernels with zero diagonals by definition are skipped,
// and a kernel of the cosine has zeros for all documents or none.
func TestZeroDiagonal(t *testing.T) {
	const rows = 12
	m := &sparse.CSR{Offsets: []int64{0, 0}, Cols: 1}
	for i := range rows - 1 {
		m.Terms, m.Values = append(m.Terms, 0), append(m.Values, float32(int(1)<<i))
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	engineOf := func(k kernel.Kernel) *engine.Engine {
		x := musttest.Get(k.Embedding().Fit(m).Transform(m))(t)
		return musttest.Get(engine.New(x, engine.Options{}))(t)
	}
	for spec, most := range map[string]float64{"arccos:n=0,bias=100": 4, "arccos:n=0,bias=1e9": 1024,
		"arccos:n=0,bias=-100": 0, "arccos:n=0,bias=0.1": 0,
		"product(arccos:n=0,bias=100,linear)": 4, "polynomial:gamma=1e-6,degree=8": 1,
		"polynomial:gamma=1e-18,degree=4": 1024, "ned": 0, "linear": 0, "ngd:shift=0": 0} {
		k := kernel.MustParse(spec)
		e := engineOf(k)
		found, least, greatest, err := zeroDiagonal(e, k)
		if err != nil || greatest != most || most > 0 && least != 1 {
			t.Errorf("%s: %d documents of norms %v to %v, expected norms from 1 to %v; error %v", spec, found, least, greatest,
				most, err)
		}
		g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
		zeros := 0
		for i := 1; i < rows; i++ {
			if g.Row(i)[i] == 0 {
				zeros++
			}
		}
		if kernel.PropertiesOf(kernel.Resolve(k, 1)).PositiveDiagonal && zeros != found {
			t.Errorf("%s: %d of the matrix, found %d", spec, zeros, found)
		}
	}
	k := kernel.MustParse("power(1e-18*diffusion:t=0.5):p=3")
	if found, _, _, err := zeroDiagonal(engineOf(k), k); err != nil || found != rows {
		t.Errorf("a kernel of the cosine below float32: found %d of %d documents, error %v", found, rows, err)
	}
}
