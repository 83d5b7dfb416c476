package engine

import "github.com/gramengine/gram/asm"

// headTerms chooses the number of terms that the dense head holds, for n documents and document frequencies in falling order.
//
// A term of document frequency f costs, over all n/R panels that the n documents stream past, f·n/R panel values when it is in the head and f² matches when it
// is in the tail, so that it belongs to the head while f > n/R · HeadValue/TailMatch.
func headTerms(k *asm.Kernels, df []int32, n int) int {
	least := float64(n) / float64(k.Panel) * k.Cost.HeadValue / k.Cost.TailMatch
	h := 0
	for h < len(df) && float64(df[h]) > least {
		h++
	}
	return h
}

// Bounds of a segment of the head. Each segment is a block of the sum: where two documents have many equal products, as text with its many
// single words has, adding them up in float32 errs to one side, by up to 10⁻⁸ of the sum for every term, so that 128 terms stay near 10⁻⁶ at worst and
// 32, as most documents have, far below.
const (
	segmentTerms  = 128 // most terms
	segmentValues = 32  // most values in the mean document, unless a single term has more
)

// segments divides a head of the given number of terms into segments, for n documents and document frequencies in falling order.
func segments(df []int32, n, head int) (bounds []int) {
	bounds = []int{0}
	values := 0.0
	for r := range head {
		mean := float64(df[r]) / float64(n)
		if first := bounds[len(bounds)-1]; r > first && (r-first == segmentTerms || values+mean > segmentValues) {
			bounds = append(bounds, r)
			values = 0
		}
		values += mean
	}
	if head > 0 {
		bounds = append(bounds, head)
	}
	return bounds
}
