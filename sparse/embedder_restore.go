package sparse

import (
	"fmt"
	"math"
)

// RestoreEmbedder returns the embedder whose exported fields are those of from, as they were
// stored: it embeds documents to the same bits as the one that they were taken from. The slices are
// kept without a copy and must not be changed any more.
//
// Errors: an embedding that there is none of, a negative number of documents, lists of different
// length, terms that don't ascend, a document frequency outside of 1 … Documents, a weight that
// isn't finite, weights where the embedding has none or the reverse, Open with an embedding other
// than tf.
func RestoreEmbedder(from Embedder) (*Embedder, error) {
	f := &Embedder{
		Embedding: from.Embedding,
		Documents: from.Documents,
		Terms:     from.Terms,
		DF:        from.DF,
		Weights:   from.Weights,
		Open:      from.Open,
	}
	if err := f.validateFields(); err != nil {
		return nil, err
	}
	const valuesPerTerm = 16 // as if each term were that often in the training documents, which aren't known here
	f.columns = newTermTable(f.Terms, valuesPerTerm*int64(len(f.Terms)))
	return f, nil
}

// Validate reports the error of [Embedding.Fit], or the first violation of what [RestoreEmbedder]
// asks for, or that neither of them made the embedder, or nil. It takes one pass.
func (f *Embedder) Validate() error {
	if f != nil && f.err == nil {
		if err := f.validateFields(); err != nil {
			return err
		}
	}
	return f.ready()
}

// ready checks what takes no pass: that the embedder can embed without reading beyond its lists.
func (f *Embedder) ready() error {
	switch {
	case f == nil:
		return fmt.Errorf("sparse: no embedder, expected one")
	case f.err != nil:
		return f.err
	case !f.columns.of(f.Terms):
		return fmt.Errorf(
			"sparse: an embedder of %d terms that was filled by hand, expected one of Fit or RestoreEmbedder",
			len(f.Terms),
		)
	}
	return f.validateLengths()
}

// validateLengths checks the embedding and the lengths of the lists.
func (f *Embedder) validateLengths() error {
	if err := f.Embedding.validate(); err != nil {
		return err
	}
	switch {
	case f.Documents < 0:
		return fmt.Errorf("sparse: an embedding of %d documents", f.Documents)
	case len(f.DF) != len(f.Terms):
		return fmt.Errorf("sparse: an embedding of %d terms has %d document frequencies", len(f.Terms), len(f.DF))
	case f.Weighting == TFIDF && len(f.Weights) != len(f.Terms):
		return fmt.Errorf("sparse: embedding %s of %d terms has %d weights", f.Embedding, len(f.Terms), len(f.Weights))
	case f.Weighting == TF && f.Weights != nil:
		return fmt.Errorf("sparse: embedding %s has %d weights, expected none", f.Embedding, len(f.Weights))
	case f.Open && f.Embedding != Embedding{}:
		return fmt.Errorf("sparse: embedding %s is open, which only %s can be", f.Embedding, Embedding{})
	}
	return nil
}

// validateFields checks the embedding and all that the lists hold.
func (f *Embedder) validateFields() error {
	if err := f.validateLengths(); err != nil {
		return err
	}
	for j, t := range f.Terms {
		if j > 0 && t <= f.Terms[j-1] {
			return fmt.Errorf("sparse: embedding: term %d is not above %d", t, f.Terms[j-1])
		}
		if df := f.DF[j]; df < 1 || int64(df) > int64(f.Documents) {
			return fmt.Errorf("sparse: embedding: term %d is in %d documents of %d", t, df, f.Documents)
		}
	}
	for j, w := range f.Weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return fmt.Errorf("sparse: embedding: weight %v of term %d is not finite", w, f.Terms[j])
		}
	}
	return nil
}
