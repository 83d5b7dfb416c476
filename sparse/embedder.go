package sparse

import (
	"fmt"
	"math"
)

// Embedder is an embedding with the terms and weights of the training documents.
//
// The columns are the terms of the training documents in ascending order, and one column for
// documents without any of these terms (see [Embedder.Transform]). An Embedder is immutable and may
// be used concurrently. Embedders are made by [Embedding.Fit], [Embedding.FitLabels] and
// [RestoreEmbedder]. If the fields were set directly, [Embedder.Validate] and [Embedder.Transform]
// fail.
type Embedder struct {
	Embedding
	Documents int       // number of training documents, D
	Terms     []uint32  // Terms[j] is the term index of column j in the corpus
	DF        []int32   // DF[j] is the number of training documents with the term of column j
	Trailing  int       // number of columns of the training matrix after the column of the last term
	Weights   []float64 // Weights[j] is the weight of column j; nil if all are 1, see [Embedding.HasColumnWeights]
	Shifts    []float64 // Shifts[j] is subtracted from values of column j before weighting; nil without scaling

	Views []View // column blocks of the training documents that are embedded separately; nil for none

	// Open includes terms outside the training documents: the last column of a document has the
	// value √Σ v[t]² over these terms. Norms, and distances to training documents, then include all
	// terms. Open requires raw counts (tf) without a norm, power or views. Models that store only
	// support vectors, such as LIBSVM models, need Open.
	Open bool

	termIndex     *termTable // index of Terms; nil if the fields were set directly
	vectorColumns []bool     // vectorColumns[j] is true if column j is in a vector view; nil without vector views
	filledTerms   []uint32   // terms whose zeros become nonzero by scaling, ascending
	err           error      // error of Fit
}

// Fit fits the embedding to the training documents: it collects their terms and computes the
// weights, such as log(D/df) for idf.
//
// The embedder holds an error if the embedding is invalid, supervised (see [Embedding.FitLabels]),
// or incompatible with the views of train, or if [CSR.Validate] fails. [Embedder.Transform] and
// [Embedder.Validate] return this error.
func (e Embedding) Fit(train *CSR) *Embedder {
	f := &Embedder{Embedding: e}
	f.fit(train, nil, 0)
	return f
}

func (f *Embedder) fit(train *CSR, labels *Labels, classes int) {
	e := f.Embedding
	if f.err = e.validate(); f.err != nil {
		return
	}
	if f.err = train.Validate(); f.err != nil {
		f.err = fmt.Errorf("training documents: %w", f.err)
		return
	}
	if f.Views = train.Views; f.Views != nil {
		if f.err = e.checkViews(f.Views); f.err != nil {
			return
		}
	}
	all := train
	if train.dfSource != nil && !e.Scales() && !e.Supervised() {
		all = train.dfSource
	}
	f.Documents = all.Rows()
	f.Terms, f.DF = all.TermFrequencies()
	f.Trailing = all.Cols - f.TrainingCols()
	f.termIndex = newTermTable(f.Terms, train.NNZ())
	f.findVectors()
	if e.Weighting.UsesIDF() {
		f.Weights = make([]float64, len(f.DF))
		for j, df := range f.DF {
			f.Weights[j] = logRatio(float64(f.Documents), float64(df))
		}
	}
	if e.Scales() {
		f.fitScale(train)
	}
	switch {
	case !e.Supervised():
	case labels == nil:
		f.err = fmt.Errorf("sparse: embedding %s requires labels; only c_svc, nu_svc, linear, PCA and kernel matrices "+
			"support it", e)
	default:
		if f.err = labels.Validate(train.Rows(), classes); f.err != nil {
			return
		}
		if f.Weights = f.divergences(train, labels, classes); f.Weights == nil {
			f.err = fmt.Errorf("sparse: embedding %s requires labels from at least two classes", e)
		}
	}
}

// Column returns the column of a term, or false if the term isn't in the training documents.
func (f *Embedder) Column(term uint32) (column uint32, ok bool) {
	if f.termIndex == nil {
		return 0, false
	}
	return f.termIndex.find(term)
}

// Cols returns the number of columns of an embedded matrix: one per term, and one for documents
// without known terms.
func (f *Embedder) Cols() int { return len(f.Terms) + 1 }

// Bytes returns the size of the embedder in bytes, including its table of terms.
func (f *Embedder) Bytes() int64 {
	bytes := 4*int64(cap(f.Terms)+cap(f.DF)+cap(f.filledTerms)) + 8*int64(cap(f.Weights)+cap(f.Shifts))
	if f.termIndex != nil {
		bytes += 4 * int64(len(f.termIndex.positions))
	}
	return bytes
}

// RestoreEmbedder returns an embedder with the exported fields of from, such as fields read from a
// file. Results are bit-identical to the original embedder's. RestoreEmbedder retains the slices,
// which must not be changed. It fails if the fields are inconsistent.
func RestoreEmbedder(from Embedder) (*Embedder, error) {
	f := &from
	f.termIndex, f.vectorColumns, f.filledTerms, f.err = nil, nil, nil, nil
	if err := f.validateFields(); err != nil {
		return nil, err
	}
	const valuesPerTerm = 16 // assumed mean document frequency, because the training documents aren't available
	f.termIndex = newTermTable(f.Terms, valuesPerTerm*int64(len(f.Terms)))
	f.findVectors()
	f.findFilled()
	return f, nil
}

// TrainingCols returns the number of columns of the training matrix.
func (f *Embedder) TrainingCols() int {
	if len(f.Terms) == 0 {
		return f.Trailing
	}
	return int(f.Terms[len(f.Terms)-1]) + 1 + f.Trailing
}

// Validate returns the error of [Embedding.Fit], or an error if f is nil or its fields were set
// directly. It takes constant time.
func (f *Embedder) Validate() error {
	switch {
	case f == nil:
		return fmt.Errorf("sparse: embedder is nil")
	case f.err != nil:
		return f.err
	case !f.termIndex.isFor(f.Terms):
		return fmt.Errorf("sparse: the fields of the embedder (%d terms) were set directly: use Fit or RestoreEmbedder",
			len(f.Terms))
	}
	return f.validateLengths()
}

func (f *Embedder) validateLengths() error {
	if err := f.Embedding.validate(); err != nil {
		return err
	}
	n, weights, shifts := len(f.Terms), 0, 0
	if f.HasColumnWeights() {
		weights = n
	}
	if f.Scales() {
		shifts = n
	}
	switch {
	case f.Documents < 0:
		return fmt.Errorf("sparse: Documents must not be negative, got %d", f.Documents)
	case len(f.DF) != n || len(f.Weights) != weights || len(f.Shifts) != shifts:
		return fmt.Errorf("sparse: embedding %s of %d terms has %d document frequencies, %d weights and %d shifts; "+
			"it needs %d, %d and %d", f.Embedding, n, len(f.DF), len(f.Weights), len(f.Shifts), n, weights, shifts)
	case f.Open && f.Embedding != Embedding{}:
		return fmt.Errorf("sparse: Open requires embedding %s, got %s", Embedding{}, f.Embedding)
	case f.Views == nil:
		return nil
	case f.Open:
		return fmt.Errorf("sparse: Open cannot be combined with Views, because view weights depend on all terms")
	}
	if err := f.checkViews(f.Views); err != nil {
		return err
	}
	return validateViews(f.Views, math.MaxUint32)
}

func (f *Embedder) validateFields() error {
	if err := f.validateLengths(); err != nil {
		return err
	}
	for j, t := range f.Terms {
		if j > 0 && t <= f.Terms[j-1] {
			return fmt.Errorf("sparse: embedding: term %d follows %d, but terms must increase", t, f.Terms[j-1])
		}
		if df := f.DF[j]; df < 1 || int64(df) > int64(f.Documents) {
			return fmt.Errorf("sparse: embedding: term %d occurs in %d of %d documents", t, df, f.Documents)
		}
	}
	if f.Trailing < 0 || f.Trailing > math.MaxUint32 {
		return fmt.Errorf("sparse: embedding: Trailing must be between 0 and 2³²-1, got %d", f.Trailing)
	}
	for _, list := range [][]float64{f.Weights, f.Shifts} {
		for j, w := range list {
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return fmt.Errorf("sparse: embedding: weight of term %d must be finite, got %v", f.Terms[j], w)
			}
		}
	}
	return nil
}

// UnseenWeight returns the idf or label weight of a term outside the training documents, or 0.
func (f *Embedder) UnseenWeight() float64 {
	switch {
	case f.Weighting.UsesIDF():
		return math.Log(float64(max(f.Documents, 1)))
	case f.Supervised():
		return minDivergence
	}
	return 0
}
