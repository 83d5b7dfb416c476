package lmnn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// findImpostors finds exactly the same documents as a loop over all pairs, near 0 and far from 0.
// The limits equal distances of other pairs, so that rounding matters.
func TestReach(t *testing.T) {
	for _, shape := range [][2]int{{2, 1}, {63, 3}, {64, 8}, {65, 17}, {1000, 5}, {2200, 40}} {
		n, d := shape[0], shape[1]
		for _, far := range []float64{0, 1e5} {
			t.Run(fmt.Sprintf("%dx%d/%v", n, d, far), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				x := mat.NewDense(n, d, nil)
				for i := range n {
					for c := range d {
						x.Set(i, c, far+float64(r.IntN(3)))
					}
				}
				p := &problem{x: x, k: 2, push: 0.5, workers: 2}
				for range n {
					p.y, p.targets = append(p.y, int32(r.IntN(2))), append(p.targets, int32(r.IntN(n)), -1)
				}
				unit := mat.NewDense(d, d, nil)
				for c := range d {
					unit.Set(c, c, 1.1)
				}
				count := musttest.Get(p.findImpostors(t.Context(), unit.RawMatrix().Data, 0.21))(t)
				z := musttest.Get(applyTransform(t.Context(), x, unit))(t)
				norms, sum := squaredNorms(z), 0
				for i := range n {
					limit := 1 + 0.21 + squaredDistance(z.RawRowView(i), z.RawRowView(int(p.targets[2*i])))
					var want []int32
					for l := range n {
						dot := floats.Dot(z.RawRowView(i), z.RawRowView(l))
						if p.y[l] != p.y[i] && norms[i]+norms[l]-2*dot < limit {
							want = append(want, int32(l))
						}
					}
					if !slices.Equal(p.impostors[i], want) {
						t.Fatalf("document %d: %d in reach, expected %d", i, len(p.impostors[i]), len(want))
					}
					sum += len(want)
				}
				if int64(sum) != count {
					t.Errorf("%d pairs, expected %d", count, sum)
				}
			})
		}
	}
}
