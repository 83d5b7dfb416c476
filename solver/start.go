package solver

import "math"

// A start is where a search begins instead of at 0: a sum of multiples of machines of other problems, whose solutions are near. Documents
// that a machine doesn't have count 0 in it.
type start []multiple

type multiple struct {
	machine *Machine
	by      float64
}

// startFrom is the start from one machine; nil is none.
func startFrom(m *Machine) start {
	if m == nil {
		return nil
	}
	return start{{m, 1}}
}

// begin sets the variables of a problem with one equation and one variable a document near a start: within their bounds, and so that the equation holds,
// Σ yα = 0, for which the α of the class with the greater sum are made smaller.
func (d *dual) begin(from start) {
	for _, f := range from {
		at := 0
		for t, doc := range d.docs {
			for at < len(f.machine.Support) && f.machine.Support[at] < doc {
				at++
			}
			if at < len(f.machine.Support) && f.machine.Support[at] == doc {
				d.alpha[t] += float64(f.by * float64(d.sign[t]) * f.machine.Coef[at])
			}
		}
	}
	var sum [2]float64
	for t, s := range d.sign {
		d.alpha[t] = min(max(d.alpha[t], 0), d.upper[t])
		if s > 0 {
			sum[0] += d.alpha[t]
		} else {
			sum[1] += d.alpha[t]
		}
	}
	if sum[0] == 0 || sum[1] == 0 {
		clear(d.alpha)
		return
	}
	for t, s := range d.sign {
		if s > 0 && sum[0] > sum[1] {
			d.alpha[t] *= sum[1] / sum[0]
		} else if s < 0 && sum[1] > sum[0] {
			d.alpha[t] *= sum[0] / sum[1]
		}
	}
}

// stretch multiplies all variables by the number that makes the objective least, as far as the bounds allow.
func (d *dual) stretch() {
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
	by := min(max(linear/square, 0), most)
	for t, a := range d.alpha {
		d.alpha[t] = min(by*a, d.upper[t])
		d.score[t] = d.offset[t] - float64(by*(d.offset[t]-d.score[t]))
	}
	d.refreshMask()
}
