package engine

import (
	"math"

	"github.com/gramengine/gram/sparse"
)

// referenceTerms returns what a common term of two histograms adds to their similarity, f(a, b), and what it adds to twice c = 1 - similarity; nil for the dot product. They are
// written apart from those of the engine, from the definitions.
func referenceTerms(p sparse.Pairing) (term, share func(a, b float64) float64) {
	switch p {
	case sparse.ChiSquare:
		return func(a, b float64) float64 { return 2 * a * b / (a + b) }, func(a, b float64) float64 { return (a - b) * ((a - b) / (a + b)) }
	case sparse.JensenShannon:
		return jensenShannonTerm, referenceShare
	}
	return nil, nil
}

// jensenShannonTerm is f(a, b) = ½ (a log₂((a+b)/a) + b log₂((a+b)/b)), whose terms are both above 0: good to four roundings and those of two logarithms.
func jensenShannonTerm(a, b float64) float64 {
	if a < b {
		a, b = b, a // for the same bits
	}
	return (float64(a*math.Log1p(b/a)) + float64(b*math.Log1p(a/b))) / (2 * math.Ln2)
}

// referenceShare is S E(δ) / (2 ln 2), with E(δ) = 2δ artanh δ + ln(1-δ²), where two thirds of a term are left, or near δ = 1, where that goes wrong, by the definition of E.
func referenceShare(a, b float64) float64 {
	s := a + b
	delta := math.Abs(a-b) / s
	var e float64
	if delta < 0.5 {
		e = 2*float64(delta*math.Atanh(delta)) + math.Log1p(-float64(delta*delta))
	} else {
		p := min(a, b) / s
		e = 2 * (float64(p*math.Log(2*p)) + float64((1-p)*math.Log(2*(1-p))))
	}
	return s * e / (2 * math.Ln2)
}
