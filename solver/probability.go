package solver

import (
	"context"
	"math"
)

// Sigmoid maps a decision value f to the probability of the positive class,
//
//	P(f) = 1 / (1 + exp(A·f + B)).
type Sigmoid struct{ A, B float64 }

// Probability returns P(f). It doesn't overflow for finite f.
func (s Sigmoid) Probability(f float64) float64 {
	x := s.A*f + s.B
	if x >= 0 {
		e := math.Exp(-x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(x))
}

// FitSigmoid fits a sigmoid to decision values of objects with known binary labels, by maximum
// likelihood. By Bayes' rule with a uniform prior, the targets are (n+1)/(n+2) for n positive
// objects and 1/(n+2) for n negative objects. The problem is convex and is solved by Newton's
// method with a line search. Source: Platt (1999) in the form of Lin, Lin and Weng, Machine
// Learning 68 (2007).
//
// It fails if a decision value is NaN or above 10¹⁴⁰ in absolute value, because sums of squares
// would overflow.
func FitSigmoid(decisions []float64, positive []bool) (Sigmoid, error) {
	for i, f := range decisions {
		if !(math.Abs(f) <= maxDecision) {
			return Sigmoid{}, userError("decision value of document %d must be between %v and %v, got %v",
				i, -maxDecision, maxDecision, f)
		}
	}
	return fitSigmoid(decisions, positive), nil
}

const maxDecision = 1e140 // so that no sum of squares overflows

// fitSigmoid is FitSigmoid for checked decision values. Without decision values, it returns a
// constant probability that depends only on positive.
func fitSigmoid(decisions []float64, positive []bool) Sigmoid {
	var count [2]float64
	for _, p := range positive {
		if p {
			count[1]++
		} else {
			count[0]++
		}
	}
	target := func(i int) float64 {
		if positive[i] {
			return (count[1] + 1) / (count[1] + 2)
		}
		return 1 / (count[0] + 2)
	}
	// loss is the negative log-likelihood, in a form that neither overflows nor cancels.
	loss := func(s Sigmoid) float64 {
		var sum float64
		for i, f := range decisions {
			x, t := s.A*f+s.B, target(i)
			if x >= 0 {
				sum += t*x + math.Log1p(math.Exp(-x))
			} else {
				sum += (t-1)*x + math.Log1p(math.Exp(x))
			}
		}
		return sum
	}
	const (
		rounds, least   = 100, 1e-10 // maximum number of Newton steps; minimum step length
		ridge, flat     = 1e-12, 1e-5
		enoughOfDescent = 1e-4
	)
	s := Sigmoid{0, math.Log((count[0] + 1) / (count[1] + 1))}
	now := loss(s)
	for range rounds {
		h11, h22, h12, g1, g2 := ridge, ridge, 0.0, 0.0, 0.0
		for i, f := range decisions {
			p := s.Probability(f)
			w, d := p*(1-p), target(i)-p
			h11 += f * f * w
			h22 += w
			h12 += f * w
			g1 += f * d
			g2 += d
		}
		if math.Abs(g1) < flat && math.Abs(g2) < flat {
			break
		}
		det := h11*h22 - h12*h12
		da, db := -(h22*g1-h12*g2)/det, -(h11*g2-h12*g1)/det
		if !(det > 0) { // update only B, because the curvature in A is lost to rounding if many values are equal
			da, db = 0, -g2/h22
		}
		slope := g1*da + g2*db
		step := 1.0
		for ; step >= least; step /= 2 {
			try := Sigmoid{s.A + step*da, s.B + step*db}
			if next := loss(try); next < now+enoughOfDescent*step*slope {
				s, now = try, next
				break
			}
		}
		if step < least {
			break // no further progress in float64
		}
	}
	return s
}

const sigmoidFolds = 5 // as in LIBSVM

// sigmoid fits the sigmoid of a problem to decision values of held-out documents. A held-out
// document stays in the problem with the upper bound 0, so that the solver computes its score. Its
// decision value follows from the score. In ν-SVC, decision values are 0 if the margin is 0.
func (p *problem) sigmoid(ctx context.Context, s *singleSMO, bytes int64) (*Sigmoid, error) {
	signs := make([]int, len(p.docs))
	for t, pos := range p.positive {
		if pos {
			signs[t] = 1
		}
	}
	decisions, err := p.heldOutDecisions(ctx, s, StratifiedFolds(signs, min(sigmoidFolds, len(signs)), p.params.Seed),
		sigmoidFolds, nil, bytes)
	if err != nil {
		return nil, err
	}
	fit, err := FitSigmoid(decisions, p.positive)
	return &fit, err
}

// heldOutDecisions returns out-of-fold decision values. Each fold is warm-started from initial. If
// initial is nil, training starts at α = 0.
func (p *problem) heldOutDecisions(
	ctx context.Context, s *singleSMO, fold []int, folds int, initial initialSolution, bytes int64,
) ([]float64, error) {
	decisions := make([]float64, len(p.docs))
	for f := range folds {
		d, err := p.newDual(s.m, func(t int) bool { return fold[t] == f })
		if err != nil {
			return nil, err
		}
		if d == nil { // only one class is left, so predict its sign
			left := 0.0
			for t := range fold {
				if fold[t] != f {
					left = float64(1 - 2*p.signIndex(t))
				}
			}
			for t := range fold {
				if fold[t] == f {
					decisions[t] = left
				}
			}
			continue
		}
		if _, err := s.solve(ctx, d, initial, false, bytes); err != nil {
			return nil, err
		}
		rho, by := d.rho(), 1.0
		if d.perClass {
			by = d.margin()
		}
		for t := range fold {
			if fold[t] == f && by != 0 {
				decisions[t] = (-d.score[t] - rho) / by
			}
		}
	}
	return decisions, nil
}

// minProbability is the minimum pairwise probability, because coupleProbabilities divides by sums
// of squared probabilities. LIBSVM uses the same value.
const minProbability = 1e-7

// Probabilities sets dst[c] to the probability of class c, given the decision values of an object.
// In one-vs-one, the pairwise probabilities r may be inconsistent. They are combined into the p
// that minimises
//
//	Σ_a Σ_{b≠a} (r[b][a]·p[a] - r[a][b]·p[b])²  subject to Σ p = 1,  r[a][b] = P(a | a or b),
//
// over the classes a and b that have documents (Wu, Lin and Weng, JMLR 5 (2004), second method). In
// one-vs-rest, probabilities are divided by their sum. If the sum is 0, all probabilities are
// equal. The probabilities of labels aren't normalised. If c.Temperature is set, it scales the
// probabilities.
//
// It fails if a decision function has no sigmoid, or if a decision value is NaN.
func (c *Classifier) Probabilities(dst, decisions []float64) error {
	if err := c.checkProbabilities(decisions); err != nil {
		return err
	}
	if t := c.Temperature; t != nil {
		c.temperatureScores(dst, decisions, t.UsesLogOdds)
		t.softmax(dst)
		return nil
	}
	c.unscaledProbabilities(dst, decisions)
	return nil
}

func (c *Classifier) checkProbabilities(decisions []float64) error {
	for i, m := range c.Functions {
		if m == nil {
			continue
		}
		if m.Sigmoid == nil {
			return userError("decision function %d has no sigmoid; train the classifier with probabilities", i)
		}
		if math.IsNaN(m.Sigmoid.Probability(decisions[i])) {
			return userError("decision value %v of decision function %d does not give a probability", decisions[i], i)
		}
	}
	return nil
}

func (c *Classifier) unscaledProbabilities(dst, decisions []float64) {
	clear(dst)
	if c.Scheme == OneVsOne {
		c.pairwiseProbabilities(dst, decisions)
		return
	}
	var sum float64
	for i, m := range c.Functions {
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
}

func (c *Classifier) pairwiseProbabilities(dst, decisions []float64) {
	k := c.Classes
	if k == 1 {
		dst[0] = 1
		return
	}
	place := make([]int, k) // index of each class among the classes that have decision functions
	n := 0
	for a, yes := range c.PresentClasses() {
		if place[a] = n; yes {
			n++
		}
	}
	r := make([]float64, n*n)
	for i, of := range ClassPairs(k) {
		if m := c.Functions[i]; m != nil {
			a, b := place[of[0]], place[of[1]]
			p := min(max(m.Sigmoid.Probability(decisions[i]), minProbability), 1-minProbability)
			r[a*n+b], r[b*n+a] = p, 1-p
		}
	}
	p := coupleProbabilities(r, n)
	for a, yes := range c.PresentClasses() {
		if yes {
			dst[a] = p[place[a]]
		}
	}
}

// coupleProbabilities computes the class probabilities p of [Classifier.Probabilities] for n >= 2
// classes. r[a*n+b] = P(a | a or b) must not be 0 for a ≠ b. With e = (1, …, 1)ᵀ, the optimality
// conditions are Qp = (pᵀQp)·e, Q[a][a] = Σ_{b≠a} r[b][a]² and Q[a][b] = -r[a][b]·r[b][a]. Each
// step solves the condition of a class for the probability of this class. The iteration ends when
// no probability changes by more than 1e-9 in a round, which gives six correct digits.
func coupleProbabilities(r []float64, n int) []float64 {
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
	const rounds, enough = 10000, 1e-9
	before := make([]float64, n)
	for range rounds {
		copy(before, p)
		var all float64
		for a := range n {
			qp[a] = 0
			for b := range n {
				qp[a] += q[a*n+b] * p[b]
			}
			all += p[a] * qp[a]
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
		var change float64
		for a := range n {
			change = max(change, math.Abs(p[a]-before[a]))
		}
		if !(change > enough) {
			break
		}
	}
	return p
}
