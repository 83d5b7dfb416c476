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
