package engine

import "math"

// powers is v^p for any p other than 0 and v >= 0, with 0^p = 0, as v^w · v^r: w is the whole part of p, of the same sign, and r the rest, which a [halfLine] takes, as it
// is accurate for small powers alone. Relative to the value it is within halfLineError and |w| roundings of float64, which for all p that matter to float32 is less than a
// hundredth of what rounding to that adds.
type powers struct {
	p     float64
	whole int       // w; 0 also where p is out of all proportion, beyond mostWhole
	rest  *halfLine // of r; nil where there is none
}

// mostWhole is where v^p is 0, 1 or beyond float64 for nearly all v, so that it doesn't matter how long math.Pow takes.
const mostWhole = 1 << 20

func newPowers(p float64) powers {
	if !(math.Abs(p) < mostWhole) {
		return powers{p: p}
	}
	whole := math.Trunc(p)
	f := powers{p: p, whole: int(whole)}
	if rest := p - whole; rest != 0 {
		f.rest = newHalfLine(func(v float64) float64 { return realPower(v, rest) })
	}
	return f
}

// table returns the rows that at wants.
func (f powers) table() [][nodes]float64 {
	if f.rest == nil {
		return nil
	}
	return f.rest.table()
}

// at returns v^p.
func (f powers) at(table [][nodes]float64, v float64) float64 {
	switch {
	case v == 0: // outside of the table, and most values of a kernel that falls fast
		return 0
	case f.whole == 0 && f.rest == nil:
		return realPower(v, f.p)
	case f.whole == 0:
		return f.rest.at(table, v)
	}
	w := power(v, max(f.whole, -f.whole))
	if f.whole < 0 {
		w = 1 / w
	}
	if f.rest != nil {
		w *= f.rest.at(table, v)
	}
	return w
}
