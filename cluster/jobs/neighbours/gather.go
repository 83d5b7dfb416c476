package neighbours

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/blocks"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/table"
)

// gather writes the neighbours of all documents, one range of documents after another. It reads the
// result of each off-diagonal block twice, so that memory holds only the lists of one range.
func gather(ctx context.Context, j *job.Job, out *job.Output) (err error) {
	if out.Format != "" && out.Format != "tsv" {
		return fmt.Errorf("-to must be tsv, got %s", out.Format)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	c, err := j.Host.Corpus(ctx, j.CorpusDigest)
	if err != nil {
		return err
	}
	// Memory is needed for the lists of a range in all blocks, and for the merged lists.
	block, n := int64(min(o.BlockSize, o.NumRows)), int64(o.NumRows)
	if err := j.Host.CheckMemory(c, o.engine.Info().Bytes+(n+2*block)*(48+16*int64(min(o.K, o.BlockSize))),
		"the documents and the neighbour lists of %d documents", block); err != nil {
		return err
	}
	return out.WriteFile(func(w io.Writer) error {
		var failed error
		rows := func(yield func(source.NeighbourPair) bool) {
			for i := range o.BlocksPerSide() {
				near, err := o.merge(ctx, j, i)
				if err != nil {
					failed = err
					return
				}
				for r := range source.NeighbourPairs(near, o.Span(i)[0]) {
					if !yield(r) {
						return
					}
				}
				out.Progress(int64(i+1), int64(o.BlocksPerSide()))
			}
		}
		err := table.Write(ctx, w, "tsv", rows, source.NeighbourColumns(c, c, "value", false)...)
		return cmp.Or(failed, err)
	})
}

func (o *worker) merge(ctx context.Context, j *job.Job, i int) (*engine.Neighbours, error) {
	var parts [][][]engine.Neighbour
	var b []byte
	for other := range o.BlocksPerSide() {
		at := blocks.TaskOfBlock(max(i, other), min(i, other))
		var err error
		if b, err = j.Result(ctx, at, b[:0]); err != nil {
			return nil, err
		}
		rows, columns := o.listCounts(at)
		lists, err := decodeLists(b, rows, columns, o.K, other > i)
		if err != nil {
			return nil, fmt.Errorf("neighbours: result of task %d: %w", at, err)
		}
		parts = append(parts, lists)
	}
	return o.engine.MergeNeighbours(ctx, o.kernel, o.Span(i)[0], parts, o.options())
}
