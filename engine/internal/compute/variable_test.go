package compute

import (
	"testing"

	"github.com/gramengine/gram/engine/kernel"
)

// What the variable of a kernel takes in a line of a tile, to compare with the 5 to 15 ns that a pair takes.
func BenchmarkSubstitute(b *testing.B) {
	c, y := make([]float32, BlockDocs), make([]float64, BlockDocs)
	for i := range y {
		y[i] = float64(20 + i%30)
	}
	for name, of := range map[string]kernel.Variable{"product": kernel.OfProduct, "distance": kernel.OfDistance} {
		for _, whole := range []bool{false, true} {
			b.Run("of="+name+"/whole="+map[bool]string{false: "no", true: "yes"}[whole], func(b *testing.B) {
				dst := make([]float32, BlockDocs)
				for i := range c {
					c[i] = 0.7
				}
				for b.Loop() {
					substitute(of, dst, c, 25, y, whole)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c)), "ns/value")
			})
		}
	}
}
