package kernel

import (
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Definiteness says what is known of the matrices of a kernel.
type Definiteness uint8

// What is known of a kernel: for all documents and any weights w, that Σ wᵢ wⱼ k(xᵢ, xⱼ) >= 0, that
// it is for weights that add to 0, or neither.
const (
	NotProven Definiteness = iota
	ConditionallyPositive
	Positive
)

// String returns "not proven", "conditionally positive definite" or "positive definite".
func (d Definiteness) String() string {
	return [...]string{"not proven", "conditionally positive definite", "positive definite"}[d]
}

// Properties says what is known of a kernel with its parameters.
type Properties struct {
	Definite  Definiteness // in exact arithmetic: rounding adds eigenvalues of either sign, some 10⁻⁷ of the greatest
	Unrefuted bool         // nothing is proven, but no matrix is known that has an eigenvalue below 0 beyond rounding
	Condition string       // what Definite depends on, or what is known beyond it; may be empty
	Source    string       // where that is from

	UsesNorms        bool // the value depends on the documents' norms, not on their cosine alone
	NonNegative      bool // no value is below 0, whatever the documents
	NonPositive      bool // no value is above 0, whatever the documents
	PositiveDiagonal bool // k(x, x) > 0 for all documents (of norm above 0, where the kernel uses norms)
	Falling          bool // for given norms, the value nowhere rises with c from 0 to 2

	divisible bool // all powers above 0 are positive definite, if the kernel is
}

// Doubtful returns why matrices of the kernel may have eigenvalues below 0 well beyond rounding,
// for a warning; it is empty for a kernel that is positive definite, or of which nothing else was
// ever seen.
func (p Properties) Doubtful() string {
	switch {
	case p.Definite == Positive || p.Unrefuted:
		return ""
	case p.Condition == "":
		return p.Definite.String()
	}
	return p.Definite.String() + ": " + p.Condition
}

// nonNegative are the properties of a kernel that is positive definite, nowhere below 0, above 0 on
// the diagonal, and falls with c.
func nonNegative(condition, source string) Properties {
	return Properties{Definite: Positive, Condition: condition, Source: source,
		NonNegative: true, PositiveDiagonal: true, Falling: true}
}

// ofParts returns the properties that a combination has if all its parts have them.
func ofParts(parts []*kernel) Properties {
	p := Properties{Definite: Positive, Source: sourceProduct, NonNegative: true, NonPositive: true,
		PositiveDiagonal: true, Falling: true, divisible: true}
	refuted := false
	for _, k := range parts {
		of := k.known
		if of.Definite != Positive {
			p.Definite, refuted = NotProven, refuted || !of.Unrefuted
		}
		p.NonNegative = p.NonNegative && of.NonNegative
		p.NonPositive = p.NonPositive && of.NonPositive
		p.PositiveDiagonal = p.PositiveDiagonal && of.PositiveDiagonal
		p.Falling = p.Falling && of.Falling
		p.divisible = p.divisible && of.divisible
		if c := k.text + ": " + of.Condition; of.Condition != "" && !strings.Contains(p.Condition, c) {
			p.Condition = also(p.Condition, c)
		}
	}
	p.Unrefuted = p.Definite == NotProven && !refuted
	return p
}

// also appends a condition.
func also(conditions, c string) string { return strings.TrimPrefix(conditions+"; "+c, "; ") }

// conditional reports whether all parts are conditionally positive definite at least.
func conditional(parts []*kernel) bool {
	return !slices.ContainsFunc(parts, func(k *kernel) bool { return k.known.Definite < ConditionallyPositive })
}

// FallsWithC reports whether k is a function of c alone that nowhere rises with it: then the
// documents of the greatest values are those of the least c. Where it isn't known, it is false.
func FallsWithC(k Kernel) bool {
	p := PropertiesOf(k)
	return p.Falling && !p.UsesNorms
}

// UsesNorms reports whether k looks at the norms of documents.
func UsesNorms(k Kernel) bool { return PropertiesOf(k).UsesNorms }

// PropertiesOf returns what is known of k. Nothing is known of nil.
func PropertiesOf(k Kernel) Properties {
	if of, ok := k.(*kernel); ok {
		return of.known
	}
	return Properties{UsesNorms: true, Condition: "no kernel"}
}

// The sources of what is known of definiteness.
const (
	sourceSchoenberg = "Schoenberg, Trans. AMS 44 (1938)"
	sourceProduct    = "Schur; Berg, Christensen and Ressel, Harmonic Analysis on Semigroups (1984), ch. 3"
	sourceDivisible  = "Schoenberg (1938) and Berg, Christensen and Ressel (1984), ch. 3, §2: infinitely divisible"
	sourceCho        = "Cho, Kernel methods for deep learning, UCSD thesis 2012"
	sourceJebara     = "Jebara, Kondor and Howard, JMLR 5 (2004)"
	sourceHein       = "Hein and Bousquet, AISTATS 2005"
	sourceVedaldi    = "Vedaldi and Zisserman, IEEE PAMI 34 (2012)"
	sourceLafferty   = "Lafferty and Lebanon, JMLR 6 (2005)"
	sourceZhang      = "Zhang, Chen and Lee, SIGIR 2005"
	sourceLog        = "Boughorbel, Tarel and Boujemaa, ICME 2005"
	sourceCentred    = "Schölkopf, The kernel trick for distances, NIPS 2000"
	sourceLIBSVM     = "Chang and Lin, LIBSVM (2011)"
)

// InnerProduct reports whether a kernel is an inner product of embedded documents, x = ‖x‖u: ⟨x, y⟩, or with unit
// ⟨u, v⟩. Sums of its values are linear in a document.
func InnerProduct(k Kernel) (unit, ok bool) {
	if k == nil || k.Embedding().Pairing != sparse.Dot {
		return false, false
	}
	family := Family(k)
	return family == "bhattacharyya", family == "bhattacharyya" || family == "linear"
}

// Variable is what a kernel is a function of, beside c and both norms.
type Variable int

const (
	OfAll      Variable = iota // c and the norms
	OfProduct                  // the inner product xy(1-c) alone: k(c, x, y) = k(1-⟨x, y⟩, 1, 1)
	OfDistance                 // the distance alone, ‖x-y‖² = (x-y)² + 2xyc: k(c, x, y) = k(‖x-y‖²/2, 1, 1)
)

// VariableOf returns what k is a function of. Of a kernel that isn't OfAll, [Apply] takes such a c
// with norms of 1, also beyond 2 and below 0.
func VariableOf(k Kernel) Variable {
	if of, own := k.(*kernel); own {
		return of.variable
	}
	return OfAll
}
