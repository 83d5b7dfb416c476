package solver

// Machine is a trained decision function of one problem,
//
//	f(x) = Σ_s Coef[s]·K(x, x_Support[s]) - Rho.
type Machine struct {
	Support []int     // rows of the matrix, increasing
	Coef    []float64 // y·α, none of them 0
	Rho     float64

	Objective  float64 // of the dual problem, as LIBSVM prints it
	Iterations int     // inner steps
	Gap        float64 // violation of the optimality conditions at the end
	Converged  bool    // whether the tolerance was reached
	Bounded    int     // how many coefficients are at their bound

	Sigmoid *Sigmoid // probabilities, where they were asked for
}

// machine reads the result from a solved problem. Variables that share a document share a coefficient.
func (d *dual) machine(o outcome) *Machine {
	m := &Machine{Objective: d.objective(), Iterations: o.iterations, Gap: o.gap, Converged: o.converged}
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
	return m
}

// divide scales the machine of a ν-form by its margin.
func (m *Machine) divide(margin float64) {
	for s := range m.Coef {
		m.Coef[s] /= margin
	}
	m.Rho /= margin
	m.Objective /= margin * margin
}

// Decide returns f for one object: row[s] is K(x, x_Support[s]).
func (m *Machine) Decide(row []float32) float64 {
	var sum float64
	for s, c := range m.Coef {
		sum += float64(c * float64(row[s]))
	}
	return sum - m.Rho
}
