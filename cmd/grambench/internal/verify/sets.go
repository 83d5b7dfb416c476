package verify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/sparse"
)

// sets compares the kernel of sets of points with its definition: in a space of even dimension,
// where that is an integral, and in one of odd dimension, on sets from near to far apart. There is
// neither an embedding nor an instruction set.
func (v *verifier) sets(ctx context.Context) error {
	const sets, points = 50, 4
	for _, p := range []int{3, 4} {
		r := rand.New(rand.NewPCG(v.seed, uint64(p)))
		m := &sparse.CSR{Cols: p, Offsets: []int64{0}}
		var of []int32
		for s := range sets {
			apart := math.Exp(-10 * float64(s) / sets)
			for range points {
				for k := range p {
					m.Terms = append(m.Terms, uint32(k))
					m.Values = append(m.Values, float32(apart*(3*math.Sin(float64(s+k))+r.NormFloat64())))
				}
				m.Offsets = append(m.Offsets, int64(len(m.Terms)))
				of = append(of, int32(s))
			}
		}
		x, err := normal.Fit(ctx, m, of, sets)
		if err != nil {
			return err
		}
		h, err := kernel.ParseHyperbolic(kernel.SetKernels()[0].Examples[0])
		if err != nil {
			return err
		}
		g, err := engine.NewHyperbolic(ctx, h, x, engine.Options{Workers: v.Workers})
		if err != nil {
			return err
		}
		k, err := g.Gram(ctx)
		if err != nil {
			return err
		}
		var worst, failed, wrong float64
		for i := range sets {
			if err := ctx.Err(); err != nil {
				return err
			}
			for j := range sets {
				err, bound := math.Abs(k.At(i, j)-g.Eval(i, j)), g.Error(i, j)
				if !(err <= bound) {
					failed++
				}
				worst = max(worst, err)
				if math.Float32bits(k.Row(i)[j]) != math.Float32bits(k.Row(j)[i]) {
					wrong++
				}
			}
		}
		found := fmt.Sprintf("%s: %v of %v pairs out of tolerance, "+
			"%v differ from their mirror image, greatest error %.2g", g.Kernel(), failed, sets*sets, wrong, worst)
		v.report.Checks = append(v.report.Checks, check{
			ISA: string(asm.Generic), Embedding: fmt.Sprintf("points of R^%d", p), Found: found,
			Check: "hyperbolic kernels of sets of points as defined", Passed: failed == 0 && wrong == 0,
		})
	}
	return nil
}
