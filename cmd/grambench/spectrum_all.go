package main

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
)

// allOf returns all eigenvalues of m, centred if asked.
func allOf(ctx context.Context, m *engine.Symmetric, centre bool) ([]float64, error) {
	if centre {
		return spectrum.All(ctx, spectrum.Centre(m))
	}
	return spectrum.All(ctx, m)
}

// estimateAll returns about how many seconds all eigenvalues of n rows take: by a small matrix, whose time grows as n³ and some more once it has left the cache.
func estimateAll(ctx context.Context, n int) float64 {
	const small, cache = 256, 1.3
	if n <= small {
		return 0
	}
	r := rand.New(rand.NewPCG(1, 1))
	a := mat.NewSymDense(small, nil)
	for i := range small {
		for j := range i + 1 {
			a.SetSym(i, j, r.NormFloat64())
		}
	}
	begin := time.Now()
	if _, err := spectrum.All(ctx, a); err != nil {
		return 0
	}
	return cache * time.Since(begin).Seconds() * math.Pow(float64(n)/small, 3)
}

// expect lets the bar run for the given time, and wait below its end for what takes longer; the result ends it.
func (p *progress) expect(seconds float64) (stop func()) {
	if p.w == nil || !(seconds > 0) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		const parts = 1000
		begin, tick := time.Now(), time.NewTicker(200*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				p.update(int64(min(parts*time.Since(begin).Seconds()/seconds, 0.99*parts)), parts)
			}
		}
	}()
	return func() { close(done); <-ended }
}
