package asm

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkPanelDot measures panel dot products of a block with so many values a document as 20
// Newsgroups has in a segment of the head, everything in the second-level cache. peak-share is the
// part, in percent, of the multiply-adds that Peak does in the same time.
func BenchmarkPanelDot(b *testing.B) {
	const docs = 128
	for _, k := range tables() {
		for _, values := range []int{8, 20, 64} {
			b.Run(fmt.Sprintf("isa=%s/docs=%d/values=%d", k.ISA, docs, values), func(b *testing.B) {
				c := newPanelCase(rand.New(rand.NewPCG(1, 2)), k.Panel, docs, values/2, values+values/2, 100)
				out := make([]float32, docs*k.Panel)
				before := peakRate(k)
				for b.Loop() {
					k.PanelDot(out, c.panel, c.start, c.doc, c.offset, c.value)
				}
				n := float64(b.N) / b.Elapsed().Seconds()
				peak := (before + peakRate(k)) / 2
				madds := n * float64(c.start[docs]-c.start[0]) * float64(k.Panel)
				b.ReportMetric(n*float64(len(out)), "pairs/s")
				b.ReportMetric(madds, "madd/s")
				b.ReportMetric(100*madds/peak, "peak-share")
			})
		}
	}
}

// BenchmarkPeak measures multiply-adds in registers.
func BenchmarkPeak(b *testing.B) {
	for _, k := range tables() {
		b.Run("isa="+string(k.ISA), func(b *testing.B) {
			sum := make([]float32, PeakSums)
			const rounds = 1000
			for b.Loop() {
				k.Peak(sum, 0.5, 1, rounds)
			}
			b.ReportMetric(PeakSums*rounds*float64(b.N)/b.Elapsed().Seconds(), "madd/s")
		})
	}
}

// BenchmarkRead measures reading from the caches and from memory.
func BenchmarkRead(b *testing.B) {
	for _, k := range tables() {
		for _, kib := range []int{16, 256, 128 << 10} {
			b.Run(fmt.Sprintf("isa=%s/kib=%d", k.ISA, kib), func(b *testing.B) {
				src := make([]float32, kib<<8)
				for i := range src {
					src[i] = float32(i) // pages that nobody has written are all one page of zeros
				}
				b.SetBytes(int64(kib) << 10)
				for b.Loop() {
					k.Read(src)
				}
			})
		}
	}
}

// peakRate measures the multiply-adds per second that one core does in registers, the best of five
// short runs.
func peakRate(k *Kernels) float64 {
	const rounds = 20000
	sum := make([]float32, PeakSums)
	best := 0.0
	for range 5 {
		begin := time.Now()
		k.Peak(sum, 0.5, 1, rounds)
		best = max(best, PeakSums*rounds/time.Since(begin).Seconds())
	}
	return best
}
