package sparse

// Weighting says how raw counts are weighted.
type Weighting uint8

// The weightings.
const (
	TF    Weighting = iota // the counts themselves
	TFIDF                  // counts times log(D/df), D training documents, df of them with the term
)

// Norm says how a weighted document is normalised.
type Norm uint8

// The normalisations.
const (
	NormNone Norm = iota // as it is
	NormL1               // divided by the sum of absolute values
	NormL2               // divided by the Euclidean length
)

// Embedding says how counts become a vector: weighted, normalised, and with Sqrt the square root taken of every entry, which maps
// an L1-normalised document onto the unit sphere.
type Embedding struct {
	Weighting Weighting
	Norm      Norm
	Sqrt      bool
}

// Sphere is the embedding of the kernels of information geometry: θ = counts / total, a = √θ.
var Sphere = Embedding{TF, NormL1, true}

// String returns the embedding as [ParseEmbedding] reads it, such as "tf-l1-sqrt".
func (e Embedding) String() string { panic("not written yet") }

// ParseEmbedding reads "tf" or "tfidf", then optionally "-l1" or "-l2", then optionally "-sqrt".
func ParseEmbedding(s string) (Embedding, error) { panic("not written yet") }

// Embedder is an embedding with what it learnt from the training documents.
type Embedder struct {
	Embedding
	Weights []float64 // weight of each term, nil for tf
}

// Embedded is a set of documents as unit vectors with their norms.
type Embedded struct {
	Embedder *Embedder
	CSR                // unit rows, rounded to float32
	Norms    []float64 // Euclidean norm of each row before it was scaled to 1
	// more to come: the raw values, so that rows can be had in float64
}

// Fit learns the embedding's weights from the training documents.
func (e Embedding) Fit(train *CSR) *Embedder { panic("not written yet") }

// Transform embeds documents, training or test.
func (e *Embedder) Transform(m *CSR) (*Embedded, error) { panic("not written yet") }

// Digest returns the SHA-256 of an embedded matrix.
func (x *Embedded) Digest() [32]byte { panic("not written yet") }
