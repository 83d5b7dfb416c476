package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
)

// mapsReport is the report of bench -maps.
type mapsReport struct {
	benchHead
	Values int      `json:"values"` // that a call maps
	Rows   []mapRow `json:"rows"`
}

// mapRow is one map on one instruction set, one worker; medians over the rounds.
type mapRow struct {
	ISA             string  `json:"isa"`
	Map             string  `json:"map"`
	ValuesPerS      float64 `json:"values_per_s"`
	ValuesPerSLeast float64 `json:"values_per_s_least"`
	ValuesPerSMost  float64 `json:"values_per_s_most"`
	RatioToGeneric  float64 `json:"ratio_to_generic"`
	GramShare       float64 `json:"gram_map_share,omitempty"` // of the time of a whole matrix; where the map is measured in one

	run           func()
	gram          func(ctx context.Context) (float64, error)
	rates, shares []float64
}

// mapValues is the number of values in a call: 16 KiB in and as many out, at most the first-level cache.
const mapValues = 4096

// elementwise lists the maps on given data.
func elementwise(dst, c, y []float32) []struct {
	name string
	run  func(k *asm.Kernels)
} {
	return []struct {
		name string
		run  func(k *asm.Kernels)
	}{
		{"arccos", func(k *asm.Kernels) { k.ArcCos(dst, c) }},
		{"arccossq", func(k *asm.Kernels) { k.ArcCosSq(dst, c) }},
		{"exp", func(k *asm.Kernels) { k.Exp(dst, c) }},
		{diffusionMap, func(k *asm.Kernels) { k.Diffusion(dst, c, 2) }},
		{"ngd", func(k *asm.Kernels) { k.NGD(dst, c, 3.1415927) }},
		{"ngdexp", func(k *asm.Kernels) { k.NGDExp(dst, c, 2) }},
		{"dot", func(k *asm.Kernels) { k.Dot(dst, c, y, 1.5) }},
		{"gaussian", func(k *asm.Kernels) { k.Gaussian(dst, c, y, 1.5, 0.5) }},
		{"arccosine0", func(k *asm.Kernels) { k.ArcCosine0(dst, c) }},
		{"arccosine1", func(k *asm.Kernels) { k.ArcCosine1(dst, c, y, 1.5) }},
		{"arccosine2", func(k *asm.Kernels) { k.ArcCosine2(dst, c, y, 1.5) }},
	}
}

// diffusionMap is the map whose share of a whole matrix is measured.
const diffusionMap = "diffusion"

func (b *bench) measureMaps(ctx context.Context, head benchHead) (report, error) {
	r := &mapsReport{benchHead: head, Values: mapValues}
	if err := b.prepareMaps(ctx, r); err != nil {
		return nil, err
	}
	for round := range b.count {
		b.progress.stage(fmt.Sprintf("round %d of %d", round+1, b.count))
		for i := range r.Rows {
			row := &r.Rows[i]
			row.rates = append(row.rates, rateOf(1, func(int) func() float64 {
				return func() float64 { row.run(); return mapValues }
			}))
			if row.gram == nil {
				continue
			}
			share, err := row.gram(ctx)
			if err != nil {
				return nil, err
			}
			row.shares = append(row.shares, share)
		}
	}
	generic := map[string][]float64{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.ISA == string(asm.Generic) {
			generic[row.Map] = row.rates
		}
		row.ValuesPerS, row.ValuesPerSLeast, row.ValuesPerSMost = median(row.rates), slices.Min(row.rates), slices.Max(row.rates)
		ratios := make([]float64, len(row.rates))
		for j, rate := range row.rates {
			ratios[j] = over(rate, generic[row.Map][j])
		}
		row.RatioToGeneric = median(ratios)
		if row.gram != nil {
			row.GramShare = median(row.shares)
		}
	}
	return r, nil
}

// prepareMaps makes the rows, those of the generic instruction set first: the others are held against them, whatever -isa says.
func (b *bench) prepareMaps(ctx context.Context, r *mapsReport) error {
	rng := rand.New(rand.NewPCG(b.seed, 2))
	c, y, dst := make([]float32, mapValues), make([]float32, mapValues), make([]float32, mapValues)
	for i := range c {
		c[i], y[i] = rng.Float32(), 1+rng.Float32()
	}
	isas := b.isas()
	if !slices.Contains(isas, asm.Generic) {
		isas = append([]asm.ISA{asm.Generic}, isas...)
	}
	k, err := engine.ParseKernel("diffusion:t=0.5")
	if err != nil {
		return err
	}
	x, err := b.embed(ctx, k.Embedding())
	if err != nil {
		return err
	}
	n := x.Rows()
	if err := b.enough("a Gram matrix of "+counted(n, "document", "documents"), 4*int64(n)*int64(n)); err != nil {
		return err
	}
	matrix := &engine.Symmetric{N: n, Data: make([]float32, n*n)}
	touch(matrix.Data)
	b.held += 4 * int64(n) * int64(n)
	for _, isa := range isas {
		table, err := asm.For(isa)
		if err != nil {
			return err
		}
		e, err := b.newEngine(x, string(isa), 1, 0)
		if err != nil {
			return err
		}
		for _, m := range elementwise(dst, c, y) {
			row := mapRow{ISA: string(isa), Map: m.name, run: func() { m.run(table) }}
			if m.name == diffusionMap {
				row.gram = func(ctx context.Context) (float64, error) {
					before, begin := e.Stats(), time.Now()
					err := e.GramTo(ctx, k, matrix)
					seconds := time.Since(begin).Seconds()
					return e.Stats().Sub(before).Map.Seconds() / max(seconds, 1e-9), err
				}
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return nil
}

func (r *mapsReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.benchHead)
	t := newTable("isa", "map", ">values/s", ">least", ">most", ">x generic", ">gram share")
	for _, row := range r.Rows {
		share := ""
		if row.gram != nil {
			share = formatShare(row.GramShare)
		}
		t.add(row.ISA, row.Map, formatRate(row.ValuesPerS), formatRate(row.ValuesPerSLeast), formatRate(row.ValuesPerSMost), fmt.Sprintf("%.1f", row.RatioToGeneric), share)
	}
	t.write(w)
}
