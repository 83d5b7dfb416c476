package soak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/synthetic"
	"github.com/gramengine/gram/sparse"
)

// task is a computation whose results are always the same, bit for bit.
type task struct {
	kind, size string
	isa        asm.ISA
	values     int
	columns    int       // number of values in a row; 0 if values aren't in rows
	half       bool      // values are a lower triangle: row i has columns 0 to i
	want       []float32 // first result
	tiles      func(ctx context.Context, out []float32) error
	plain      func(out []float32) // used if tiles is nil; runs on the calling goroutine
}

const (
	kindTile, kindMap, kindPanel = "tile", "map", "panel"
)

func (t *task) String() string { return fmt.Sprintf("%s %s, %s", t.kind, t.size, t.isa) }

// place describes the position of a value in messages.
func (t *task) place(at int) string {
	switch {
	case t.half:
		row := sort.Search(t.values, func(i int) bool { return rowStart(i+1) > at })
		return fmt.Sprintf("row %d, column %d", row, at-rowStart(row))
	case t.columns > 0:
		return fmt.Sprintf("row %d, column %d", at/t.columns, at%t.columns)
	}
	return fmt.Sprintf("value %d", at)
}

// rowStart returns the index at which row i of a lower triangle begins.
func rowStart(i int) int { return i * (i + 1) / 2 }

// newTasks returns tasks of all kinds, sizes and instruction sets, in random order. docs is the
// size of the largest corpus in bytes; only the last instruction set uses this corpus.
func newTasks(ctx context.Context, sets []asm.ISA, docs int64, seed uint64) (list []*task, err error) {
	for k, n := range []int{65, 300, 513, 900} {
		// Short documents have mostly tail terms. Pairs of near copies are recomputed exactly.
		s := synthetic.Spec{Documents: n, Terms: 3000, Length: []int{400, 12, 150, 60}[k], Classes: 3, Seed: seed,
			Copies: 50, Changed: 2}
		c, err := corpus.Read(ctx, s.String(), corpus.Options{Workers: 1})
		if err != nil {
			return nil, err
		}
		x, err := sparse.Sphere.Fit(c.Documents).Transform(c.Documents)
		if err != nil {
			return nil, err
		}
		for _, isa := range sets {
			e, err := engine.New(x, engine.Options{ISA: string(isa), Workers: 1})
			if err != nil {
				return nil, err
			}
			list = append(list, tileTask(e, isa, n))
		}
	}
	for _, isa := range sets {
		table, err := asm.For(isa)
		if err != nil {
			return nil, err
		}
		for _, n := range []int{7, 1000, 16384} {
			list = append(list, mapTasks(table, n, seed)...)
		}
		for _, values := range []int{3, 40, 300} {
			list = append(list, panelTask(table, values, seed))
		}
		if isa == sets[len(sets)-1] {
			list = append(list, corpusTasks(table, docs, seed)...)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, nil
}

// tileTask computes c of all pairs of documents, tile by tile.
func tileTask(e *engine.Engine, isa asm.ISA, n int) *task {
	return &task{kind: kindTile, size: fmt.Sprintf("%d documents", n), isa: isa, values: rowStart(n), half: true,
		tiles: func(ctx context.Context, out []float32) error {
			return e.Each(ctx, nil, engine.Request{Half: true}, func(t *engine.Tile) error {
				for i := range t.Rows {
					for j, c := range t.C[i*t.Width:][:t.Cols] { // a tile on the diagonal contains each pair twice
						row, column := max(t.First+i, t.Column+j), min(t.First+i, t.Column+j)
						out[rowStart(row)+column] = c
					}
				}
				return nil
			})
		}}
}

// mapTasks returns tasks that apply kernel maps to n values of c.
func mapTasks(k *asm.Kernels, n int, seed uint64) (list []*task) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	c, y := make([]float32, n), make([]float32, n)
	for i := range c {
		c[i], y[i] = 2*r.Float32(), 3*r.Float32()
	}
	const x, t = 1.5, 2
	for _, m := range []struct {
		name string
		of   func(dst []float32)
	}{
		{"exp", func(dst []float32) { k.Exp(dst, c) }},
		{"diffusion", func(dst []float32) { k.Diffusion(dst, c, t) }},
		{"ngd", func(dst []float32) { k.NGD(dst, c, 1) }},
		{"ngd-exp", func(dst []float32) { k.NGDExp(dst, c, t) }},
		{"linear", func(dst []float32) { k.Dot(dst, c, y, x) }},
		{"rbf", func(dst []float32) { k.Gaussian(dst, c, y, x, 0.7) }},
		{"arccos 0", func(dst []float32) { k.ArcCosine0(dst, c) }},
		{"arccos 1", func(dst []float32) { k.ArcCosine1(dst, c, y, x) }},
		{"arccos 2", func(dst []float32) { k.ArcCosine2(dst, c, y, x) }},
	} {
		size := fmt.Sprintf("%s of %d values", m.name, n)
		list = append(list, &task{kind: kindMap, size: size, isa: k.ISA, values: n, plain: m.of})
	}
	return list
}

// block is a block of documents with a panel, as for asm.Kernels.PanelDot.
type block struct {
	panel  []float32
	doc    []uint8
	start  []int64
	offset []uint16
	value  []float32
}

func (b *block) dot(k *asm.Kernels, out []float32) {
	clear(out)
	k.PanelDot(out, b.panel, b.start, b.doc, b.offset, b.value)
}

// panelTask computes dot products of a panel and documents. most is the maximum number of values
// per document.
func panelTask(k *asm.Kernels, most int, seed uint64) *task {
	b := newBlock(k, most, seed)
	return &task{kind: kindPanel, size: fmt.Sprintf("of up to %d values", most), isa: k.ISA,
		values: sparse.Block * k.Panel, columns: k.Panel, plain: func(out []float32) { b.dot(k, out) }}
}

// corpusBytes returns 1.5 times the cache size, but at least 64 MiB and at most an eighth of the
// memory.
func corpusBytes(cache, memory int64) int64 { return min(max(cache+cache/2, 64<<20), memory/8) }

// corpusTasks returns tasks that compute dot products of a panel with the blocks of a corpus. Each
// task has a part of the blocks, and combines their results into digests: h ← 31h + bits.
func corpusTasks(k *asm.Kernels, bytes int64, seed uint64) (list []*task) {
	const longest, part = 300, 64 << 20
	first := newBlock(k, longest, seed)
	own := int64(6 * len(first.value))
	for done := int64(0); done < bytes; {
		var blocks []*block
		for size := int64(0); done < bytes && size < part; size, done = size+own, done+own {
			b := *first // same values as the first block, at another address
			b.offset, b.value = slices.Clone(b.offset), slices.Clone(b.value)
			blocks = append(blocks, &b)
		}
		size := fmt.Sprintf("of a large corpus, part %d", len(list)+1)
		list = append(list, &task{kind: kindPanel, size: size, isa: k.ISA, values: sparse.Block * k.Panel,
			columns: k.Panel, plain: func(out []float32) {
				clear(out)
				dot := make([]float32, len(out))
				for _, b := range blocks {
					b.dot(k, dot)
					for i, v := range dot {
						out[i] = math.Float32frombits(31*bitsOf(out[i]) + bitsOf(v))
					}
				}
			}})
	}
	return list
}

// newBlock returns a block of random documents, each with at most most values.
func newBlock(k *asm.Kernels, most int, seed uint64) *block {
	const terms = 400
	r := rand.New(rand.NewPCG(seed, uint64(most)))
	panel, counts := make([]float32, terms*k.Panel), make([]int, sparse.Block)
	for i := range panel {
		panel[i] = r.Float32()
	}
	for i := range counts {
		counts[i] = r.IntN(most + 1)
	}
	slices.Sort(counts) // required by PanelDot
	doc, start := make([]uint8, sparse.Block), []int64{0}
	var offset []uint16
	var value []float32
	for p, d := range r.Perm(sparse.Block) {
		doc[p] = uint8(d)
		for _, term := range r.Perm(terms)[:counts[p]] {
			offset, value = append(offset, uint16(term*k.Panel)), append(value, r.Float32())
		}
		start = append(start, int64(len(value)))
	}
	return &block{panel, doc, start, offset, value}
}
