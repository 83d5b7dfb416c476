package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/gramengine/gram/sparse"
)

// The baseline walks the sorted lists of two documents, in the way of LIBSVM's Kernel::dot. It is
// not used for results.

// merging computes the similarity of documents a and b from their terms, values and what else the
// pairing wants to know of each value.
type merging func(at []uint32, av, ae []float32, bt []uint32, bv, be []float32) float64

// mergeDot returns the inner product.
func mergeDot(at []uint32, av, _ []float32, bt []uint32, bv, _ []float32) (sum float64) {
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

// mergeChiSquare returns the χ² similarity of histograms, Σ 2ab/(a+b).
func mergeChiSquare(at []uint32, av, _ []float32, bt []uint32, bv, _ []float32) float64 {
	var sum float64
	i, j := 0, 0
	for i < len(at) && j < len(bt) {
		switch {
		case at[i] == bt[j]:
			a, b := float64(av[i]), float64(bv[j])
			sum += a * b / (a + b)
			i++
			j++
		case at[i] < bt[j]:
			i++
		default:
			j++
		}
	}
	return 2 * sum
}

// mergeJensenShannon returns the Jensen-Shannon similarity, Σ ((a+b) ln(a+b) - a ln a - b ln b) /
// (2 ln 2). v ln v is given for each value v, so that a term takes one logarithm.
func mergeJensenShannon(at []uint32, av, ae []float32, bt []uint32, bv, be []float32) float64 {
	var sum float64
	i, j := 0, 0
	for i < len(at) && j < len(bt) {
		switch {
		case at[i] == bt[j]:
			s := float64(av[i]) + float64(bv[j])
			sum += s*math.Log(s) - float64(ae[i]) - float64(be[j])
			i++
			j++
		case at[i] < bt[j]:
			i++
		default:
			j++
		}
	}
	return sum / (2 * math.Ln2)
}

// mergeRows returns what the baseline for x computes, and a function that adds up c of document i
// and first <= j < last.
func mergeRows(x *sparse.Embedded) (name string, sum func(i, first, last int) float64) {
	similarity, name, extra := merging(mergeDot), "c", x.Values
	switch x.Embedder.Pairing {
	case sparse.ChiSquare:
		similarity, name = mergeChiSquare, "c of chi2"
	case sparse.JensenShannon:
		similarity, name, extra = mergeJensenShannon, "c of js", make([]float32, len(x.Values))
		for k, v := range x.Values {
			extra[k] = float32(float64(v) * math.Log(float64(v)))
		}
	}
	return name, func(i, first, last int) (sum float64) {
		at, av := x.Row(i)
		ae := extra[x.Offsets[i]:][:len(at)]
		for j := first; j < last; j++ {
			bt, bv := x.Row(j)
			sum += 1 - similarity(at, av, ae, bt, bv, extra[x.Offsets[j]:][:len(bt)])
		}
		return sum
	}
}

// mergeRow returns the row of the baseline, which computes c for a sample of pairs. The pairs are
// pieces of rows of the matrix, one document against a run of others, since that is the order in
// which a row is computed.
func mergeRow(x *sparse.Embedded, seed uint64) *pairsRow {
	const rows, run = 512, 512
	n := x.Rows()
	r := rand.New(rand.NewPCG(seed, 1))
	type piece struct{ i, first, last int }
	pieces := make([]piece, rows)
	name, sum := mergeRows(x)
	row := &pairsRow{ISA: "merge", Kernel: name, Documents: n, Workers: 1}
	for k := range pieces {
		first := r.IntN(max(n-run, 0) + 1)
		pieces[k] = piece{r.IntN(n), first, min(first+run, n)}
		row.Pairs += int64(pieces[k].last - first)
	}
	row.run = func(ctx context.Context) error {
		var sink float64
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return err
			}
			sink += sum(p.i, p.first, p.last)
		}
		runtime.KeepAlive(sink) // or the compiler could leave the work out
		return nil
	}
	row.merge = row
	return row
}
