package gram

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// NeighbourOptions say which neighbours are looked for. The zero value works.
type NeighbourOptions struct {
	Options

	K      int            // most neighbours of a document; default 10
	Kernel string         // specification; default bhattacharyya, the cosine of √θ
	Min    *float64       // a neighbour's least kernel value; default none
	Of     *corpus.Corpus // neighbours are documents of this one; default the other documents of c
}

// Neighbour is a document and the kernel's value for it.
type Neighbour struct {
	Document int
	Value    float32
}

// Neighbours returns, for each document of c, the K others with the greatest kernel values, the greatest first. It
// compares all pairs. Element i of the result has the neighbours of document i, fewer if there are no more, as
// [engine.Engine.Neighbours] describes them. No matrix is kept.
//
// Texts without terms have the greatest value with equal texts and the least with others, if the kernel looks at c
// alone. Terms that only one of c and Of has count, as for [Cross].
//
// Errors: those of [Cross].
func Neighbours(ctx context.Context, c *corpus.Corpus, o NeighbourOptions) (_ [][]Neighbour, err error) {
	defer facade(&err)
	k, err := o.kernel(cmp.Or(o.Kernel, "bhattacharyya"))
	if err != nil {
		return nil, err
	}
	opt := engine.NeighbourOptions{Count: cmp.Or(o.K, 10), Min: o.Min}
	columns, rows := c, (*corpus.Corpus)(nil)
	if o.Of != nil {
		if err := checked(ctx, c); err != nil {
			return nil, err
		}
		columns, rows = o.Of, c
	}
	k, e, test, err := o.engineOn(ctx, columns, rows, k, !kernel.UsesNorms(k), "neighbours")
	if err != nil {
		return nil, err
	}
	defer closing(c, e, &err)
	opt.Test = test
	near, err := e.Neighbours(ctx, k, opt)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbour, near.Len())
	for i := range out {
		for _, n := range near.Of(i) {
			out[i] = append(out[i], Neighbour{int(n.Document), n.Value})
		}
	}
	return out, nil
}

// DuplicateOptions say what duplicates are. The zero value works.
type DuplicateOptions struct {
	Options

	Within    *float64 // greatest c = 1 − cosine of a pair, below 1; default 0.02, some two words of a hundred
	Embedding string   // of the documents; default tf-l1-sqrt
}

// Duplicates goes through the documents in order and drops each whose c = 1 − cosine with a document kept before it is
// at most Within, exactly. It returns a group for each kept document that others are dropped for: this one first, the
// others ascending, each in the group of the first that it may be dropped for. Equal texts are duplicates;
// texts without a term that differ are like no other; a vector of zeros is like another.
//
// Errors: those of [Gram], and a bound that isn't from 0 to below 1.
func Duplicates(ctx context.Context, c *corpus.Corpus, o DuplicateOptions) (_ [][]int32, err error) {
	defer facade(&err)
	within, embedding := 0.02, sparse.Sphere
	if o.Within != nil {
		within = *o.Within
	}
	if !(within >= 0 && within < 1) {
		return nil, fmt.Errorf("gram: duplicates within %v, expected from 0 to below 1", within)
	}
	if o.Embedding != "" {
		if embedding, err = sparse.ParseEmbedding(o.Embedding); err != nil {
			return nil, err
		}
	}
	_, x, err := o.embed(ctx, embedding, c, nil, true)
	if err != nil {
		return nil, err
	}
	w, err := engine.GroupsWithin(ctx, x, within, o.engine(x, "pairs"))
	if err != nil {
		return nil, err
	}
	return w.Groups, nil
}
