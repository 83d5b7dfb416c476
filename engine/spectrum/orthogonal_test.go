package spectrum

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/internal/musttest"
)

// difference is the second difference, whose low end is dense: every vector is orthogonalised often.
type difference int

func (n difference) Len() int { return int(n) }
func (n difference) Apply(_ context.Context, dst, src []float64) error {
	for i, v := range src {
		dst[i] = 2 * v
		if i > 0 {
			dst[i] -= src[i-1]
		}
		if i+1 < len(src) {
			dst[i] -= src[i+1]
		}
	}
	return nil
}

// Any number of workers finds the same bits.
func TestLanczosWorkers(t *testing.T) {
	find := func(workers int) *Extremes {
		e := musttest.Get(Lanczos(t.Context(), difference(3001), Options{K: 3, Steps: 90, Workers: workers}))(t)
		return e
	}
	one := find(1)
	for _, workers := range []int{0, 2, 3, 16} {
		if e := find(workers); !slices.Equal(e.Largest, one.Largest) || !slices.Equal(e.Smallest, one.Smallest) {
			t.Errorf("%d workers find %+v, one finds %+v", workers, e, one)
		}
	}
}

// What is orthogonalised is orthogonal to rounding, above and below the work that is shared: a
// product of unit vectors of n values has an error of n·2⁻⁵³ at most, of which the second pass
// leaves that of its own products.
func TestOrthogonalise(t *testing.T) {
	for _, n := range []int{50, 5000} {
		l := &lanczos{ctx: t.Context(), n: n, workers: 3, random: rand.New(rand.NewPCG(1, uint64(n)))}
		for range 40 {
			musttest.Do(t, l.fresh())
		}
		v := make([]float64, n)
		for j, b := range l.basis { // next to the space
			floats.AddScaled(v, float64(j+1), b)
		}
		v[0] += 1e-3
		musttest.Do(t, l.orthogonalise(v))
		floats.Scale(1/floats.Norm(v, 2), v)
		for j, b := range l.basis {
			if dot := math.Abs(floats.Dot(b, v)); !(dot <= float64(n)*0x1p-53) {
				t.Errorf("%d values: the product with vector %d is %g", n, j, dot)
			}
		}
	}
}
