package sparse

import (
	"fmt"
	"strings"
)

// Weighting says how raw counts are weighted.
type Weighting uint8

// The weightings.
const (
	TF    Weighting = iota // the counts themselves
	TFIDF                  // counts times log(D/df): D training documents, df of them with the term
)

// Norm says how a weighted document is normalised.
type Norm uint8

// The normalisations.
const (
	NormNone Norm = iota // as it is
	NormL1               // divided by the sum of absolute values
	NormL2               // divided by the Euclidean length
)

// Embedding says how counts become a vector: weighted, then normalised, and with Sqrt the square root taken of every entry, which
// maps an L1-normalised document onto the unit sphere. The zero value is the raw counts.
type Embedding struct {
	Weighting Weighting
	Norm      Norm
	Sqrt      bool
}

// Sphere is the embedding of the kernels of information geometry: θ = counts / total, a = √θ. Source: Lafferty and Lebanon,
// JMLR 6 (2005), §3.2.
var Sphere = Embedding{TF, NormL1, true}

var (
	weightingNames = [...]string{TF: "tf", TFIDF: "tfidf"}
	normNames      = [...]string{NormNone: "", NormL1: "-l1", NormL2: "-l2"}
)

// String returns the embedding as [ParseEmbedding] reads it, such as "tf-l1-sqrt".
func (e Embedding) String() string {
	s := weightingNames[e.Weighting] + normNames[e.Norm]
	if e.Sqrt {
		s += "-sqrt"
	}
	return s
}

// Embeddings lists every embedding, as a help text or a test wants them.
func Embeddings() []Embedding {
	var all []Embedding
	for w := range weightingNames {
		for n := range normNames {
			for _, sqrt := range []bool{false, true} {
				all = append(all, Embedding{Weighting(w), Norm(n), sqrt})
			}
		}
	}
	return all
}

// ParseEmbedding reads "tf" or "tfidf", then optionally "-l1" or "-l2", then optionally "-sqrt".
func ParseEmbedding(s string) (Embedding, error) {
	var names []string
	for _, e := range Embeddings() {
		if e.String() == s {
			return e, nil
		}
		names = append(names, e.String())
	}
	return Embedding{}, fmt.Errorf("sparse: embedding %q is unknown, expected one of %s", s, strings.Join(names, ", "))
}
