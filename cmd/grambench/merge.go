package main

import (
	"context"
	"math/rand/v2"
	"runtime"

	"github.com/gramengine/gram/sparse"
)

// mergeDot returns the inner product of two sparse vectors by walking both sorted lists, the way of LIBSVM's Kernel::dot: it is the
// baseline of bench, not used for results.
func mergeDot(at []uint32, av []float32, bt []uint32, bv []float32) float64 {
	var sum float64
	i, j := 0, 0
	for i < len(at) && j < len(bt) {
		switch {
		case at[i] == bt[j]:
			sum += float64(av[i]) * float64(bv[j])
			i++
			j++
		case at[i] < bt[j]:
			i++
		default:
			j++
		}
	}
	return sum
}

// mergeBaseline returns a function that computes c for a sample of pairs by merging, and returns their number. The pairs are pieces of rows of the
// matrix, one document against a run of others, since that is the order in which a row is computed.
func mergeBaseline(x *sparse.Embedded, seed uint64) func(context.Context) (int64, error) {
	const rows, run = 512, 512
	n := x.Rows()
	r := rand.New(rand.NewPCG(seed, 1))
	type piece struct{ i, first, last int }
	pieces := make([]piece, rows)
	for k := range pieces {
		first := r.IntN(max(n-run, 0) + 1)
		pieces[k] = piece{r.IntN(n), first, min(first+run, n)}
	}
	return func(ctx context.Context) (pairs int64, err error) {
		var sink float64
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			at, av := x.Row(p.i)
			for j := p.first; j < p.last; j++ {
				bt, bv := x.Row(j)
				sink += 1 - mergeDot(at, av, bt, bv)
			}
			pairs += int64(p.last - p.first)
		}
		runtime.KeepAlive(sink) // or the compiler could leave the work out
		return pairs, nil
	}
}
