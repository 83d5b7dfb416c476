package sphere

// Contribution determines a document's contribution to a gradient. Slope is Projection.Slope times
// the derivative of the loss with respect to the margin. Lambda is Projection.Lambda.
type Contribution struct{ Slope, Lambda float64 }

// LambdaSums holds sums of Slope·Lambda over documents, by the sign of Lambda. If Lambda·û > 0 at a
// term, a document with or without the term contributes Slope·Lambda·û to the gradient. So Negative
// applies to terms with û < 0, and Positive to terms with û > 0.
type LambdaSums struct{ Negative, Positive float64 }

// Add adds the contribution w of a document to b.
func (b *LambdaSums) Add(w Contribution) {
	if w.Lambda < 0 {
		b.Negative += float64(w.Slope * w.Lambda)
	} else {
		b.Positive += float64(w.Slope * w.Lambda)
	}
}

// Gradient returns the derivative of Σ c·margin with respect to û at a term, where c is the
// derivative of a document's loss with respect to the document's margin. docs lists the documents
// with the term, and values the term's values in these documents. contributions holds the
// contributions of all documents. sums holds the LambdaSums of all documents.
func (h *Hyperplane) Gradient(
	term int, docs []uint32, values []float32, contributions []Contribution, sums LambdaSums,
) float64 {
	u := h.U[term]
	values = values[:len(docs)]
	var g float64
	for k, i := range docs {
		w := &contributions[i]
		x := float64(values[k])
		if l := float64(w.Lambda * u); l < 0 {
			x = max(x+l, 0)
		}
		g += float64(w.Slope * x)
	}
	if u < 0 {
		return g + float64(u*sums.Negative)
	}
	return g + float64(u*sums.Positive)
}
