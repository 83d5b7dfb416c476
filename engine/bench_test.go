package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// BenchmarkTiles measures dot products and c of all pairs, without storing a matrix.
func BenchmarkTiles(b *testing.B) {
	benchmarkPairs(b, sparse.Sphere, "", func(e *Engine) error {
		return e.Each(b.Context(), nil, Request{Half: true}, func(*Tile) error { return nil })
	})
}

// BenchmarkGram measures whole Gram matrices, stored in memory that earlier ones have touched.
func BenchmarkGram(b *testing.B) {
	for _, spec := range []string{"c", "diffusion:t=0.5", "chi2:gamma=1", "js:t=1"} {
		k := parse(b, spec)
		var g *Symmetric
		benchmarkPairs(b, k.Embedding(), "kernel="+k.String()+"/", func(e *Engine) error {
			if g == nil {
				g = &Symmetric{N: e.Len(), Data: make([]float32, e.Len()*e.Len())}
			}
			return e.GramTo(b.Context(), k, g)
		})
	}
}

// benchmarkPairs runs work for every instruction set on one worker, once before it counts.
// peak-share is the part, in percent, of the multiply-adds that Peak does in the same time, for
// those of the head while it is computed.
func benchmarkPairs(b *testing.B, embedding sparse.Embedding, prefix string, work func(e *Engine) error) {
	m := zipf(2000, 20000, 150, 1)
	x := embedded(b, embedding, m)
	for _, isa := range asm.Available() {
		b.Run(
			fmt.Sprintf("%sisa=%s/docs=%d/values=%d", prefix, isa, x.Rows(), x.NNZ()/int64(x.Rows())),
			func(b *testing.B) {
				e := newEngine(b, x, Options{ISA: string(isa), Workers: 1})
				musttest.Do(b, work(e))
				before, peak := e.Stats(), peakRate(e.c.Kernels)
				for b.Loop() {
					musttest.Do(b, work(e))
				}
				peak = (peak + peakRate(e.c.Kernels)) / 2
				s := e.Stats().Sub(before)
				pairs := float64(b.N) * float64(e.Len()) * float64(e.Len()-1) / 2
				madds := float64(s.HeadValues) * float64(e.c.Kernels.Panel)
				b.ReportMetric(pairs/b.Elapsed().Seconds(), "pairs/s")
				b.ReportMetric((madds+float64(s.TailMatches))/b.Elapsed().Seconds(), "madd/s")
				b.ReportMetric(100*madds/s.Head.Seconds()/peak, "peak-share")
			},
		)
	}
}

// peakRate measures the multiply-adds per second that one core does in registers, the best of five
// short runs.
func peakRate(k *asm.Kernels) float64 {
	const rounds = 20000
	sum := make([]float32, asm.PeakSums)
	best := 0.0
	for range 5 {
		begin := time.Now()
		k.Peak(sum, 0.5, 1, rounds)
		best = max(best, asm.PeakSums*rounds/time.Since(begin).Seconds())
	}
	return best
}
