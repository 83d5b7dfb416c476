package sparse

import "fmt"

// Supervised reports whether the embedding learns from the labels of the training documents, as [TFKL] does: then
// [Embedding.FitLabels] fits it. A prediction of documents whose labels it has learnt from says little of others.
func (e Embedding) Supervised() bool { return e.Weighting == TFKL }

// FitLabels is [Embedding.Fit] on documents with the labels of so many classes. An embedding that isn't supervised
// doesn't use the labels.
//
// The embedder keeps an error, of a supervised embedding also that of [Labels.Validate], or one for documents of fewer
// than two classes.
func (e Embedding) FitLabels(train *CSR, labels Labels, classes int) *Embedder {
	if !e.Supervised() {
		return e.Fit(train)
	}
	f := &Embedder{Embedding: e}
	f.learn(train, &labels, classes)
	return f
}

// minDivergence is the weight of a term that says nothing, above what rounding leaves of it. It isn't 0: values of
// weight 0 are left out of a document, so that what is left would tell of its label wherever a fold embeds it anew.
const minDivergence = 1e-12

// divergences returns the weights of [TFKL] by column; nil if documents are of fewer than two classes. A document
// of several classes counts for each, and one of none for none.
//
// With the share q of class c, a of its documents with the term, and n = Σa + 1, the weight is
// Σ (a+q)/n ln((a+q)/(nq)) = 1/n Σ (a+q) ln(1 + a/q) - ln n.
func (f *Embedder) divergences(train *CSR, labels *Labels, classes int) []float64 {
	byClass, found := make([][]int, classes), 0
	for i := range train.Rows() {
		for _, id := range labels.Of(i) {
			if byClass[id] == nil {
				found++
			}
			byClass[id] = append(byClass[id], i)
		}
	}
	if found < 2 {
		return nil
	}
	sums, n := make([]float64, len(f.Terms)), make([]int32, len(f.Terms))
	own := make([]int32, len(f.Terms)) // of one class
	for _, docs := range byClass {
		q := float64(len(docs)) / float64(len(labels.IDs))
		var columns []uint32 // of its terms
		for _, i := range docs {
			terms, values := train.Row(i)
			for k, t := range terms {
				if column, ok := f.Column(t); ok && values[k] != 0 {
					if own[column]++; own[column] == 1 {
						columns = append(columns, column)
					}
				}
			}
		}
		for _, j := range columns {
			a := float64(own[j])
			sums[j] += float64((a + q) * logRatio(a+q, q)) // the same bits on every processor
			n[j], own[j] = n[j]+own[j], 0
		}
	}
	for j := range sums {
		n := float64(n[j]) + 1
		sums[j] = max(float64(sums[j]/n)-logRatio(n, 1), minDivergence)
	}
	return sums
}

// wantsLabels is the error of a supervised embedding without documents of two classes, or without any labels.
func (e Embedding) wantsLabels(labels *Labels) error {
	if labels == nil {
		return fmt.Errorf("sparse: embedding %s learns from labels, expected another: only c_svc, nu_svc, linear, matrices "+
			"and components take it", e)
	}
	return fmt.Errorf("sparse: embedding %s learns from labels, expected documents of two classes or more", e)
}
