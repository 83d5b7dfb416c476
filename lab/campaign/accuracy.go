package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

var accuracyPart = part{
	name: "accuracy", short: 15 * time.Second, long: 60 * time.Minute, prepare: prepareAccuracy,
	about: "hostile pairs of documents, on every kernel and instruction set, against float64 and the bound on the error",
}

// hostile draws documents: near duplicates one count apart, proportional ones, counts at opposite ends of float32,
// denormal weights, and now and then one with very many terms.
func hostile(r *rand.Rand, n int) *sparse.CSR {
	m := &sparse.CSR{Offsets: []int64{0}}
	terms := 1 << (1 + r.IntN(12))
	var last map[uint32]float32
	scale := float32(1)
	for range n {
		counts := maps.Clone(last)
		kind := r.IntN(10)
		switch {
		case counts == nil || kind < 4:
			counts = map[uint32]float32{}
			for range 1 + r.IntN(1+r.IntN(300)) {
				counts[uint32(float64(terms)*math.Pow(r.Float64(), 3))]++
			}
			scale = 1
		case kind == 4: // one count more
			counts[uint32(r.IntN(terms))] += scale
		case kind == 5:
			scale = float32(math.Exp2(float64(r.IntN(60) - 30)))
			for t := range counts {
				counts[t] *= scale
			}
		case kind == 6: // far more of one term than of others
			counts[uint32(r.IntN(terms))] = float32(math.Exp2(float64(r.IntN(40))))
		case kind == 7: // next to nothing of one term
			counts[uint32(r.IntN(terms))] = math.Float32frombits(1 + r.Uint32N(1<<22))
		case kind == 8:
			for t := range counts {
				counts[t] = float32(math.Exp2(float64(r.IntN(40) - 20)))
			}
		case r.IntN(200) == 0:
			for t := range uint32(1 << (10 + r.IntN(11))) {
				counts[t] = float32(1 + r.IntN(3))
			}
		}
		for _, t := range slices.Sorted(maps.Keys(counts)) {
			if v := counts[t]; v > 0 && v < 1e30 {
				m.Terms, m.Values, m.Cols = append(m.Terms, t), append(m.Values, v), max(m.Cols, int(t)+1)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		last = counts
	}
	return m
}

// bins is how many powers of ten below 1 the relations of errors to bounds are counted in, and what is less.
const bins = 9

func prepareAccuracy(_ context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	groups := map[sparse.Embedding][]kernel.Kernel{} // of all kernels, with those that embeddings change
	for _, spec := range slices.Concat(source.Examples(), source.Variants()) {
		k, err := kernel.Parse(spec)
		if err != nil {
			return nil, err
		}
		groups[k.Embedding()] = append(groups[k.Embedding()], k)
	}
	embeddings := slices.SortedFunc(maps.Keys(groups), func(a, b sparse.Embedding) int {
		return slices.Compare([]byte(a.String()), []byte(b.String()))
	})
	t.note("instruction sets", fmt.Sprint(asm.Available()))
	return func(ctx context.Context, number int64) error {
		e := embeddings[number%int64(len(embeddings))]
		m := hostile(t.r, 48)
		x, err := e.Fit(m).Transform(m)
		if err != nil {
			t.count("sets of documents that an embedding refuses", 1)
			return nil
		}
		return t.accuracy(ctx, x, groups[e])
	}, nil
}

// accuracy compares the matrices of kernels on documents.
func (t *trial) accuracy(ctx context.Context, x *sparse.Embedded, kernels []kernel.Kernel) error {
	n := x.Rows()
	ref := engine.NewReference(x)
	c := make([]float64, n*n)
	for i := range n {
		if err := ref.Row(ctx, i, c[i*n:(i+1)*n]); err != nil {
			return err
		}
	}
	var engines []*engine.Engine
	for _, isa := range asm.Available() {
		e, err := engine.New(x, engine.Options{ISA: string(isa), Workers: 1})
		if err != nil {
			return err
		}
		defer e.Close()
		engines = append(engines, e)
	}
	for _, spec := range kernels {
		k := ref.Resolve(spec)
		family := cmp.Or(kernel.Family(k), "composed")
		bounds := make([]float64, n*n)
		for at := range bounds {
			if i, j := at/n, at%n; i <= j {
				bounds[at] = kernel.Tolerance(k, c[at], ref.Norm(i), ref.Norm(j))
			}
		}
		for _, e := range engines {
			g, err := e.Gram(ctx, spec, nil)
			if errors.Is(err, engine.ErrNotFinite) {
				t.count("matrices refused since a value isn't finite", 1)
				continue
			}
			if err != nil && strings.Contains(err.Error(), "expected at most") {
				t.count("matrices refused since a norm is too large", 1)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", e.Info().Kernels.ISA, spec, err)
			}
			for i := range n {
				for j := i; j < n; j++ {
					want, got := k.Eval(c[i*n+j], ref.Norm(i), ref.Norm(j)), float64(g.Row(i)[j])
					if !t.compare(family, got, want, bounds[i*n+j]) {
						t.find("%s, %s: c = %v, norms %v and %v: %v, expected %v within %v", e.Info().Kernels.ISA, spec, c[i*n+j],
							ref.Norm(i), ref.Norm(j), got, want, bounds[i*n+j])
					}
				}
			}
		}
	}
	return nil
}

// compare reports whether an error is within its bound.
func (t *trial) compare(family string, got, want, bound float64) bool {
	if math.IsInf(bound, 1) {
		t.count("values without a bound", 1)
		return true
	}
	share := math.Abs(got-want) / bound
	if got == want {
		share = 0
	}
	t.count("values", 1)
	t.raise(family, share)
	at := 0
	if share > 0 {
		at = max(0, min(bins, bins+int(math.Ceil(math.Log10(share)))))
	}
	if t.Counts == nil {
		t.Counts = map[string][]int64{}
	}
	if t.Counts["all"] == nil {
		t.Counts["all"] = make([]int64, bins+1)
	}
	t.Counts["all"][at]++
	return share <= 1
}
