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

// NeighbourOptions are the options of [Neighbours]. The zero value works.
type NeighbourOptions struct {
	Options

	K          int            // maximum number of neighbours per document; default 10
	Kernel     string         // specification; default bhattacharyya
	Min        *float64       // minimum kernel value of a neighbour; default none
	Candidates *corpus.Corpus // documents to search for neighbours; default the other documents of c
}

// Neighbour holds the index of a neighbour and its kernel value with the document.
type Neighbour struct {
	Document int
	Value    float32
}

// Neighbours returns, for each document of c, the K other documents with the largest kernel values
// in descending order. It compares all pairs, without storing a matrix. Element i of the result
// holds the neighbours of document i. A document can have fewer than K neighbours, see
// [engine.Engine.Neighbours].
//
// If the kernel is a function of the cosine alone, a text without terms has the largest kernel
// value with equal texts, and the smallest kernel value with all other texts. Terms that occur only
// in c or only in Candidates are treated as in [CrossGram].
//
// It fails if K is negative, or for the same reasons as [CrossGram].
func Neighbours(ctx context.Context, c *corpus.Corpus, o NeighbourOptions) (_ [][]Neighbour, err error) {
	defer convertError(&err)
	k, err := o.parseKernel(cmp.Or(o.Kernel, "bhattacharyya"))
	if err != nil {
		return nil, err
	}
	opt := engine.NeighbourOptions{Count: cmp.Or(o.K, 10), MinValue: o.Min}
	columns, rows := c, (*corpus.Corpus)(nil)
	if o.Candidates != nil {
		if err := checkCorpus(ctx, c); err != nil {
			return nil, err
		}
		columns, rows = o.Candidates, c
	}
	k, e, test, err := o.engineOn(ctx, columns, rows, k, !kernel.UsesNorms(k), "neighbours")
	if err != nil {
		return nil, err
	}
	defer closeEngine(c, e, &err)
	opt.TestDocuments = test
	near, err := e.Neighbours(ctx, k, opt)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbour, near.Len())
	for i := range out {
		for _, n := range near.List(i) {
			out[i] = append(out[i], Neighbour{int(n.Document), n.Value})
		}
	}
	return out, nil
}

// DuplicateOptions are the options of [Duplicates]. The zero value works.
type DuplicateOptions struct {
	Options

	Within    *float64 // maximum c = 1 − cosine of a pair, below 1; default 0.02 (about 2% of the words differ)
	Embedding string   // embedding of the documents; default tf-l1-sqrt
}

// Duplicates scans the documents in order. It drops a document if c = 1 − cosine to an earlier kept
// document is at most Within. The search is exact. Duplicates returns a group for each kept
// document with duplicates: the kept document first, then its duplicates in ascending order. A
// duplicate is in the group of the first kept document for which c is at most Within. Equal texts
// are duplicates. Different texts without terms aren't duplicates, but all zero vectors are.
//
// It fails if Within isn't in [0, 1), or for the same reasons as [Gram].
func Duplicates(ctx context.Context, c *corpus.Corpus, o DuplicateOptions) (_ [][]int32, err error) {
	defer convertError(&err)
	within, embedding := 0.02, sparse.SphereEmbedding
	if o.Within != nil {
		within = *o.Within
	}
	if !(within >= 0 && within < 1) {
		return nil, fmt.Errorf("gram: distance of duplicates must be in [0, 1), got %v", within)
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
	w, err := engine.GroupsWithin(ctx, x, within, o.engineOptions(x, "pairs"))
	if err != nil {
		return nil, err
	}
	return w.Groups, nil
}
