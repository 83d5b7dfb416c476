package learn

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/sparse"
)

// NoveltyScorer measures how much documents x differ from a model's training documents s₁, …, sₙ:
//
//	v(x) = max k(x, sᵢ),  v(sᵢ) = max_{j≠i} k(sᵢ, sⱼ),  rank(x) = (1 + #{i: v(sᵢ) <= v(x)})/(n + 1)
//
// A small rank means that x is new. If x is distributed like the training documents, its rank is at
// most r with probability at most r. v(sᵢ) ignores the terms of sᵢ that would be unknown without
// sᵢ, because unknown terms of new documents are ignored too. If a kernel grows with document
// length, long documents have large kernel values with all documents, and thus large ranks. The
// training documents are the model's support vectors or neighbours, or are passed to
// [NewNoveltyScorer]. v(sᵢ) is computed for a sample of at most 2,000 documents. Sampling adds a
// standard error of at most 0.011 to a rank. A NoveltyScorer may be used concurrently.
//
// Source: Laxhammar and Falkman, conformal anomaly detection, FUSION 2010.
type NoveltyScorer struct {
	k              kernel.Kernel
	f              *sparse.Embedder
	e              *engine.Engine
	trainingValues []float64 // v(sᵢ), ascending
	workers        int
	ownsEngine     bool
}

const (
	maxOwn      = 2000 // maximum number of documents for which v(sᵢ) is computed
	noveltyRows = 1024 // number of documents per batch
)

// NewNoveltyScorer computes v(sᵢ) of the training documents with min(n, 2000)·n kernel values. p is
// a predictor of m. If training is nil, it uses the documents that the model stores. It returns nil
// if there are fewer than two training documents, and for SVMs with a precomputed kernel. For
// models without a kernel, k is the inner product of the square roots of relative term frequencies.
// It fails if the embedding rejects a value, if it needs more than the memory limit, or if ctx is
// done.
func NewNoveltyScorer(
	ctx context.Context, m Model, p Predictor, training *sparse.CSR, o Options,
) (_ *NoveltyScorer, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n, docs := &NoveltyScorer{workers: o.Workers}, training
	ready, ok := p.(svmPredictor)
	if machines, own := m.(KernelMachine); own {
		if ok {
			if n.e, err = ready.SupportEngine(ctx); err != nil {
				return nil, err
			}
		}
		if n.e == nil {
			return nil, nil // precomputed kernel, or no support vectors
		}
		if n.k, n.f = ready.Kernel(), machines.Embedder; training == nil {
			docs = machines.Support
		}
	}
	if near, own := m.(knnModel); own {
		if n.k, err = kernel.Parse(near.Settings.Kernel); err != nil {
			return nil, err
		}
		if training == nil {
			docs = near.Documents
		}
	}
	if docs == nil || docs.Rows() < 2 {
		return nil, nil
	}
	if n.k == nil {
		n.k = kernel.MustParse("bhattacharyya")
	}
	if n.f == nil {
		fitted := n.k.Embedding().Fit(docs)
		n.f, n.k = kernel.OpenEmbedder(n.k, fitted, m.About().Vocabulary), kernel.Resolve(n.k, len(fitted.Terms))
	}
	if training != nil || n.e == nil {
		x, err := n.f.TransformRows(ctx, docs, nil, o.Workers)
		if err != nil {
			return nil, err
		}
		n.ownsEngine = true
		if n.e, err = engine.NewContext(ctx, x, engine.Options{ISA: o.ISA, Workers: o.Workers,
			MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes+x.Bytes())}); err != nil {
			return nil, err
		}
	}
	at := make([]int, min(docs.Rows(), maxOwn))
	for i := range at {
		at[i] = int(int64(i) * int64(docs.Rows()) / int64(len(at)))
	}
	n.trainingValues = slices.Repeat([]float64{math.Inf(-1)}, len(at)) // value for documents without known terms
	err = n.findNearest(ctx, n.withoutRareTerms(docs, at, m.About().Vocabulary != nil), 2,
		func(i int, near []engine.Neighbour) {
			for _, other := range near {
				if int(other.Document) != at[i] {
					n.trainingValues[i] = float64(other.Value)
					return
				}
			}
		})
	slices.Sort(n.trainingValues)
	return n, err
}

// withoutRareTerms returns the documents with indices at. It removes from each document the terms
// that would be unknown without this document.
func (n *NoveltyScorer) withoutRareTerms(docs *sparse.CSR, at []int, text bool) *sparse.CSR {
	least, df := int32(1), map[uint32]int32{}
	for k, t := range n.f.Terms {
		df[t] = n.f.DF[k]
	}
	if text && len(n.f.DF) > 0 {
		least = slices.Min(n.f.DF)
	}
	out := &sparse.CSR{Cols: docs.Cols, Views: docs.Views, Offsets: []int64{0}}
	for _, i := range at {
		terms, values := docs.Row(i)
		for k, t := range terms {
			if df[t] > least || n.f.Open {
				out.Terms, out.Values = append(out.Terms, t), append(out.Values, values[k])
			}
		}
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}

// findNearest finds the count nearest training documents of each document that has known terms, and
// passes them to with.
func (n *NoveltyScorer) findNearest(
	ctx context.Context, docs *sparse.CSR, count int, with func(i int, near []engine.Neighbour),
) error {
	for first := 0; first < docs.Rows(); first += noveltyRows {
		var at []int
		for i := first; i < min(first+noveltyRows, docs.Rows()); i++ {
			terms, _ := docs.Row(i)
			if n.f.Open || slices.ContainsFunc(terms, func(t uint32) bool { _, ok := n.f.Column(t); return ok }) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		x, err := n.f.TransformRows(ctx, docs, at, n.workers)
		if err != nil {
			return err
		}
		found, err := n.e.Neighbours(ctx, n.k, engine.NeighbourOptions{Count: count, TestDocuments: x})
		if err != nil {
			return err
		}
		for k, i := range at {
			with(i, found.List(k))
		}
	}
	return nil
}

// Annotate sets p.NearestValues and p.Ranks to v(x) and rank(x), or to NaN and 0 for documents
// without known terms. It fails for the same reasons as a prediction.
func (n *NoveltyScorer) Annotate(ctx context.Context, p *model.Prediction, docs *sparse.CSR) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	nearest, rank := slices.Repeat([]float64{math.NaN()}, docs.Rows()), make([]float64, docs.Rows())
	err := n.findNearest(ctx, docs, 1, func(i int, near []engine.Neighbour) {
		if len(near) > 0 {
			nearest[i] = float64(near[0].Value)
			// index of the first value above nearest[i]
			below, _ := slices.BinarySearchFunc(n.trainingValues, nearest[i], func(v, x float64) int {
				if v <= x {
					return -1
				}
				return 1
			})
			rank[i] = float64(1+below) / float64(len(n.trainingValues)+1)
		}
	})
	if err == nil {
		p.NearestValues, p.Ranks = nearest, rank
	}
	return err
}

// Close frees the engine if NewNoveltyScorer created it.
func (n *NoveltyScorer) Close() error {
	if n == nil || !n.ownsEngine {
		return nil
	}
	return n.e.Close()
}
