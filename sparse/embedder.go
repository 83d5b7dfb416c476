package sparse

import (
	"fmt"
	"math"
)

// Embedder is an embedding with what it learnt from the training documents: the terms that occur in
// them and their weights.
//
// Its columns are the terms seen at training, ascending, and one more for documents without any of
// them (see [Embedder.Transform]). It is immutable and may be used concurrently. [Embedding.Fit],
// [Embedding.FitLabels] and [RestoreEmbedder] make embedders; one that is filled by hand returns errors.
type Embedder struct {
	Embedding
	Documents int       // number of training documents, D
	Terms     []uint32  // Terms[j] is the term index, in the corpus, of column j
	DF        []int32   // DF[j] is the number of training documents with the term of column j
	Trailing  int       // columns of the training documents above the last term
	Weights   []float64 // Weights[j] is the weight of column j; nil where it is 1, see [Embedding.Weighted]
	Shifts    []float64 // of Standard and Range: Shifts[j] is taken from values of column j before they are weighted

	Views []View // of the training documents: blocks of their columns that are embedded apart; nil for none

	// Open, only for the raw counts (tf), counts terms that weren't seen at training: the last
	// column of a document v holds √Σ v[t]² over them. So the inner product with a training
	// document, the norm and the distance are those of the whole document. Models that list only
	// their support vectors, such as LIBSVM's, need it.
	Open bool

	columns *termTable // of Terms; nil if filled by hand
	filled  []uint32   // terms, ascending, whose zeros have a value
	err     error      // of Fit
}

// Fit learns the terms and, with idf, the weights log(D/df) from the training documents.
//
// The embedder keeps an error, of an unknown embedding, documents that [CSR.Validate] refuses, or an embedding that
// is supervised, see [Embedding.FitLabels]. [Embedder.Transform] and [Embedder.Validate] return it.
func (e Embedding) Fit(train *CSR) *Embedder {
	f := &Embedder{Embedding: e}
	f.learn(train, nil, 0)
	return f
}

// learn is Fit and FitLabels.
func (f *Embedder) learn(train *CSR, labels *Labels, classes int) {
	e := f.Embedding
	if f.err = e.validate(); f.err != nil {
		return
	}
	if f.err = train.Validate(); f.err != nil {
		f.err = fmt.Errorf("training documents: %w", f.err)
		return
	}
	if f.Views = train.Views; f.Views != nil {
		if f.err = e.wantsViews(); f.err != nil {
			return
		}
	}
	all := train
	if train.all != nil && !e.Scales() && !e.Supervised() {
		all = train.all
	}
	f.Documents = all.Rows()
	f.Terms, f.DF = all.TermFrequencies()
	f.Trailing = all.Cols - f.Width()
	f.columns = newTermTable(f.Terms, train.NNZ())
	if e.Weighting.IDF() {
		f.Weights = make([]float64, len(f.DF))
		for j, df := range f.DF {
			f.Weights[j] = logRatio(float64(f.Documents), float64(df))
		}
	}
	if e.Scales() {
		f.fitScale(train)
	}
	if e.Supervised() {
		if labels != nil {
			if f.err = labels.Validate(train.Rows(), classes); f.err != nil {
				return
			}
			f.Weights = f.divergences(train, labels, classes)
		}
		if f.Weights == nil {
			f.err = e.wantsLabels(labels)
		}
	}
}

// Column returns the column of a term, or false if the term wasn't seen at training.
func (f *Embedder) Column(term uint32) (column uint32, ok bool) {
	if f.columns == nil {
		return 0, false
	}
	return f.columns.find(term)
}

// Cols returns the number of columns of an embedded matrix: one per known term and one for
// documents without any.
func (f *Embedder) Cols() int { return len(f.Terms) + 1 }

// Bytes returns the memory of the embedder's lists and its table of terms, which is no larger than in proportion to the
// values of the training documents.
func (f *Embedder) Bytes() int64 {
	bytes := 4*int64(cap(f.Terms)+cap(f.DF)+cap(f.filled)) + 8*int64(cap(f.Weights)+cap(f.Shifts))
	if f.columns != nil {
		bytes += 4 * int64(len(f.columns.place))
	}
	return bytes
}

// RestoreEmbedder returns the embedder with the exported fields of from, as they were stored. It
// embeds documents to the same bits as the original. It keeps the slices, which must not change any
// more. It fails if the fields contradict each other.
func RestoreEmbedder(from Embedder) (*Embedder, error) {
	f := &from
	f.columns, f.filled, f.err = nil, nil, nil
	if err := f.validateFields(); err != nil {
		return nil, err
	}
	const valuesPerTerm = 16 // as if each term were that often in the training documents, which aren't known here
	f.columns = newTermTable(f.Terms, valuesPerTerm*int64(len(f.Terms)))
	f.fill()
	return f, nil
}

// Width returns the number of columns of the training documents.
func (f *Embedder) Width() int {
	if len(f.Terms) == 0 {
		return f.Trailing
	}
	return int(f.Terms[len(f.Terms)-1]) + 1 + f.Trailing
}

// Validate returns the error of [Embedding.Fit], or one for an embedder that is filled by hand. It takes no pass.
func (f *Embedder) Validate() error {
	switch {
	case f == nil:
		return fmt.Errorf("sparse: no embedder, expected one")
	case f.err != nil:
		return f.err
	case !f.columns.of(f.Terms):
		return fmt.Errorf("sparse: an embedder of %d terms that was filled by hand, expected one of Fit or RestoreEmbedder",
			len(f.Terms))
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
	case f.Weighted() && len(f.Weights) != len(f.Terms):
		return fmt.Errorf("sparse: embedding %s of %d terms has %d weights", f.Embedding, len(f.Terms), len(f.Weights))
	case !f.Weighted() && f.Weights != nil:
		return fmt.Errorf("sparse: embedding %s has %d weights, expected none", f.Embedding, len(f.Weights))
	case f.Scales() && len(f.Shifts) != len(f.Terms) || !f.Scales() && f.Shifts != nil:
		return fmt.Errorf("sparse: embedding %s of %d terms has %d shifts, expected one for each where columns are scaled, "+
			"else none", f.Embedding, len(f.Terms), len(f.Shifts))
	case f.Open && f.Embedding != Embedding{}:
		return fmt.Errorf("sparse: embedding %s is open, which only %s can be", f.Embedding, Embedding{})
	case f.Views == nil:
		return nil
	case f.Open:
		return fmt.Errorf("sparse: an open embedding of views, expected none: shares depend on all terms")
	}
	if err := f.wantsViews(); err != nil {
		return err
	}
	return validateViews(f.Views, math.MaxUint32)
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
	if f.Trailing < 0 || f.Trailing > math.MaxUint32 {
		return fmt.Errorf("sparse: embedding: %d columns above the last term", f.Trailing)
	}
	for _, list := range [][]float64{f.Weights, f.Shifts} {
		for j, w := range list {
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return fmt.Errorf("sparse: embedding: weight %v of term %d is not finite", w, f.Terms[j])
			}
		}
	}
	return nil
}

// UnseenWeight returns the weight of a term that the training documents lack.
func (f *Embedder) UnseenWeight() float64 {
	switch {
	case f.Weighting.IDF():
		return math.Log(float64(max(f.Documents, 1)))
	case f.Supervised():
		return minDivergence
	}
	return 0
}

// Widen returns the embedder with more terms, ascending, each of one document and of the given weight.
func (f *Embedder) Widen(terms []uint32, weight float64) (*Embedder, error) {
	if len(terms) == 0 {
		return f, nil
	}
	wide := Embedder{Embedding: f.Embedding, Documents: max(f.Documents, 1), Views: f.Views, Open: f.Open}
	for j := 0; j < len(f.Terms) || len(terms) > 0; {
		if j < len(f.Terms) && (len(terms) == 0 || f.Terms[j] < terms[0]) {
			wide.Terms, wide.DF = append(wide.Terms, f.Terms[j]), append(wide.DF, f.DF[j])
			if f.Weights != nil {
				wide.Weights = append(wide.Weights, f.Weights[j])
			}
			if f.Shifts != nil {
				wide.Shifts = append(wide.Shifts, f.Shifts[j])
			}
			j++
			continue
		}
		wide.Terms, wide.DF = append(wide.Terms, terms[0]), append(wide.DF, 1)
		if f.Weighted() {
			wide.Weights = append(wide.Weights, weight)
		}
		if f.Scales() {
			wide.Shifts = append(wide.Shifts, 0)
		}
		terms = terms[1:]
	}
	return RestoreEmbedder(wide)
}
