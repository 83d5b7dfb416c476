package sphere

// Weight is what a document adds to a gradient: with the derivative c of a loss by the document's
// margin, of which it is Slope·c, Lambda that of its projection.
type Weight struct{ Slope, Lambda float64 }

// Beyond is what documents add to a gradient at terms that they don't have, divided by û: by the
// sign of û.
type Beyond struct{ Negative, Positive float64 }

// Add adds what a document adds at terms that it doesn't have.
func (b *Beyond) Add(w Weight) {
	if w.Lambda < 0 {
		b.Negative += float64(w.Slope * w.Lambda)
	} else {
		b.Positive += float64(w.Slope * w.Lambda)
	}
}

// Gradient returns the derivative of Σ c·margin by û at a term: docs are the documents that have it,
// values theirs, weights those of all documents, beyond their sum.
func (h *Hyperplane) Gradient(term int, docs []uint32, values []float32, weights []Weight, beyond Beyond) float64 {
	u := h.U[term]
	values = values[:len(docs)]
	var g float64
	for k, i := range docs {
		w := &weights[i]
		x := float64(values[k])
		if l := float64(w.Lambda * u); l < 0 {
			x = max(x+l, 0)
		}
		g += float64(w.Slope * x)
	}
	if u < 0 {
		return g + float64(u*beyond.Negative)
	}
	return g + float64(u*beyond.Positive)
}
