package landmark

import "math"

// eval returns the loss of a document with y = ±1 and its first two derivatives with respect to f.
func (l Loss) eval(y, f float64) (loss, first, second float64) {
	switch l {
	case Logistic:
		// The loss is log(1 + e^-a), computed without overflow. q = 1/(1 + e^a) is 1 - P(y).
		a := y * f
		e := math.Exp(-math.Abs(a))
		q := e / (1 + e)
		if a < 0 {
			q = 1 / (1 + e)
		}
		return math.Max(-a, 0) + math.Log1p(e), -y * q, e / ((1 + e) * (1 + e))
	case SquaredHinge:
		if d := 1 - y*f; d > 0 {
			return d * d / 2, -y * d, 1
		}
		return 0, 0, 0
	}
	d := f - y
	return d * d / 2, d, 1
}
