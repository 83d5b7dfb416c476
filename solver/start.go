package solver

import "math"

// initialSolution is a warm start: a linear combination of decision functions of similar problems.
// Documents that aren't support vectors of a function have coefficient 0.
type initialSolution []scaledFunction

type scaledFunction struct {
	function *DecisionFunction
	factor   float64
}

func initialSolutionFrom(m *DecisionFunction) initialSolution {
	if m == nil {
		return nil
	}
	return initialSolution{{m, 1}}
}

// applyStart sets the variables to a warm start, clamped to their bounds, and reports whether the
// warm start was used. It scales down the variables of the sign with the larger sum of α, so that
// Σyα = 0. If keep is true and variables below their upper bounds have a large enough sum, only
// these variables are scaled. Set keep if the warm start is for nearly the same documents.
func (d *dual) applyStart(from initialSolution, keep bool) (started bool) {
	if from == nil || d.fixedSum {
		return false
	}
	plus, minus := d.loadStart(from)
	if !keep {
		d.equalizeSums(plus, minus)
		return true
	}
	free, side := 0.0, int8(1)
	if minus > plus {
		side = -1
	}
	for t, a := range d.alpha {
		if d.sign[t] == side && a < d.upper[t] {
			free += a
		}
	}
	const rounding = 1e-12 // relative rounding error of sums
	excess := math.Abs(plus - minus)
	switch {
	case free >= excess && free > 0:
		for t, a := range d.alpha {
			if d.sign[t] == side && a < d.upper[t] {
				d.alpha[t] = a * ((free - excess) / free)
			}
		}
	case excess > rounding*(plus+minus):
		d.equalizeSums(plus, minus)
	}
	return true
}

// loadStart sets α to a warm start, clamped to the bounds, and returns the sums of α by sign.
func (d *dual) loadStart(from initialSolution) (plus, minus float64) {
	near := make([]float64, len(d.docs))
	for _, f := range from {
		at := 0
		for t, doc := range d.docs {
			for at < len(f.function.Support) && f.function.Support[at] < doc {
				at++
			}
			if at < len(f.function.Support) && f.function.Support[at] == doc {
				near[t] += float64(f.factor * f.function.Coef[at])
			}
		}
	}
	for t, s := range d.sign {
		d.alpha[t] = min(max(float64(s)*near[t%len(near)], 0), d.upper[t])
		if s > 0 {
			plus += d.alpha[t]
		} else {
			minus += d.alpha[t]
		}
	}
	return plus, minus
}

func (d *dual) equalizeSums(plus, minus float64) {
	common := min(plus, minus)
	for t, s := range d.sign {
		switch {
		case common == 0:
			d.alpha[t] = 0
		case s > 0:
			d.alpha[t] *= common / plus
		default:
			d.alpha[t] *= common / minus
		}
	}
}

// rescale multiplies all variables by the factor that minimises the objective. The factor is at
// least minFactor, and small enough for all upper bounds.
func (d *dual) rescale(minFactor float64) {
	var square, linear float64
	most := math.Inf(1)
	for t, a := range d.alpha {
		if a > 0 {
			b := float64(d.sign[t]) * a
			square += float64(b * (d.offset[t] - d.score[t]))
			linear += float64(b * d.offset[t])
			most = min(most, d.upper[t]/a)
		}
	}
	if !(square > 0) {
		return
	}
	by := min(max(linear/square, minFactor), most)
	for t, a := range d.alpha {
		d.alpha[t] = min(by*a, d.upper[t])
		d.score[t] = d.offset[t] - float64(by*(d.offset[t]-d.score[t]))
	}
	d.refreshMask()
}
