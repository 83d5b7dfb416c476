package compute

import "testing"

// The check of a tile in the second-level cache, to compare with the 5 to 15 ns that a pair takes.
func BenchmarkFinite(b *testing.B) {
	v := make([]float32, 64*BlockDocs)
	for i := range v {
		v[i] = float32(i)
	}
	for b.Loop() {
		if !allFinite(v) {
			b.Fatal("a number isn't finite")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v)), "ns/value")
}
