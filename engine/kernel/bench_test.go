package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
)

// The maps alone, on tiles as Gram makes them: 512 rows of a panel, c as text has it, most of it
// near 1, and norms of raw counts.
func BenchmarkMap(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 5))
	const rows, cols = 512, 64
	c, x, y := make([]float32, rows*cols), make([]float32, rows), make([]float32, cols)
	for i := range c {
		c[i] = 1 - float32(math.Pow(r.Float64(), 3))
	}
	for i := range x {
		x[i] = float32(math.Exp(3 + 1.5*r.NormFloat64()))
	}
	for j := range y {
		y[j] = float32(math.Exp(3 + 1.5*r.NormFloat64()))
	}
	dst := make([]float32, rows*cols)
	for _, isa := range asm.Available() {
		table := musttest.Get(asm.For(isa))(b)
		for _, spec := range mapSpecs() {
			k := MustParse(spec)
			b.Run(fmt.Sprintf("isa=%s/kernel=%s/k", isa, strings.ReplaceAll(spec, " ", "")), func(b *testing.B) {
				for b.Loop() {
					k.mapTo(table, dst, c, x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*cols), "ns/pair")
			})
		}
	}
}
