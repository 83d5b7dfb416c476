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
	kind, size    string
	isa           asm.ISA
	values        int
	columns       int       // number of values in a row; 0 if values aren't in rows
	lowerTriangle bool      // true if values are a lower triangle: row i has columns 0 to i
	want          []float32 // first result
	computeTiles  func(ctx context.Context, out []float32) error
	compute       func(out []float32) // computes the values if computeTiles is nil; runs on the calling goroutine
}

const (
	kindTile, kindMap, kindPanel = "tile", "map", "panel"
)

func (t *task) String() string { return fmt.Sprintf("%s %s, %s", t.kind, t.size, t.isa) }

// position describes the position of a value in messages.
func (t *task) position(at int) string {
	switch {
	case t.lowerTriangle:
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
		s := synthetic.Spec{DocumentCount: n, TermCount: 3000, MeanLength: []int{400, 12, 150, 60}[k], ClassCount: 3,
			Seed:              seed,
			CopiesPerThousand: 50, MaxChangedWords: 2}
		c, err := corpus.Read(ctx, s.String(), corpus.Options{Workers: 1})
		if err != nil {
			return nil, err
		}
		x, err := sparse.SphereEmbedding.Fit(c.Documents).Transform(c.Documents)
		if err != nil {
			return nil, err
		}
		for _, isa := range sets {
			e, err := engine.New(x, engine.Options{ISA: string(isa), Workers: 1})
			if err != nil {
				return nil, err
			}
			list = append(list, newTileTask(e, isa, n))
		}
	}
	for _, isa := range sets {
		table, err := asm.KernelsFor(isa)
		if err != nil {
			return nil, err
		}
		for _, n := range []int{7, 1000, 16384} {
			list = append(list, newMapTasks(table, n, seed)...)
		}
		for _, values := range []int{3, 40, 300} {
			list = append(list, newPanelTask(table, values, seed))
		}
		if isa == sets[len(sets)-1] {
			list = append(list, newCorpusTasks(table, docs, seed)...)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, nil
}

// newTileTask returns a task that computes the cosine distance c of all pairs of documents, tile by
// tile.
func newTileTask(e *engine.Engine, isa asm.ISA, n int) *task {
	return &task{kind: kindTile, size: fmt.Sprintf("%d documents", n), isa: isa, values: rowStart(n), lowerTriangle: true,
		computeTiles: func(ctx context.Context, out []float32) error {
			return e.EachTile(ctx, nil, engine.Request{OmitSymmetric: true}, func(t *engine.Tile) error {
				for i := range t.Rows {
					for j, c := range t.Values[i*t.Stride:][:t.Cols] { // a tile on the diagonal contains each pair twice
						row, column := max(t.FirstRow+i, t.FirstColumn+j), min(t.FirstRow+i, t.FirstColumn+j)
						out[rowStart(row)+column] = c
					}
				}
				return nil
			})
		}}
}

// newMapTasks returns tasks that apply kernel maps to n values of c.
func newMapTasks(k *asm.Kernels, n int, seed uint64) (list []*task) {
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
		list = append(list, &task{kind: kindMap, size: size, isa: k.ISA, values: n, compute: m.of})
	}
	return list
}

// block holds arguments of asm.Kernels.PanelDot: a panel and a block of documents.
type block struct {
	panel   []float32
	docs    []uint8
	starts  []int64
	offsets []uint16
	values  []float32
}

func (b *block) computeDot(k *asm.Kernels, out []float32) {
	clear(out)
	k.PanelDot(out, b.panel, b.starts, b.docs, b.offsets, b.values)
}

// newPanelTask returns a task that computes dot products of a panel and documents with at most
// maxValues values each.
func newPanelTask(k *asm.Kernels, maxValues int, seed uint64) *task {
	b := newBlock(k, maxValues, seed)
	return &task{kind: kindPanel, size: fmt.Sprintf("of up to %d values", maxValues), isa: k.ISA,
		values: sparse.BlockSize * k.PanelWidth, columns: k.PanelWidth, compute: func(out []float32) { b.computeDot(k, out) }}
}

// corpusBytes returns 1.5 times the cache size, but at least 64 MiB and at most an eighth of the
// memory.
func corpusBytes(cache, memory int64) int64 { return min(max(cache+cache/2, 64<<20), memory/8) }

// newCorpusTasks returns tasks that compute dot products of a panel with the blocks of a corpus.
// Each task has a part of the blocks, and combines the results of these blocks into digests: h ←
// 31h + bits.
func newCorpusTasks(k *asm.Kernels, bytes int64, seed uint64) (list []*task) {
	const longest, part = 300, 64 << 20
	first := newBlock(k, longest, seed)
	own := int64(6 * len(first.values))
	for done := int64(0); done < bytes; {
		var blocks []*block
		for size := int64(0); done < bytes && size < part; size, done = size+own, done+own {
			b := *first // same values as the first block, at another address
			b.offsets, b.values = slices.Clone(b.offsets), slices.Clone(b.values)
			blocks = append(blocks, &b)
		}
		size := fmt.Sprintf("of a large corpus, part %d", len(list)+1)
		list = append(list, &task{kind: kindPanel, size: size, isa: k.ISA, values: sparse.BlockSize * k.PanelWidth,
			columns: k.PanelWidth, compute: func(out []float32) {
				clear(out)
				dot := make([]float32, len(out))
				for _, b := range blocks {
					b.computeDot(k, dot)
					for i, v := range dot {
						out[i] = math.Float32frombits(31*bitsOf(out[i]) + bitsOf(v))
					}
				}
			}})
	}
	return list
}

// newBlock returns a block of random documents, each with at most maxValues values.
func newBlock(k *asm.Kernels, maxValues int, seed uint64) *block {
	const terms = 400
	r := rand.New(rand.NewPCG(seed, uint64(maxValues)))
	panel, counts := make([]float32, terms*k.PanelWidth), make([]int, sparse.BlockSize)
	for i := range panel {
		panel[i] = r.Float32()
	}
	for i := range counts {
		counts[i] = r.IntN(maxValues + 1)
	}
	slices.Sort(counts) // required by PanelDot
	doc, start := make([]uint8, sparse.BlockSize), []int64{0}
	var offset []uint16
	var value []float32
	for p, d := range r.Perm(sparse.BlockSize) {
		doc[p] = uint8(d)
		for _, term := range r.Perm(terms)[:counts[p]] {
			offset, value = append(offset, uint16(term*k.PanelWidth)), append(value, r.Float32())
		}
		start = append(start, int64(len(value)))
	}
	return &block{panel, doc, start, offset, value}
}
