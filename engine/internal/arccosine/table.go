package arccosine

import (
	"math"
	"sync"
)

// Table is I(h, ξ) as piecewise polynomials in two variables, for what would otherwise be quadrature. With a = cot ξ, and S(z, a) as in [head],
//
//	I = I(h, π/2) - e^(-h²/2) S(h, a)                            0 <= a <= 1
//	I = e^(-z²/2) (S(z, 1/a) - π erf(h/√2) M(z)),   z = ah        a > 1
//
// and 2 I(h, π/2) less that of -a for a < 0, where M(z) = e^(z²/2) Q(z), Q the upper tail of the normal distribution: Owen's identity for T(h, a). So S is wanted
// for a in [0, 1] only, where it is smooth in both variables; it is cut into cells of ¼ × 1/16, with degree 5 in each.
//
// Each strip of cells carries the bound on its error, as measured at the extremes of the remainder of interpolation and widened by half.
type Table struct {
	cells [strips][columns][degree][degree]float64 // of S: powers of a, then of z
	mills [strips][degree]float64
	bound [strips + 1]float64 // of the error of I for this h and greater ones
}

const (
	degree   = 6
	columns  = 16
	strips   = 58
	perUnit  = 4                         // strips for a unit of z
	greatest = float64(strips) / perUnit // e^(-z²/2) is below 10⁻⁴⁵ behind 14.5
)

// Thresholds returns the table, computed at the first call in some 50 ms.
var Thresholds = sync.OnceValue(func() *Table {
	t := new(Table)
	var nodes, extremes [degree]float64
	for k := range nodes {
		nodes[k] = math.Cos((float64(k) + 0.5) * math.Pi / degree)
		extremes[k] = math.Cos(float64(k) * math.Pi / (degree - 1))
	}
	for i := range t.cells {
		z := (float64(i) + 0.5) / perUnit
		at := func(s float64) float64 { return z + s/(2*perUnit) }
		var worst float64
		for k, s := range nodes {
			t.mills[i][k] = mills(at(s))
		}
		toPolynomial(&t.mills[i], &nodes)
		for _, s := range extremes {
			worst = max(worst, math.Pi*math.Abs(horner(&t.mills[i], s)-mills(at(s))))
		}
		var most float64
		for j := range t.cells[i] {
			cell := &t.cells[i][j]
			across := func(s float64) float64 { return (float64(j) + 0.5 + s/2) / columns }
			// Values at nodes, then polynomials in z for each node of a, then polynomials in a.
			var values [degree][degree]float64
			for p, u := range nodes {
				for q, s := range nodes {
					values[p][q] = head(at(s), across(u))
				}
				toPolynomial(&values[p], &nodes)
			}
			for q := range degree {
				var column [degree]float64
				for p := range degree {
					column[p] = values[p][q]
				}
				toPolynomial(&column, &nodes)
				for p := range degree {
					cell[p][q] = column[p]
				}
			}
			for _, u := range extremes {
				for _, s := range extremes {
					most = max(most, math.Abs(evaluate(cell, s, u)-head(at(s), across(u))))
				}
			}
		}
		low := float64(i) / perUnit
		t.bound[i] = 1.5*math.Exp(-low*low/2)*(worst+most) + 0x1p-150
	}
	t.bound[strips] = 0x1p-150
	for i := strips - 1; i >= 0; i-- {
		t.bound[i] = max(t.bound[i], t.bound[i+1])
	}
	return t
})

// mills returns M(z) = e^(z²/2) Q(z), for z up to 15.
func mills(z float64) float64 { return math.Exp(z*z/2) * math.Erfc(z/math.Sqrt2) / 2 }

// toPolynomial turns values at points into the coefficients of the polynomial through them.
func toPolynomial(p, x *[degree]float64) {
	for k := 1; k < degree; k++ {
		for i := degree - 1; i >= k; i-- {
			p[i] = (p[i] - p[i-1]) / (x[i] - x[i-k])
		}
	}
	for k := degree - 2; k >= 0; k-- {
		for i := k; i < degree-1; i++ {
			p[i] -= x[k] * p[i+1]
		}
	}
}

// horner evaluates a polynomial in pairs, whose products don't wait for each other.
func horner(p *[degree]float64, s float64) float64 {
	q := s * s
	return (p[0] + p[1]*s) + q*((p[2]+p[3]*s)+q*(p[4]+p[5]*s))
}

// evaluate returns the polynomial of a cell for z and a in terms of its half widths from its middle.
func evaluate(cell *[degree][degree]float64, s, u float64) float64 {
	var p [degree]float64
	along(&p, cell, s)
	return horner(&p, u)
}

// along returns what is left of the polynomial of a cell for one z: that in a.
func along(p *[degree]float64, cell *[degree][degree]float64, s float64) {
	q := s * s
	for i := range p {
		c := &cell[i]
		p[i] = (c[0] + c[1]*s) + q*((c[2]+c[3]*s)+q*(c[4]+c[5]*s))
	}
}

// Side is what I(h, ·) needs of h: made once for a document, it serves all its pairs.
type Side struct {
	h, half, scale, erf float64
	inner               [columns][degree]float64 // S(h, ·)
}

// Side makes s that of h >= 0.
func (t *Table) Side(s *Side, h float64) {
	s.h, s.half, s.scale, s.erf = h, half(h), math.Exp(-h*h/2), math.Erf(h/math.Sqrt2)
	if !(h < greatest) {
		clear(s.inner[:])
		return
	}
	z := h * perUnit
	i := int(z)
	for j := range s.inner {
		along(&s.inner[j], &t.cells[i][j], 2*(z-float64(i))-1)
	}
}

// Inner returns erf(h/√2), what a negative bias adds.
func (s *Side) Inner() float64 { return s.erf }

// Sector returns I(h, ξ) for a = cot ξ. It is within Bound of the true value; for h greater than what float32 knows I of, it is 0.
func (t *Table) Sector(side *Side, a float64) float64 {
	v := math.Abs(a)
	if v <= 1 {
		u := v * columns
		j := min(int(u), columns-1)
		return side.half - math.Copysign(side.scale*horner(&side.inner[j], 2*(u-float64(j))-1), a)
	}
	if v != v {
		return v
	}
	outer := 0.0
	if z := side.h * v; z < greatest {
		outer = math.Exp(-z*z/2) * (t.head(z, 1/v) - math.Pi*side.erf*t.ratio(z))
	}
	if a < 0 {
		return 2*side.half - outer
	}
	return outer
}

// head returns S(z, a) for z below greatest and a in [0, 1].
func (t *Table) head(z, a float64) float64 {
	z, a = z*perUnit, a*columns
	i, j := int(z), min(int(a), columns-1)
	return evaluate(&t.cells[i][j], 2*(z-float64(i))-1, 2*(a-float64(j))-1)
}

// ratio returns M(z).
func (t *Table) ratio(z float64) float64 {
	z *= perUnit
	i := int(z)
	return horner(&t.mills[i], 2*(z-float64(i))-1)
}

// Bound bounds the error of Sector for h.
func (t *Table) Bound(h float64) float64 {
	if !(h < greatest) {
		return t.bound[strips]
	}
	return t.bound[int(h*perUnit)]
}
