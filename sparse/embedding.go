package sparse

import (
	"fmt"
	"strconv"
	"strings"
)

// Weighting says how raw counts are weighted.
type Weighting uint8

// The weightings.
const (
	TF       Weighting = iota // the counts themselves
	TFIDF                     // counts times log(D/df): D training documents, df of them with the term
	LogTF                     // damped counts, 1 + ln count, as sublinear_tf of scikit-learn
	LogTFIDF                  // damped counts times log(D/df)
	Standard                  // measurements: columns of mean 0 and variance 1, see [Embedding.Scales]
	Range                     // measurements: columns from Lower to Upper

	// TFKL is counts times what a term says of a document's class, the Kullback-Leibler divergence
	//
	//	Σ P(c|t) ln(P(c|t) / P(c)), P(c|t) = (df(c,t) + P(c)) / (df(t) + 1),
	//
	// with df(c,t) of the df(t) documents with the term in class c. The document that is added has the classes of all,
	// and so keeps down what rare terms seem to say; a term that says nothing has 10⁻¹². It is the j-measure of Smyth and
	// Goodman, IEEE TKDE 4 (1992), as a weight of terms; for others see Debole and Sebastiani, Supervised term weighting,
	// ACM SAC 2003.
	TFKL
)

// IDF reports whether the weighting has weights log(D/df).
func (w Weighting) IDF() bool { return w == TFIDF || w == LogTFIDF }

// Damped reports whether the weighting takes 1 + ln of counts, which must be 1 at least.
func (w Weighting) Damped() bool { return w == LogTF || w == LogTFIDF }

// Norm says how a weighted document is normalised.
type Norm uint8

// The normalisations.
const (
	NormNone Norm = iota // as it is
	NormL1               // divided by the sum of absolute values
	NormL2               // divided by the Euclidean length
)

// Pairing says how the points of two documents are compared: by a similarity s, 1 for equal points.
// Each s is the inner product of unit vectors in some Hilbert space, where 1 - s is half their
// squared distance. What is known of functions of an inner product holds for functions of s.
type Pairing uint8

// The pairings. Those other than the dot product compare histograms θ: documents normalised by
// NormL1, without a power and without negative values. Both are inner products: Hein and Bousquet,
// AISTATS 2005; Vedaldi and Zisserman, IEEE PAMI 34 (2012).
const (
	Dot           Pairing = iota // s = ⟨x, y⟩ / ‖x‖‖y‖, the cosine
	ChiSquare                    // s = Σ 2θθ′/(θ+θ′) = 1 - ½ Σ (θ-θ′)²/(θ+θ′)
	JensenShannon                // s = 1 - JS/ln 2, JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))
)

// MinShare is the least value of a histogram in float32. Smaller values are rounded up to it, so
// that no pairing divides by 0. It is far below what can change a similarity.
const MinShare = 0x1p-60

// Embedding says how counts become a vector: weighted, then normalised, then raised to Power, entry
// by entry. The power [Root] maps an L1-normalised document onto the unit sphere. The zero value is
// the raw counts. Embeddings are equal (==) exactly if they mean the same.
type Embedding struct {
	Weighting Weighting
	Norm      Norm
	Power     float64 // from MinPower to MaxPower; 0 for none, since 1 itself isn't allowed
	Pairing   Pairing

	Lower, Upper float64 // of Range: Lower below Upper, both from -MaxBound to MaxBound; else 0
}

// Root is the power of the square root.
const Root = 0.5

// Bounds of an embedding's power: within them float64 holds the power of a share of a document's
// greatest value where float32 can tell it from 0; a norm that float64 can't hold is an error of
// [Embedder.Transform].
const MinPower, MaxPower = 0.01, 8

// Sphere is the embedding of the kernels of information geometry: θ = counts / total, a = √θ.
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.2.
var Sphere = Embedding{Norm: NormL1, Power: Root}

var (
	weightingNames = [...]string{TF: "tf", TFIDF: "tfidf", LogTF: "logtf", LogTFIDF: "logtfidf",
		Standard: "standard", Range: "scale", TFKL: "tfkl"}
	normNames    = [...]string{NormNone: "", NormL1: "-l1", NormL2: "-l2"}
	pairingNames = [...]string{Dot: "", ChiSquare: "-chi2", JensenShannon: "-js"}
)

// String returns the embedding as [ParseEmbedding] reads it, such as "tf-l1-sqrt", "tf-l1-pow0.75"
// or "tf-l1-chi2". An unknown embedding gives its numbers.
func (e Embedding) String() string {
	if !e.named() {
		return fmt.Sprintf("embedding(%d, %d, %v, %d)", e.Weighting, e.Norm, e.Power, e.Pairing)
	}
	s := weightingNames[e.Weighting]
	if e.Weighting == Range {
		s += number(e.Lower) + ".." + number(e.Upper)
	}
	s += normNames[e.Norm] + pairingNames[e.Pairing]
	switch e.Power {
	case 0:
		return s
	case Root:
		return s + "-sqrt"
	}
	return s + powerSuffix + number(e.Power)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// powerSuffix stands before a power that has no name of its own.
const powerSuffix = "-pow"

// Embeddings lists every embedding without a power or with the square root, for help texts and
// tests, and one of each that scales columns.
func Embeddings() []Embedding {
	var all []Embedding
	counts := []Weighting{TF, TFIDF, LogTF, LogTFIDF, TFKL}
	for _, w := range counts {
		for n := range normNames {
			for _, power := range []float64{0, Root} {
				all = append(all, Embedding{Weighting: w, Norm: Norm(n), Power: power})
			}
		}
	}
	for _, w := range counts {
		for _, p := range []Pairing{ChiSquare, JensenShannon} {
			all = append(all, Embedding{Weighting: w, Norm: NormL1, Pairing: p})
		}
	}
	return append(all, Embedding{Weighting: Standard}, Embedding{Weighting: Range, Upper: 1})
}

// ParseEmbedding reads "tf", "tfidf", "logtf", "logtfidf" or "tfkl", then optionally "-l1" or "-l2", then
// optionally "-sqrt" or "-pow" with a number from MinPower to MaxPower, such as "tf-l1-pow0.75".
// "-pow0.5" is "-sqrt", and "-pow1" is nothing. "-l1" may have "-chi2" or "-js" after it instead,
// for [ChiSquare] and [JensenShannon]. Or it reads "standard", or "scale" and two numbers, such as
// "scale-1..1", for [Standard] and [Range].
func ParseEmbedding(s string) (Embedding, error) {
	if bounds, ok := strings.CutPrefix(s, weightingNames[Range]); ok {
		return parseRange(bounds)
	}
	name, power, raised := strings.Cut(s, powerSuffix)
	var names []string
	for _, e := range Embeddings() {
		switch {
		case e.String() == name && !raised:
			return e, nil
		case e.String() == name && e.Power == 0 && e.Pairing == Dot && !e.Scales():
			p, err := strconv.ParseFloat(power, 64)
			if err != nil || !(p >= MinPower && p <= MaxPower) {
				return Embedding{}, fmt.Errorf("sparse: embedding %q: found the power %q, expected a number from %v to %v", s,
					power, MinPower, MaxPower)
			}
			if p != 1 {
				e.Power = p
			}
			return e, nil
		}
		names = append(names, e.String())
	}
	return Embedding{}, fmt.Errorf(
		"sparse: embedding %q is unknown, expected one of %s, or one without -sqrt and after it %s and a power, "+
			"or a range as in scale-1..1", s, strings.Join(names, ", "), powerSuffix)
}

// named reports whether the weighting, the normalisation and the pairing exist.
func (e Embedding) named() bool {
	return int(e.Weighting) < len(weightingNames) && int(e.Norm) < len(normNames) && int(e.Pairing) < len(pairingNames)
}

// validate checks that the embedding exists.
func (e Embedding) validate() error {
	if !e.named() {
		return fmt.Errorf("sparse: embedding %d, %d, %d is unknown", e.Weighting, e.Norm, e.Pairing)
	}
	if e.Pairing != Dot && (e.Norm != NormL1 || e.Power != 0) {
		return fmt.Errorf("sparse: embedding %s, expected -l1 and no power, since it pairs histograms", e)
	}
	if err := e.validateScale(); err != nil {
		return err
	}
	if e.Power != 0 && !(e.Power >= MinPower && e.Power <= MaxPower && e.Power != 1) {
		return fmt.Errorf(
			"sparse: embedding with the power %v, expected 0 for none, or a number from %v to %v other than 1", e.Power,
			MinPower, MaxPower)
	}
	return nil
}

// general reports whether entries are raised to a power that isn't the square root.
func (e Embedding) general() bool { return e.Power != 0 && e.Power != Root }

// wantsNonNegative says why the embedding takes no negative values, or none below 1; "" if it takes
// them.
func (e Embedding) wantsNonNegative() string {
	switch {
	case e.Weighting.Damped():
		return fmt.Sprintf(" of at least 1, for the embedding %s: it takes the logarithm of counts", e)
	case e.Pairing != Dot:
		return fmt.Sprintf(" not below 0, for the embedding %s: its documents are histograms", e)
	case e.Power != 0:
		return fmt.Sprintf(" not below 0, for the embedding %s: it takes the power %v of all values", e, e.Power)
	}
	return ""
}
