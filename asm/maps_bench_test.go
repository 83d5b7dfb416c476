package asm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMap measures the maps with data in the first-level cache, c as text has it (in [0, 1]).
func BenchmarkMap(b *testing.B) {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 2))
	c, y, dst := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range c {
		c[i], y[i] = rng.Float32(), 1+rng.Float32()
	}
	list := []struct {
		name string
		run  func(k *Kernels)
	}{
		{"exp", func(k *Kernels) { k.Exp(dst, c) }},
		{"diffusion", func(k *Kernels) { k.Diffusion(dst, c, 2) }},
		{"ngd", func(k *Kernels) { k.NGD(dst, c, 3.1415927) }},
		{"ngdexp", func(k *Kernels) { k.NGDExp(dst, c, 2) }},
		{"dot", func(k *Kernels) { k.Dot(dst, c, y, 1.5) }},
		{"gaussian", func(k *Kernels) { k.Gaussian(dst, c, y, 1.5, 0.5) }},
		{"arccosine0", func(k *Kernels) { k.ArcCosine0(dst, c) }},
		{"arccosine1", func(k *Kernels) { k.ArcCosine1(dst, c, y, 1.5) }},
		{"arccosine2", func(k *Kernels) { k.ArcCosine2(dst, c, y, 1.5) }},
	}
	for _, k := range tables {
		for _, m := range list {
			b.Run(fmt.Sprintf("isa=%s/map=%s/n=%d", k.ISA, m.name, n), func(b *testing.B) {
				for b.Loop() {
					m.run(k)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}
