package bench

import (
	"context"
	"math/rand/v2"
	"runtime"

	"github.com/gramengine/gram/sparse"
)

// mergeDot returns the inner product of two documents by merging the sorted term lists, as in
// LIBSVM's Kernel::dot. It is the baseline of the benchmarks.
func mergeDot(at []uint32, av []float32, bt []uint32, bv []float32) (sum float64) {
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

// mergeRow returns the report row of the baseline, which computes c between each of 512 random
// documents and up to 512 consecutive documents.
func mergeRow(x *sparse.Embedded, seed uint64) *pairsRow {
	const rows, run = 512, 512
	n := x.Rows()
	r := rand.New(rand.NewPCG(seed, 1))
	type piece struct{ i, first, last int }
	pieces := make([]piece, rows)
	row := &pairsRow{ISA: "merge", Kernel: "c", NumDocuments: n, Workers: 1}
	for k := range pieces {
		first := r.IntN(max(n-run, 0) + 1)
		pieces[k] = piece{r.IntN(n), first, min(first+run, n)}
		row.NumPairs += int64(pieces[k].last - first)
	}
	row.run = func(ctx context.Context) error {
		var sink float64
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return err
			}
			at, av := x.Row(p.i)
			for j := p.first; j < p.last; j++ {
				bt, bv := x.Row(j)
				sink += 1 - mergeDot(at, av, bt, bv)
			}
		}
		runtime.KeepAlive(sink) // prevents the compiler from removing the loop
		return nil
	}
	row.merge = row
	return row
}
