package asm

import (
	"fmt"
	"testing"
)

// Rows that stay in the first-level cache, and in the second.
func BenchmarkRowSums(b *testing.B) {
	for _, isa := range Available() {
		k, _ := For(isa)
		for _, rows := range []int{32, 512} {
			b.Run(fmt.Sprintf("isa=%s/rows=%d", isa, rows), func(b *testing.B) {
				const width = 64
				values, sum := make([]float32, rows*width), make([]float64, width)
				var at []int32
				for s := 0; s < rows; s += 2 {
					at = append(at, int32(s))
				}
				coef := make([]float64, len(at))
				for b.Loop() {
					k.RowSums(sum, values, 0, at, coef)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(at)), "ns/row")
			})
		}
	}
}
