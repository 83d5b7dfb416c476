package solver

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/tiles"
)

// decideColumns is how many columns of kernel values are turned at a time, so that they are added
// up while they are in the first-level cache.
const decideColumns = 64

// predictRows calls each with the decision values of documents of the matrix, from up to
// opt.Workers goroutines at a time; each must not keep them.
func (c *Classifier) predictRows(ctx context.Context, m *source, docs []int, opt *Options, each func(i int, decisions []float64)) error {
	ranges := rangesOf(c.Support())
	var columns []int
	for _, r := range ranges {
		for d := r[0]; d < r[1]; d++ {
			columns = append(columns, d)
		}
	}
	p, err := c.NewPredictor(columns, opt.Kernels)
	if err != nil {
		return err
	}
	width := opt.Kernels.Panel
	blocks := (len(docs) + width - 1) / width
	deciders := make([]*rowDecider, max(1, min(opt.Workers, blocks)))
	return tiles.Run(ctx, len(deciders), blocks, func(ctx context.Context, w, at int) (err error) {
		if deciders[w] == nil {
			if deciders[w], err = p.newRowDecider(m, ranges, width); err != nil {
				return err
			}
		}
		return deciders[w].decide(ctx, docs[at*width:min((at+1)*width, len(docs))], each)
	})
}

// rangesOf covers increasing documents by ranges; gaps narrower than mergeGap are covered, too.
func rangesOf(docs []int) [][2]int {
	var ranges [][2]int
	for _, d := range docs {
		if last := len(ranges) - 1; last >= 0 && d-ranges[last][1] < mergeGap {
			ranges[last][1] = d + 1
		} else {
			ranges = append(ranges, [2]int{d, d + 1})
		}
	}
	return ranges
}

// rowDecider predicts documents of a matrix, a panel at a time, on one goroutine.
type rowDecider struct {
	m       *source
	k       *asm.Kernels
	ranges  [][2]int
	sums    *Sums
	rows    []float32 // [document][column]
	dst     [][]float32
	turned  []float32 // [column][document]
	results []float64
	columns int
}

func (p *Predictor) newRowDecider(m *source, ranges [][2]int, width int) (*rowDecider, error) {
	sums, err := p.NewSums(width)
	if err != nil {
		return nil, err
	}
	w := &rowDecider{
		m: m, k: p.k, ranges: ranges, sums: sums, columns: p.columns, rows: make([]float32, width*p.columns), turned: make([]float32, width*decideColumns),
		results: make([]float64, len(p.c.Machines)),
	}
	for row := range slices.Chunk(w.rows, max(p.columns, 1)) {
		w.dst = append(w.dst, row)
	}
	return w, nil
}

// decide predicts up to a panel of documents.
func (w *rowDecider) decide(ctx context.Context, docs []int, each func(i int, decisions []float64)) error {
	if w.columns > 0 {
		if err := w.m.Rows(ctx, docs, w.ranges, w.dst[:len(docs)]); err != nil {
			return err
		}
	}
	w.sums.Start()
	width := w.sums.width
	for first := 0; first < w.columns; first += decideColumns {
		n := min(decideColumns, w.columns-first)
		w.k.Transpose(w.turned, width, w.rows[first:], w.columns, len(docs), n)
		if err := w.sums.Add(first, w.turned[:n*width]); err != nil {
			return err
		}
	}
	for r, i := range docs {
		if err := w.sums.Result(r, w.results); err != nil {
			return err
		}
		each(i, w.results)
	}
	return nil
}
