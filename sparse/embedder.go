package sparse

import (
	"fmt"
	"math"
)

// Embedder is an embedding with what it learnt from the training documents: the terms that occur in
// them and their weights.
//
// Its columns are the terms seen at training, in ascending order, and behind them one column of its
// own for documents without any of these terms (see [Embedder.Transform]). It is immutable and may
// be used concurrently. [Embedding.Fit] and [RestoreEmbedder] make embedders; one that is filled by
// hand embeds nothing, and says so.
type Embedder struct {
	Embedding
	Documents int       // number of training documents, D
	Terms     []uint32  // Terms[j] is the term index, in the corpus, of column j
	DF        []int32   // DF[j] is the number of training documents with the term of column j
	Weights   []float64 // Weights[j] is the weight of column j; nil for tf, where it is 1

	// Open, only for the raw counts (tf), lets terms count that weren't seen at training: of a
	// document v, the last column holds √Σ v[t]² over them. So the inner product with a training
	// document, the norm and the distance are those of the whole document. For models that come
	// with no more than their support vectors, such as LIBSVM's.
	Open bool

	columns *termTable // of Terms; nil where nobody made one
	err     error      // of Fit
}

// Fit learns the terms and, for tfidf, the weights log(D/df) from the training documents.
//
// An error, of an embedding that there is none of or of documents that [CSR.Validate] refuses,
// stays with the embedder: [Embedder.Transform] and [Embedder.Validate] return it.
func (e Embedding) Fit(train *CSR) *Embedder {
	f := &Embedder{Embedding: e}
	if f.err = e.validate(); f.err != nil {
		return f
	}
	if f.err = train.Validate(); f.err != nil {
		f.err = fmt.Errorf("training documents: %w", f.err)
		return f
	}
	f.Documents = train.Rows()
	f.Terms, f.DF = train.termFrequencies()
	f.columns = newTermTable(f.Terms, train.NNZ())
	if e.Weighting == TFIDF {
		f.Weights = make([]float64, len(f.DF))
		for j, df := range f.DF {
			f.Weights[j] = logRatio(float64(f.Documents), float64(df))
		}
	}
	return f
}

// Column returns the column of a term, or false where the term wasn't seen at training.
func (f *Embedder) Column(term uint32) (column uint32, ok bool) {
	if f.columns == nil {
		return 0, false
	}
	return f.columns.find(term)
}

// Cols returns the number of columns of an embedded matrix: one a known term and one for documents
// without any.
func (f *Embedder) Cols() int { return len(f.Terms) + 1 }

// logRatio returns log(a/b) for a, b > 0 to within 2 ulp, by the same operations, each rounded
// once, on every platform: weights enter digests, and the logarithm of package math is not the same
// everywhere.
//
// With a/b = 2ᵉ·m, m in [√½, √2), and f = (m-1)/(m+1), log m = 2(f + f³/3 + f⁵/5 + …); |f| < 0.172,
// so that the terms left out from f²⁵ on are below 10⁻²⁰.
func logRatio(a, b float64) float64 {
	log, e := logMantissa(a / b)
	return float64(float64(e)*math.Ln2) + log
}

// logMantissa returns log m and e for x = 2ᵉ·m > 0; see logRatio.
func logMantissa(x float64) (log float64, e int) {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f := (m - 1) / (m + 1)
	g := f * f
	sum := 0.0
	for k := 23; k >= 3; k -= 2 {
		sum = float64((sum + 1/float64(k)) * g)
	}
	return float64(2 * float64(f+float64(f*sum))), e
}
