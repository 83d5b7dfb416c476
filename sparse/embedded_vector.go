package sparse

import "math"

// Vector64 returns row i in float64 as the embedding has it, before it is scaled to length 1: x of
// [Embedder.Transform], parallel to the columns that Row(i) returns. A program that computes
// kernels from vectors must be given these for the same kernel values. It is written into dst,
// which grows where it is too short. Without such a row, and without norms, it panics. A document
// without known terms has the value Norms[i] in the last column.
//
// Without a normalisation the values are the weighted ones of the corpus, or their square roots,
// each rounded once, or another power p of them, to 4+2p ulp; otherwise each carries at most one
// rounding beyond those of [Embedded.Unit64] and of the norm.
func (x *Embedded) Vector64(i int, dst []float64) []float64 {
	dst = x.Unit64(i, dst)
	lo, norm := x.Offsets[i], x.Norms[i]
	for k := range dst {
		if x.Embedder.Norm != NormNone || norm == 0 {
			dst[k] *= norm
			continue
		}
		dst[k] = x.Embedder.weighted(x.Terms[lo+int64(k)], x.Raw[lo+int64(k)])
		switch {
		case x.Embedder.Power == Root:
			dst[k] = math.Sqrt(dst[k])
		case x.Embedder.general():
			dst[k] = power(dst[k], x.Embedder.Power)
		}
	}
	return dst
}
