package gram

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// NeighbourOptions say which neighbours are looked for. The zero value works.
type NeighbourOptions struct {
	Options

	K      int            // most neighbours of a document; default 10
	Kernel string         // specification; default bhattacharyya, the cosine of √θ
	Min    *float64       // a neighbour's least kernel value; default none
	Of     *sparse.Corpus // neighbours are documents of this one; default the other documents of c
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
// Errors: those of [Gram].
func Neighbours(ctx context.Context, c *sparse.Corpus, o NeighbourOptions) (_ [][]Neighbour, err error) {
	defer facade(&err)
	spec := o.Kernel
	if spec == "" {
		spec = "bhattacharyya"
	}
	if o.K == 0 {
		o.K = 10
	}
	opt := engine.NeighbourOptions{Count: o.K, Least: o.Min}
	columns := c
	var test *sparse.CSR
	if o.Of != nil {
		columns = o.Of
		if test, err = sameTerms(ctx, c, columns); err != nil {
			return nil, err
		}
	}
	x, k, e, err := o.engineFor(ctx, columns, spec, "neighbours")
	if err != nil {
		return nil, err
	}
	defer closing(e, &err)
	var near *engine.Neighbours
	if test == nil {
		near, err = e.Neighbours(ctx, k, opt)
	} else {
		var embedded *sparse.Embedded
		if embedded, err = x.Embedder.TransformRows(ctx, test, nil, o.Workers); err != nil {
			return nil, c.NameValue(err)
		}
		near, err = e.CrossNeighbours(ctx, k, embedded, opt)
	}
	out := make([][]Neighbour, near.Len())
	for i := range out {
		for _, n := range near.Of(i) {
			out[i] = append(out[i], Neighbour{int(n.Document), n.Value})
		}
	}
	return out, err
}

// DuplicateOptions say what duplicates are. The zero value works.
type DuplicateOptions struct {
	Options

	Within    *float64 // greatest c = 1 − cosine of a pair, below 1; default 0.02, some two words of a hundred
	Embedding string   // of the documents; default tf-l1-sqrt
}

// Duplicates returns the groups of documents that pairs with c = 1 − cosine of at most Within connect,
// exactly: two documents or more each, increasing, in the order of their first, which is the one to
// keep. A text without a term, such as one of digits alone, is like no other; a vector of zeros is like another.
//
// Errors: those of [Gram], and a bound that isn't from 0 to below 1.
func Duplicates(ctx context.Context, c *sparse.Corpus, o DuplicateOptions) (_ [][]int32, err error) {
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
	if err := errors.Join(checked(ctx, c), o.check()); err != nil {
		return nil, err
	}
	x, err := embedding.FitCorpus(c).TransformRows(ctx, c.Documents, nil, o.Workers)
	if err != nil {
		return nil, c.NameValue(err)
	}
	opt := o.engine(x, "pairs")
	opt.Texts = c.Vocabulary != nil
	w, err := engine.GroupsWithin(ctx, x, within, opt)
	if err != nil {
		return nil, err
	}
	return w.Groups, nil
}
