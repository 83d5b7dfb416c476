package kernel

import (
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Definiteness is the proven definiteness of a kernel's matrices.
type Definiteness uint8

// PositiveDefinite means that Σ wᵢ wⱼ k(xᵢ, xⱼ) >= 0 for all documents and weights w.
// ConditionallyPositiveDefinite requires this only for weights that sum to 0.
const (
	UnprovenDefiniteness Definiteness = iota
	ConditionallyPositiveDefinite
	PositiveDefinite
)

// String returns "not proven", "conditionally positive definite" or "positive definite".
func (d Definiteness) String() string {
	return [...]string{"not proven", "conditionally positive definite", "positive definite"}[d]
}

// Properties are the known properties of a kernel with its parameters.
type Properties struct {
	// definiteness in exact arithmetic; rounding changes eigenvalues by about 10⁻⁷ of the largest
	Definiteness Definiteness `json:"definite"`
	Unrefuted    bool         // true if definiteness is unproven, but no counterexample beyond rounding errors is known
	Condition    string       // condition under which Definiteness holds, or a remark; may be empty
	Source       string       // source of the proof

	UsesNorms        bool // true if the value depends on the documents' norms
	NonNegative      bool // true if all values are at least 0
	NonPositive      bool // true if all values are at most 0
	PositiveDiagonal bool // true if k(x, x) > 0 for all documents x (if the kernel uses norms, for ‖x‖ > 0)
	Decreasing       bool `json:"falling"` // true if the value doesn't increase with c for fixed norms

	infinitelyDivisible bool // true if the kernel's positive powers are positive definite whenever the kernel is
}

// Warning returns the text of a warning that matrices of the kernel may have negative eigenvalues,
// beyond rounding errors. It is empty if the kernel is positive definite, or if no such matrix is
// known.
func (p Properties) Warning() string {
	switch {
	case p.Definiteness == PositiveDefinite || p.Unrefuted:
		return ""
	case p.Condition == "":
		return p.Definiteness.String()
	}
	return p.Definiteness.String() + ": " + p.Condition
}

func nonNegative(condition, source string) Properties {
	return Properties{Definiteness: PositiveDefinite, Condition: condition, Source: source,
		NonNegative: true, PositiveDiagonal: true, Decreasing: true}
}

// combinedProperties returns the properties that a combination has if all its parts have them.
func combinedProperties(parts []*kernel) Properties {
	p := Properties{Definiteness: PositiveDefinite, Source: sourceProduct, NonNegative: true, NonPositive: true,
		PositiveDiagonal: true, Decreasing: true, infinitelyDivisible: true}
	refuted := false
	for _, k := range parts {
		of := k.properties
		if of.Definiteness != PositiveDefinite {
			p.Definiteness, refuted = UnprovenDefiniteness, refuted || !of.Unrefuted
		}
		p.NonNegative = p.NonNegative && of.NonNegative
		p.NonPositive = p.NonPositive && of.NonPositive
		p.PositiveDiagonal = p.PositiveDiagonal && of.PositiveDiagonal
		p.Decreasing = p.Decreasing && of.Decreasing
		p.infinitelyDivisible = p.infinitelyDivisible && of.infinitelyDivisible
		if c := k.text + ": " + of.Condition; of.Condition != "" && !strings.Contains(p.Condition, c) {
			p.Condition = joinConditions(p.Condition, c)
		}
	}
	p.Unrefuted = p.Definiteness == UnprovenDefiniteness && !refuted
	return p
}

func joinConditions(conditions, c string) string { return strings.TrimPrefix(conditions+"; "+c, "; ") }

func allConditional(parts []*kernel) bool {
	return !slices.ContainsFunc(parts,
		func(k *kernel) bool { return k.properties.Definiteness < ConditionallyPositiveDefinite })
}

// DecreasesWithC reports whether k is known to be a function of c alone that doesn't increase with
// c. If so, the documents with the smallest c have the largest values.
func DecreasesWithC(k Kernel) bool {
	p := PropertiesOf(k)
	return p.Decreasing && !p.UsesNorms
}

// UsesNorms reports whether k depends on the norms of documents.
func UsesNorms(k Kernel) bool { return PropertiesOf(k).UsesNorms }

// PropertiesOf returns the known properties of k. Nothing is known if k is nil.
func PropertiesOf(k Kernel) Properties {
	if of, ok := k.(*kernel); ok {
		return of.properties
	}
	return Properties{UsesNorms: true, Condition: "no kernel"}
}

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

// IsInnerProduct reports whether k is the inner product ⟨x, y⟩ of embedded documents x or, if unit
// is set, of x/‖x‖. A weighted sum of such values is linear in x.
func IsInnerProduct(k Kernel) (unit, ok bool) {
	if k == nil || k.Embedding().Pairing != sparse.Cosine {
		return false, false
	}
	family := FamilyName(k)
	return family == "bhattacharyya", family == "bhattacharyya" || family == "linear"
}

// Variable is the quantity on which a kernel depends.
type Variable int

const (
	VariableAll      Variable = iota // c and both norms
	VariableProduct                  // the inner product xy(1-c): k(c, x, y) = k(1-⟨x, y⟩, 1, 1)
	VariableDistance                 // the distance ‖x-y‖² = (x-y)² + 2xyc: k(c, x, y) = k(‖x-y‖²/2, 1, 1)
)

// VariableOf returns the variable of k. For VariableProduct and VariableDistance, call [Apply] with
// norms of 1 and with 1-⟨x, y⟩ or ‖x-y‖²/2 instead of c. These values may be below 0 or above 2.
func VariableOf(k Kernel) Variable {
	if of, own := k.(*kernel); own {
		return of.variable
	}
	return VariableAll
}
