package solver

import (
	"fmt"
	"math"
)

// Machine is a trained decision function of one problem,
//
//	f(x) = Σ_s Coef[s]·K(x, x_Support[s]) - Rho.
type Machine struct {
	Support []int     // rows of the matrix, increasing
	Coef    []float64 // y·α, none of them 0
	Rho     float64

	Objective  float64 // of the dual problem, as LIBSVM prints it
	Iterations int     // inner steps
	Gap        float64 // violation of the optimality conditions at the end; 0 where no variable can move at all
	Converged  bool    // whether the tolerance was reached
	Bounded    int     // how many coefficients are at their bound

	Sigmoid *Sigmoid // probabilities, where they were asked for
}

// machine reads the result from a solved problem. Variables that share a document share a
// coefficient.
func (d *dual) machine(o outcome) (*Machine, error) {
	m := &Machine{Objective: d.objective(), Iterations: o.iterations, Gap: o.gap, Converged: o.converged}
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
	return m, m.finite()
}

// finite returns an error if a number of the machine isn't one.
func (m *Machine) finite() error {
	for s, c := range m.Coef {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return errUser("the coefficient of document %d is %v, expected a finite number: C or kernel values are too large",
				m.Support[s], c)
		}
	}
	if zero := 0*m.Rho + 0*m.Objective + 0*m.Gap; zero != 0 { // NaN, if one of them is no number
		return errUser("a machine has rho %v, objective %v and gap %v, expected finite numbers",
			m.Rho, m.Objective, m.Gap)
	}
	return nil
}

// divide scales the machine of a ν-form by its margin.
func (m *Machine) divide(margin float64) {
	for s := range m.Coef {
		m.Coef[s] /= margin
	}
	m.Rho /= margin
	m.Objective /= margin * margin
}

// Decide returns f for one object: row[s] is K(x, x_Support[s]). It panics unless row, Support and
// Coef have the same length.
func (m *Machine) Decide(row []float32) float64 {
	if len(row) != len(m.Coef) || len(row) != len(m.Support) {
		panic(fmt.Sprintf("solver: Machine.Decide: %d kernel values for %d support vectors with %d coefficients",
			len(row), len(m.Support), len(m.Coef)))
	}
	var sum float64
	for s, c := range m.Coef {
		sum += float64(c * float64(row[s]))
	}
	return sum - m.Rho
}
