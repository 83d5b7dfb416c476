package solver

import "math"

// minProbability keeps the probabilities of pairs away from 0 and 1, where their quotients have no
// meaning. LIBSVM has the same.
const minProbability = 1e-7

// Probabilities sets dst[c] to the probability of class c by the decision values of one object. In
// one-vs-one the probabilities of the pairs, which needn't agree, are coupled: p minimises
//
//	Σ_a Σ_{b≠a} (r[b][a]·p[a] - r[a][b]·p[b])²  subject to Σ p = 1,  r[a][b] = P(a | a or b),
//
// over the classes that have documents (Wu, Lin and Weng, JMLR 5 (2004), second method). In
// one-vs-rest they are divided by their sum, or equal where that is 0. Of separate labels each has
// its own.
//
// Errors: dst of another length than Classes, decisions of another than Machines, other machines
// than the scheme has, one without a sigmoid, a decision value that has no probability, such as
// NaN.
func (c *Classifier) Probabilities(dst, decisions []float64) error {
	if err := c.fits(len(decisions)); err != nil {
		return err
	}
	if len(dst) != c.Classes {
		return errUser("room for %d probabilities, expected %d, one of each class", len(dst), c.Classes)
	}
	for i, m := range c.Machines {
		switch {
		case m == nil && c.Scheme == OneVsOne:
			continue
		case m == nil:
			return errUser("machine %d (%s) is missing", i, c.Scheme)
		case m.Sigmoid == nil:
			return errUser("machine %d has no probabilities, expected a classifier trained with them", i)
		}
		if p := m.Sigmoid.Probability(decisions[i]); math.IsNaN(p) {
			return errUser("decision value %v of machine %d, whose sigmoid has A %v and B %v, expected finite numbers",
				decisions[i], i, m.Sigmoid.A, m.Sigmoid.B)
		}
	}
	clear(dst)
	if c.Scheme == OneVsOne {
		return c.couple(dst, decisions)
	}
	var sum float64
	for i, m := range c.Machines {
		dst[i] = m.Sigmoid.Probability(decisions[i])
		sum += dst[i]
	}
	if c.Scheme == OneVsRest {
		for i := range dst {
			if sum > 0 {
				dst[i] /= sum
			} else {
				dst[i] = 1 / float64(len(dst))
			}
		}
	}
	return nil
}

// couple is Probabilities for one-vs-one.
func (c *Classifier) couple(dst, decisions []float64) error {
	k := c.Classes
	if k == 1 {
		dst[0] = 1
		return nil
	}
	pair := make([]float64, k*k)
	in := make([]bool, k)
	i := 0
	for a := range k {
		for b := a + 1; b < k; b++ {
			if m := c.Machines[i]; m != nil {
				p := min(max(m.Sigmoid.Probability(decisions[i]), minProbability), 1-minProbability)
				pair[a*k+b], pair[b*k+a] = p, 1-p
				in[a], in[b] = true, true
			}
			i++
		}
	}
	var present []int
	for a := range in {
		if in[a] {
			present = append(present, a)
		}
	}
	n := len(present)
	if n == 0 {
		return errUser("no machine for %d classes, expected one or more", k)
	}
	r := make([]float64, n*n)
	for x, a := range present {
		for y, b := range present {
			if r[x*n+y] = pair[a*k+b]; x != y && r[x*n+y] == 0 {
				return errUser("the machine for classes %d and %d is missing, and both have others",
					min(a, b), max(a, b))
			}
		}
	}
	p := couple(r, n)
	for x, a := range present {
		dst[a] = p[x]
	}
	return nil
}

// couple finds p for n >= 2 classes and r[a*n+b] = P(a | a or b), none of them 0 but r[a*n+a]. The
// optimality conditions are Qp = (pᵀQp)·e with Q[a][a] = Σ_b r[b][a]² and Q[a][b] =
// -r[a][b]·r[b][a]; they are satisfied for one class after the other, which converges.
func couple(r []float64, n int) []float64 {
	q, p, qp := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for a := range n {
		p[a] = 1 / float64(n)
		for b := range n {
			if b != a {
				q[a*n+a] += r[b*n+a] * r[b*n+a]
				q[a*n+b] = -r[a*n+b] * r[b*n+a]
			}
		}
	}
	rounds, enough := max(100, n), 0.005/float64(n)
	for range rounds {
		var all float64
		for a := range n {
			qp[a] = 0
			for b := range n {
				qp[a] += q[a*n+b] * p[b]
			}
			all += p[a] * qp[a]
		}
		var worst float64
		for a := range n {
			worst = math.Max(worst, math.Abs(qp[a]-all))
		}
		if worst < enough {
			break
		}
		for a := range n {
			move := (all - qp[a]) / q[a*n+a]
			p[a] += move
			all = (all + move*(move*q[a*n+a]+2*qp[a])) / (1 + move) / (1 + move)
			for b := range n {
				qp[b] = (qp[b] + move*q[a*n+b]) / (1 + move)
				p[b] /= 1 + move
			}
		}
	}
	return p
}
