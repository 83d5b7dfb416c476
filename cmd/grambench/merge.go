package main

import (
	"context"
	"math"
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

// mergeName is what the baseline for x computes.
func mergeName(x *sparse.Embedded) string {
	return map[sparse.Pairing]string{sparse.Dot: "c", sparse.ChiSquare: "c of chi2", sparse.JensenShannon: "c of js"}[x.Embedder.Pairing]
}

// mergeRows returns a function that adds up c of document i and first <= j < last, each by merging.
func mergeRows(x *sparse.Embedded) func(i, first, last int) float64 {
	switch x.Embedder.Pairing {
	case sparse.ChiSquare:
		return func(i, first, last int) (sum float64) {
			at, av := x.Row(i)
			for j := first; j < last; j++ {
				bt, bv := x.Row(j)
				sum += 1 - mergeChiSquare(at, av, bt, bv)
			}
			return sum
		}
	case sparse.JensenShannon:
		entropy := make([]float32, len(x.Values)) // v ln v
		for k, v := range x.Values {
			entropy[k] = float32(float64(v) * math.Log(float64(v)))
		}
		return func(i, first, last int) (sum float64) {
			at, av := x.Row(i)
			ae := entropy[x.Offsets[i]:][:len(at)]
			for j := first; j < last; j++ {
				bt, bv := x.Row(j)
				sum += 1 - mergeJensenShannon(at, av, ae, bt, bv, entropy[x.Offsets[j]:][:len(bt)])
			}
			return sum
		}
	}
	return func(i, first, last int) (sum float64) {
		at, av := x.Row(i)
		for j := first; j < last; j++ {
			bt, bv := x.Row(j)
			sum += 1 - mergeDot(at, av, bt, bv)
		}
		return sum
	}
}

// mergeChiSquare is mergeDot for the χ² similarity of histograms, Σ 2ab/(a+b).
func mergeChiSquare(at []uint32, av []float32, bt []uint32, bv []float32) float64 {
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

// mergeJensenShannon is mergeDot for the Jensen-Shannon similarity, Σ ((a+b) ln(a+b) - a ln a - b ln b) / (2 ln 2). What depends on one document alone, v ln v, is given, so that
// a term takes one logarithm.
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
	similarity := mergeRows(x)
	return func(ctx context.Context) (pairs int64, err error) {
		var sink float64
		for _, p := range pieces {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			sink += similarity(p.i, p.first, p.last)
			pairs += int64(p.last - p.first)
		}
		runtime.KeepAlive(sink) // or the compiler could leave the work out
		return pairs, nil
	}
}
