package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/nearest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// NeighbourBlock holds lists for [Engine.MergeNeighbours]. Rows lists the neighbours of each row of
// a block among the block's columns. Columns lists the neighbours of each column among the rows,
// and is nil if rows and columns are the same. Neighbour.Value is c if the kernel is a decreasing
// function of c alone, else the kernel value.
type NeighbourBlock struct{ Rows, Columns [][]Neighbour }

// NeighbourBlock finds neighbours within a block of the matrix, with rows rows[0] <= i < rows[1]
// and columns columns[0] <= j < columns[1]. The two ranges must be equal or disjoint. If the blocks
// cover all pairs, the merged lists are the same as from [Engine.Neighbours], bit for bit. Each
// pair is computed once. opt.Groups and opt.TestDocuments must not be set.
func (e *Engine) NeighbourBlock(
	ctx context.Context, k kernel.Kernel, rows, columns [2]int, opt NeighbourOptions,
) (_ *NeighbourBlock, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	n := e.Len()
	for _, r := range [][2]int{rows, columns} {
		if r[0] < 0 || r[1] < r[0] || r[1] > n {
			return nil, fmt.Errorf("engine: block range [%d, %d) is outside [0, %d)", r[0], r[1], n)
		}
	}
	same := rows == columns
	if !same && rows[0] < columns[1] && columns[0] < rows[1] {
		return nil, fmt.Errorf(
			"engine: rows %d and columns %d of a block must be equal or disjoint", rows, columns)
	}
	s, err := e.newBlockSearch(k, opt)
	if err != nil {
		return nil, err
	}
	if s.scan.Accept != nil {
		s.scan.Accept = func(i, j int, key float32) bool { return s.atLeast(rows[0]+i, columns[0]+j, key) }
	}
	height, width := rows[1]-rows[0], columns[1]-columns[0]
	r := &device.Request{
		RowIndices: run.Range(0, rows[1])[rows[0]:], Lo: columns[0], Hi: columns[1],
		LastFirst: true, Workers: e.c.Workers,
	}
	pairs, count, counted := int64(height)*int64(width), min(opt.Count, width), min(opt.Count, height)
	held := nearest.Bytes(height, count)
	if same {
		r.Lo, r.UpperOnly, s.scan.UpperOnly = 0, true, true
		pairs, count = compute.TrianglePairCount(height), min(opt.Count, max(height-1, 0))
	} else {
		held = run.AddBytes(held, nearest.Bytes(width, counted))
	}
	if err := e.checkFits(ctx, fmt.Sprintf("lists of %d neighbours", count), held); err != nil {
		return nil, err
	}
	own := nearest.NewLists(height, count, s.maxKey, nil)
	others := own
	if !same {
		others = nearest.NewLists(width, counted, s.maxKey, nil)
	}
	if s.hasBoundedKeys(opt) {
		own.AddDisjoint(width, same)
		if !same {
			others.AddDisjoint(height, false)
		}
	}
	ctx, report := e.c.StartProgress(ctx, pairs)
	defer report.Finish(&err)
	err = e.c.ComputeRows(ctx, s.kernel, r, report, func(t *device.Tile) error {
		part := *t
		part.Lo, part.Hi = t.Lo-columns[0], t.Hi-columns[0]
		s.scan.Insert(own, others, &part)
		return nil
	})
	e.c.AddNeighbourCounts(s.scan.Candidates.Load(), s.scan.Insertions.Load())
	if err != nil {
		return nil, err
	}
	out := &NeighbourBlock{}
	if out.Rows, err = s.sortedLists(ctx, own, columns[0]); err != nil || same {
		return out, err
	}
	out.Columns, err = s.sortedLists(ctx, others, rows[0])
	return out, err
}

func (e *Engine) newBlockSearch(k kernel.Kernel, opt NeighbourOptions) (*search, error) {
	if opt.Groups != nil || opt.TestDocuments != nil {
		return nil, errors.New("engine: Groups and TestDocuments do not apply to a block")
	}
	return e.newNeighbourSearch(k, opt)
}

// sortedLists returns sorted lists, with first added to the document indices.
func (s *search) sortedLists(ctx context.Context, l *nearest.Lists, first int) ([][]Neighbour, error) {
	if err := s.sort(ctx, l, first, true); err != nil {
		return nil, err
	}
	out := make([][]Neighbour, l.Len())
	for i := range out {
		out[i] = l.List(i)
		for at := range out[i] {
			out[i][at].Document += uint32(first)
			if !s.byC {
				out[i][at].Value = 0 - out[i][at].Value // unlike -Value, 0 - Value is never -0
			}
		}
	}
	return out, nil
}

// MergeNeighbours merges the lists of blocks. parts[b][i] is the list of document first+i in block
// b, from [Engine.NeighbourBlock] with the same kernel and options. Blocks may be in any order.
// Lists of the same document must be disjoint.
func (e *Engine) MergeNeighbours(
	ctx context.Context, k kernel.Kernel, first int, parts [][][]Neighbour, opt NeighbourOptions,
) (_ *Neighbours, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, errors.New("engine: there are no neighbour lists to merge")
	}
	s, err := e.newBlockSearch(k, opt)
	if err != nil {
		return nil, err
	}
	n, count := len(parts[0]), min(opt.Count, max(e.Len()-1, 0))
	if first < 0 || first > e.Len()-n {
		return nil, fmt.Errorf("engine: documents %d to %d are out of range, because there are only %d documents",
			first, first+n-1, e.Len())
	}
	if err := e.checkFits(ctx, fmt.Sprintf("lists of %d neighbours", count), nearest.Bytes(n, count)); err != nil {
		return nil, err
	}
	lists := nearest.NewLists(n, count, s.maxKey, nil)
	for b, part := range parts {
		if len(part) != n {
			return nil, fmt.Errorf("engine: block %d has %d neighbour lists instead of %d", b, len(part), n)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for i, list := range part {
			for _, neighbour := range list {
				key := neighbour.Value
				if !s.byC {
					key = 0 - key
				}
				if key != key || int64(neighbour.Document) >= int64(e.Len()) {
					return nil, fmt.Errorf("engine: block %d has invalid neighbour %d with value %v; the last document is %d",
						b, neighbour.Document, neighbour.Value, e.Len()-1)
				}
				lists.Offer(i, key, int(neighbour.Document))
			}
		}
	}
	if err := s.sort(ctx, lists, first, false); err != nil {
		return nil, err
	}
	return &Neighbours{lists: lists}, nil
}
