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

// gather writes the neighbours of all documents, one range of documents after another. It reads
// each result twice, so that memory holds only the lists of one range.
func gather(ctx context.Context, j *job.Job, out *job.Output) (err error) {
	if out.To != "" && out.To != "tsv" {
		return fmt.Errorf("-to must be tsv, got %s", out.To)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	c, err := j.Host.Corpus(ctx, j.Corpus)
	if err != nil {
		return err
	}
	// Memory is needed for the lists of a range in all blocks, and for the merged lists.
	block, n := int64(min(o.Block, o.Rows)), int64(o.Rows)
	if err := j.Host.Fits(c, o.engine.Info().Bytes+(n+2*block)*(48+16*int64(min(o.K, o.Block))),
		"the documents and the neighbour lists of %d documents", block); err != nil {
		return err
	}
	return out.File(func(w io.Writer) error {
		var failed error
		rows := func(yield func(source.Near) bool) {
			for i := range o.Blocks() {
				near, err := o.merge(ctx, j, i)
				if err != nil {
					failed = err
					return
				}
				for r := range source.Pairs(near, o.Span(i)[0]) {
					if !yield(r) {
						return
					}
				}
				out.Progress(int64(i+1), int64(o.Blocks()))
			}
		}
		err := table.Write(ctx, w, "tsv", rows, source.NearColumns(c, c, "value", false)...)
		return cmp.Or(failed, err)
	})
}

// merge returns the neighbours of the documents in range i.
func (o *opened) merge(ctx context.Context, j *job.Job, i int) (*engine.Neighbours, error) {
	var parts [][][]engine.Neighbour
	var b []byte
	for other := range o.Blocks() {
		at := blocks.Task(max(i, other), min(i, other))
		var err error
		if b, err = j.Result(ctx, at, b[:0]); err != nil {
			return nil, err
		}
		rows, columns := o.lengths(at)
		lists, err := decode(b, rows, columns, o.K, other > i)
		if err != nil {
			return nil, fmt.Errorf("neighbours: result of task %d: %w", at, err)
		}
		parts = append(parts, lists)
	}
	return o.engine.MergeNeighbours(ctx, o.kernel, o.Span(i)[0], parts, o.options())
}
