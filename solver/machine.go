package solver

import (
	"fmt"
	"math"
)

// DecisionFunction is the trained decision function of a problem,
//
//	f(x) = Σ_s Coef[s]·K(x, x_Support[s]) - Rho.
type DecisionFunction struct {
	Support []int     `json:",omitempty"` // rows of the matrix, increasing
	Coef    []float64 `json:",omitempty"` // y·α, never 0
	Rho     float64

	Objective  float64 // objective of the dual problem, as in LIBSVM's output
	Iterations int     // number of inner steps
	Gap        float64 // violation of the optimality conditions at the end; 0 if no variable can change
	Converged  bool    // true if Gap is at most the tolerance
	Bounded    int     // number of variables α at their upper bounds

	Sigmoid *Sigmoid // maps decision values to probabilities; nil without probabilities
}

// decisionFunction returns the decision function of a solved problem. The coefficient of a document
// is the sum of y·α over the document's variables.
func (d *dual) decisionFunction(o runResult) (*DecisionFunction, error) {
	m := &DecisionFunction{Objective: d.objective(), Iterations: o.iterations, Gap: o.gap, Converged: o.converged}
	if math.IsInf(m.Gap, -1) {
		m.Gap = 0
	}
	n := len(d.docs)
	for i, doc := range d.docs {
		var coef float64
		for t := i; t < len(d.sign); t += n {
			coef += float64(d.sign[t]) * d.alpha[t]
			if d.alpha[t] > 0 && d.alpha[t] >= d.upper[t] {
				m.Bounded++
			}
		}
		if coef != 0 {
			m.Support = append(m.Support, doc)
			m.Coef = append(m.Coef, coef)
		}
	}
	m.Rho = d.rho()
	return m, m.checkFinite()
}

// Validate returns an error if Support isn't strictly increasing in [0, n), if Coef and Support
// differ in length, if a number isn't finite, or if a count is negative.
func (m *DecisionFunction) Validate(n int) error {
	if len(m.Support) != len(m.Coef) {
		return userError("%d support vectors, but %d coefficients", len(m.Support), len(m.Coef))
	}
	before := -1
	for i, s := range m.Support {
		if s <= before || s >= n {
			return userError("indices of support vectors must increase and be below %d, got %d after %d", n, s, before)
		}
		if c := m.Coef[i]; !isFinite(c) {
			return userError("coefficient of support vector %d must be finite, got %v", s, c)
		}
		before = s
	}
	if !isFinite(m.Rho) || !isFinite(m.Objective) || !isFinite(m.Gap) {
		return userError("rho, objective and gap must be finite, got %v, %v and %v", m.Rho, m.Objective, m.Gap)
	}
	if m.Iterations < 0 || m.Bounded < 0 {
		return userError("Iterations and Bounded must not be negative, got %d and %d", m.Iterations, m.Bounded)
	}
	if s := m.Sigmoid; s != nil && !(isFinite(s.A) && isFinite(s.B)) {
		return userError("A and B of the sigmoid must be finite, got %v and %v", s.A, s.B)
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (m *DecisionFunction) checkFinite() error {
	if err := m.Validate(math.MaxInt); err != nil {
		return fmt.Errorf("%w: C or the kernel values are too large", err)
	}
	return nil
}

func (m *DecisionFunction) divideBy(margin float64) {
	for s := range m.Coef {
		m.Coef[s] /= margin
	}
	m.Rho /= margin
	m.Objective /= margin * margin
}
