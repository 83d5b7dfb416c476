package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// familyReport is the report of bench -family.
type familyReport struct {
	benchHead
	ISA  string      `json:"isa"`
	Base string      `json:"base_kernel"`
	Rows []familyRow `json:"rows"` // the slowest first
}

// familyRow is one kernel's whole matrix, one worker; medians over the rounds.
type familyRow struct {
	Kernel    string  `json:"kernel"`
	Embedding string  `json:"embedding"`
	Seconds   float64 `json:"seconds"`
	NsPerPair float64 `json:"map_ns_per_pair"` // of the map alone
	Ratio     float64 `json:"ratio_to_base"`
	Least     float64 `json:"ratio_to_base_least"`
	Most      float64 `json:"ratio_to_base_most"`

	run                   func(ctx context.Context) (seconds, mapSeconds float64, err error)
	seconds, maps, ratios []float64
}

// familyBase is the kernel that all others are held against.
const familyBase = "diffusion:t=0.5"

// familyEvery is how many kernels are measured between two matrices of the diffusion kernel.
const familyEvery = 4

// measureFamily computes the whole matrix of every kernel, and one of the diffusion kernel before every few, which they are held against: so a machine that changes
// its speed changes no ratio much.
func (b *bench) measureFamily(ctx context.Context, head benchHead) (report, error) {
	kernels, err := b.parseKernels(defaultKernels()...)
	if err != nil {
		return nil, err
	}
	if b.isa == "" {
		b.isa = string(asm.Best().ISA)
	}
	r := &familyReport{benchHead: head, ISA: b.isa, Base: familyBase}
	n := b.corpus.Documents.Rows()
	if err := b.enough("a Gram matrix of "+counted(n, "document", "documents"), 4*int64(n)*int64(n)); err != nil {
		return nil, err
	}
	matrix := &engine.Symmetric{N: n, Data: make([]float32, n*n)}
	touch(matrix.Data)
	b.held += 4 * int64(n) * int64(n)

	engines := map[string]*engine.Engine{}
	add := func(k engine.Kernel) (*familyRow, error) {
		x, err := b.embed(ctx, k.Embedding())
		if err != nil {
			return nil, err
		}
		name := k.Embedding().String()
		if engines[name] == nil {
			if engines[name], err = b.newEngine(x, b.isa, 1, 0); err != nil {
				return nil, err
			}
		}
		e := engines[name]
		row := &familyRow{Kernel: k.String(), Embedding: name}
		k = engine.Resolve(k, len(x.Embedder.Terms))
		// Tables are made at the first use.
		if err := engine.Apply(k, asm.Best(), make([]float32, 1), []float32{0.5}, []float32{1}, []float32{1}); err != nil {
			return nil, err
		}
		row.run = func(ctx context.Context) (float64, float64, error) {
			runtime.GC() // what others left is no part of this one's time
			before, begin := e.Stats(), time.Now()
			err := e.GramTo(ctx, k, matrix)
			return max(time.Since(begin).Seconds(), 1e-9), e.Stats().Sub(before).Map.Seconds(), err
		}
		return row, nil
	}
	base, err := add(engine.MustParseKernel(familyBase))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, k := range kernels {
		// Histograms have no dot products: their time is measured against a merge.
		if seen[k.String()] || len(b.kernels) == 0 && k.Embedding().Pairing != sparse.Dot {
			continue
		}
		seen[k.String()] = true
		row, err := add(k)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, *row)
	}
	for round := range b.count {
		var against float64
		for i := range r.Rows {
			row := &r.Rows[i]
			b.progress.stage(fmt.Sprintf("round %d of %d, kernel %d of %d, %s", round+1, b.count, i+1, len(r.Rows), shorten(row.Kernel, 40)))
			if i%familyEvery == 0 {
				if against, _, err = base.run(ctx); err != nil {
					return nil, err
				}
			}
			seconds, mapped, err := row.run(ctx)
			if err != nil {
				return nil, err
			}
			row.seconds, row.maps, row.ratios = append(row.seconds, seconds), append(row.maps, mapped), append(row.ratios, seconds/against)
		}
	}
	pairs := float64(n) * float64(n-1) / 2
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Seconds, row.NsPerPair = median(row.seconds), 1e9*median(row.maps)/pairs
		row.Ratio, row.Least, row.Most = median(row.ratios), slices.Min(row.ratios), slices.Max(row.ratios)
	}
	slices.SortStableFunc(r.Rows, func(a, b familyRow) int {
		switch {
		case a.Ratio > b.Ratio:
			return -1
		case a.Ratio < b.Ratio:
			return 1
		}
		return 0
	})
	return r, nil
}

func (r *familyReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.benchHead)
	fmt.Fprintf(w, "Whole matrices, %s, one worker, against that of %s before every few\n", r.ISA, r.Base)
	t := newTable("kernel", "embedding", ">seconds", ">map ns/pair", ">x diffusion", ">least", ">most")
	for _, row := range r.Rows {
		t.add(shorten(row.Kernel, 70), row.Embedding, formatSeconds(row.Seconds), fmt.Sprintf("%.2f", row.NsPerPair), fmt.Sprintf("%.2f", row.Ratio),
			fmt.Sprintf("%.2f", row.Least), fmt.Sprintf("%.2f", row.Most))
	}
	t.write(w)
}
