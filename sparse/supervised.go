package sparse

// Supervised reports whether the embedding uses the labels of the training documents, as [TFKL]
// does. Use [Embedding.FitLabels] to fit it. Accuracy on the training documents is then biased.
func (e Embedding) Supervised() bool { return e.Weighting == TFKL }

// FitLabels is like [Embedding.Fit], for embeddings that use labels. Class indices must be below
// classes. Embeddings that aren't supervised ignore the labels.
//
// For a supervised embedding, the embedder also holds an error if [Labels.Validate] fails, or if
// documents have fewer than two classes.
func (e Embedding) FitLabels(train *CSR, labels Labels, classes int) *Embedder {
	f := &Embedder{Embedding: e}
	f.fit(train, &labels, classes)
	return f
}

// minDivergence is the weight of an uninformative term, and larger than rounding errors. It isn't
// 0, because terms of weight 0 are dropped. The choice of dropped terms could reveal a document's
// label in cross-validation.
const minDivergence = 1e-12

// divergences returns the weight of each column for [TFKL], or nil if documents have fewer than two
// classes. A document with several classes is counted in each class.
//
// Let q be the fraction of labels that are c, a the number of documents of class c with the term,
// and n = Σa + 1. The weight is Σ (a+q)/n ln((a+q)/(nq)) = 1/n Σ (a+q) ln(1 + a/q) - ln n.
func (f *Embedder) divergences(train *CSR, labels *Labels, classes int) []float64 {
	byClass, found := make([][]int, classes), 0
	for i := range train.Rows() {
		for _, id := range labels.Classes(i) {
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
	own := make([]int32, len(f.Terms)) // document frequencies in one class
	for _, docs := range byClass {
		q := float64(len(docs)) / float64(len(labels.IDs))
		var columns []uint32 // columns of the class's terms
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
			sums[j] += float64((a + q) * logRatio(a+q, q)) // the conversion prevents fused multiply-add
			n[j], own[j] = n[j]+own[j], 0
		}
	}
	for j := range sums {
		n := float64(n[j]) + 1
		sums[j] = max(float64(sums[j]/n)-logRatio(n, 1), minDivergence)
	}
	return sums
}
