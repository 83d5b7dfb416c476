package sparse

import (
	"fmt"
	"strconv"
	"strings"
)

// Weighting maps raw counts or measurements to weighted values.
type Weighting uint8

const (
	TF              Weighting = iota // raw counts
	TFIDF                            // counts times log(D/df), for D training documents of which df contain the term
	LogTF                            // damped counts, 1 + ln count, as with sublinear_tf in scikit-learn
	LogTFIDF                         // damped counts times log(D/df)
	StandardScaling                  // columns of measurements, scaled to variance 1, see [Embedding.Scales]
	MinMaxScaling                    // columns of measurements, scaled to the range Lower to Upper

	// TFKL multiplies counts by the Kullback-Leibler divergence from the class distribution given
	// the term to the prior distribution,
	//
	//	Σ P(c|t) ln(P(c|t) / P(c)), P(c|t) = (df(c,t) + P(c)) / (df(t) + 1),
	//
	// where df(c,t) of the df(t) documents with the term have class c. The 1 added to df(t) lowers
	// the weights of rare terms. An uninformative term has the weight 10⁻¹². Sources: the j-measure
	// of Smyth and Goodman, IEEE TKDE 4 (1992); for other weights, Debole and Sebastiani,
	// Supervised term weighting, ACM SAC 2003.
	TFKL
)

// UsesIDF reports whether weights include log(D/df).
func (w Weighting) UsesIDF() bool { return w == TFIDF || w == LogTFIDF }

// DampsCounts reports whether counts become 1 + ln count, which requires counts of at least 1.
func (w Weighting) DampsCounts() bool { return w == LogTF || w == LogTFIDF }

// Norm is the normalisation of a weighted document.
type Norm uint8

const (
	NormNone Norm = iota // unchanged
	NormL1               // divided by the sum of absolute values
	NormL2               // divided by the Euclidean norm
)

// Pairing is the similarity s of two embedded documents. It is 1 for equal documents. Each s is the
// inner product of unit vectors in a Hilbert space, so 1 - s is half the squared distance of these
// vectors. Results about functions of an inner product therefore apply to functions of s.
type Pairing uint8

// All pairings except the cosine compare histograms θ: documents normalised by NormL1, without a
// power and without negative values. Chi-square and Jensen-Shannon are inner products. Sources:
// Hein and Bousquet, AISTATS 2005; Vedaldi and Zisserman, IEEE PAMI 34 (2012).
const (
	Cosine        Pairing = iota // s = ⟨x, y⟩ / ‖x‖‖y‖, the cosine
	ChiSquare                    // s = Σ 2θθ′/(θ+θ′) = 1 - ½ Σ (θ-θ′)²/(θ+θ′)
	JensenShannon                // s = 1 - JS/ln 2, JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))
)

// MinHistogramValue is the smallest value of a histogram in float32. Smaller values are rounded up
// to it, so that no pairing divides by 0. The effect on a similarity is negligible.
const MinHistogramValue = 0x1p-60

// Embedding describes the map from counts to a vector: counts are weighted, normalised, and raised
// to Power elementwise. The power [SquareRoot] maps an L1-normalised document to the unit sphere.
// The zero value leaves raw counts unchanged. Embeddings can be compared by ==.
type Embedding struct {
	Weighting Weighting
	Norm      Norm
	Power     float64 // from MinPower to MaxPower, except 1; 0 for none
	Pairing   Pairing

	Lower, Upper float64 // bounds of [MinMaxScaling], Lower < Upper, from -MaxBound to MaxBound; 0 for other weightings
}

// SquareRoot is the exponent of the square root.
const SquareRoot = 0.5

// MinPower and MaxPower bound an embedding's power. [Embedder.Transform] fails if a norm overflows
// float64.
const MinPower, MaxPower = 0.01, 8

// SphereEmbedding maps counts to √(counts / total), for the kernels of information geometry.
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.2.
var SphereEmbedding = Embedding{Norm: NormL1, Power: SquareRoot}

var (
	weightingNames = [...]string{TF: "tf", TFIDF: "tfidf", LogTF: "logtf", LogTFIDF: "logtfidf",
		StandardScaling: "standard", MinMaxScaling: "scale", TFKL: "tfkl"}
	normNames    = [...]string{NormNone: "", NormL1: "-l1", NormL2: "-l2"}
	pairingNames = [...]string{Cosine: "", ChiSquare: "-chi2", JensenShannon: "-js"}
)

// String returns the text form for [ParseEmbedding], such as "tf-l1-sqrt", "tf-l1-pow0.75" or
// "tf-l1-chi2". If the weighting, norm or pairing is unknown, it lists their numbers and the power.
func (e Embedding) String() string {
	if !e.isKnown() {
		return fmt.Sprintf("embedding(%d, %d, %v, %d)", e.Weighting, e.Norm, e.Power, e.Pairing)
	}
	s := weightingNames[e.Weighting]
	if e.Weighting == MinMaxScaling {
		s += formatNumber(e.Lower) + ".." + formatNumber(e.Upper)
	}
	s += normNames[e.Norm] + pairingNames[e.Pairing]
	switch e.Power {
	case 0:
		return s
	case SquareRoot:
		return s + "-sqrt"
	}
	return s + powerSuffix + formatNumber(e.Power)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

const powerSuffix = "-pow"

// Embeddings returns all embeddings without powers other than the square root, but only one example
// of each weighting that scales columns. Help texts and tests use this list.
func Embeddings() []Embedding {
	var all []Embedding
	counts := []Weighting{TF, TFIDF, LogTF, LogTFIDF, TFKL}
	for _, w := range counts {
		for n := range normNames {
			for _, power := range []float64{0, SquareRoot} {
				all = append(all, Embedding{Weighting: w, Norm: Norm(n), Power: power})
			}
		}
	}
	for _, w := range counts {
		for _, p := range []Pairing{ChiSquare, JensenShannon} {
			all = append(all, Embedding{Weighting: w, Norm: NormL1, Pairing: p})
		}
	}
	return append(all, Embedding{Weighting: StandardScaling}, Embedding{Weighting: MinMaxScaling, Upper: 1})
}

// ParseEmbedding parses "tf", "tfidf", "logtf", "logtfidf" or "tfkl", optionally followed by "-l1"
// or "-l2", and then by "-sqrt" or "-pow" with a number from MinPower to MaxPower, as in
// "tf-l1-pow0.75". "-pow0.5" means "-sqrt", and "-pow1" means no power. "-chi2" or "-js" after
// "-l1" selects [ChiSquare] or [JensenShannon]. "standard" selects [StandardScaling], and "scale"
// with two numbers, as in "scale-1..1", selects [MinMaxScaling].
func ParseEmbedding(s string) (Embedding, error) {
	if bounds, ok := strings.CutPrefix(s, weightingNames[MinMaxScaling]); ok {
		return parseRange(bounds)
	}
	name, power, raised := strings.Cut(s, powerSuffix)
	var names []string
	for _, e := range Embeddings() {
		switch {
		case e.String() == name && !raised:
			return e, nil
		case e.String() == name && e.Power == 0 && e.Pairing == Cosine && !e.Scales():
			p, err := strconv.ParseFloat(power, 64)
			if err != nil || !(p >= MinPower && p <= MaxPower) {
				return Embedding{}, fmt.Errorf("sparse: embedding %q: power must be a number from %v to %v, got %q", s,
					MinPower, MaxPower, power)
			}
			if p != 1 {
				e.Power = p
			}
			return e, nil
		}
		names = append(names, e.String())
	}
	return Embedding{}, fmt.Errorf(
		"sparse: unknown embedding %q; valid embeddings are %s; a power can replace -sqrt, as in %s0.75, "+
			"and scale takes a range, as in scale-1..1", s, strings.Join(names, ", "), powerSuffix)
}

func (e Embedding) isKnown() bool {
	return int(e.Weighting) < len(weightingNames) && int(e.Norm) < len(normNames) && int(e.Pairing) < len(pairingNames)
}

func (e Embedding) validate() error {
	if !e.isKnown() {
		return fmt.Errorf("sparse: unknown embedding with weighting %d, norm %d and pairing %d", e.Weighting, e.Norm,
			e.Pairing)
	}
	if e.Pairing != Cosine && (e.Norm != NormL1 || e.Power != 0) {
		return fmt.Errorf("sparse: embedding %s compares histograms, so it needs -l1 and no power", e)
	}
	if err := e.validateScale(); err != nil {
		return err
	}
	if e.Power != 0 && !(e.Power >= MinPower && e.Power <= MaxPower && e.Power != 1) {
		return fmt.Errorf(
			"sparse: power of an embedding must be 0 (none) or between %v and %v, but not 1, got %v",
			MinPower, MaxPower, e.Power)
	}
	return nil
}

func (e Embedding) hasGeneralPower() bool { return e.Power != 0 && e.Power != SquareRoot }

// nonNegativeReason returns the end of an error message about a value that is too small for the
// embedding. It returns "" if the embedding accepts negative values.
func (e Embedding) nonNegativeReason() string {
	switch {
	case e.Weighting.DampsCounts():
		return fmt.Sprintf(" and at least 1 for embedding %s (it takes the logarithm of counts)", e)
	case e.Pairing != Cosine:
		return fmt.Sprintf(" and nonnegative for embedding %s (it compares histograms)", e)
	case e.Power != 0:
		return fmt.Sprintf(" and nonnegative for embedding %s (it takes powers of %v)", e, e.Power)
	}
	return ""
}
