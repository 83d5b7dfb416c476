package arccosine

import "math"

// MinDegree and MaxDegree limit the degree n. As n approaches -½, the diagonal tends to infinity,
// and 1 - cosine in the feature space becomes inaccurate. Above MaxDegree the diagonal at norm 1,
// (2n-1)!!, overflows float32.
const (
	MinDegree = -0.499
	MaxDegree = 28
)

// Kernel computes J_n for a fixed n, by the numbered equations in doc.go. It stores values that
// don't depend on the angle. It is immutable and may be used concurrently.
type Kernel struct {
	n        float64
	diagonal float64 // J_n(0)
	factor   float64 // factor of F in equation (1)

	base    *series // series (4) for the degree in (-½, 1) at which recursion (3) starts; nil for integer n
	baseN   float64
	deficit *series // series (4) for degree n
}

// New returns the Kernel for n, which must be in the range from [MinDegree] to [MaxDegree].
func New(n float64) *Kernel {
	d := &Kernel{
		n:        n,
		diagonal: diagonal(n),
		factor:   math.Sqrt(math.Pi/2) * (math.Gamma(n+1) / math.Gamma(n+1.5)) * math.Gamma(n+1),
	}
	d.deficit = newSeries(n)
	if n != math.Floor(n) {
		d.baseN = n - max(math.Floor(n), 0)
		d.base = newSeries(d.baseN)
	}
	return d
}

// diagonal returns J_n(0) by equation (2).
func diagonal(n float64) float64 {
	if n == math.Floor(n) {
		v := math.Pi
		for k := 3.0; k < 2*n; k += 2 {
			v *= k
		}
		return v
	}
	return math.Sqrt(math.Pi) * math.Exp2(n) * math.Gamma(n+0.5)
}

// J returns J_n(θ) for θ = arccos(1-c), c in [0, 2]. The relative error is below 64(n+1) float64
// ulp, even near the zero at c = 2. For n < 0 the error grows as 1/(n+½).
func (d *Kernel) J(c float64) float64 {
	switch {
	case c == 0:
		return d.diagonal
	case c > 1 || c != c:
		return d.seriesValue(c)
	}
	var below, j float64 // J of degrees nu-1 and nu
	nu := d.baseN
	if d.base == nil {
		theta := 2 * math.Asin(math.Sqrt(c/2))
		j, nu = math.Pi-theta, 0
		if d.n > 0 {
			below, j, nu = j, math.Sin(theta)+j*(1-c), 1
		}
	} else {
		lost, slope := d.base.deficit(c / 2)
		first := diagonal(d.baseN)
		j = first * (1 - lost)
		if d.n > nu { // recursion (3) with (n-1)² J_{n-2} = -dJ_{n-1}/dc
			below, j = j, (2*nu+1)*(1-c)*j+c*(2-c)*first*slope/2
			nu++
		}
	}
	for nu < d.n {
		nu++
		below, j = j, (2*nu-1)*(1-c)*j+(nu-1)*(nu-1)*c*(2-c)*below
	}
	return j
}

// seriesValue returns J by equation (1).
func (d *Kernel) seriesValue(c float64) float64 {
	u := 2 - c
	if u <= 0 {
		return 0
	}
	z := u / 2
	sum, term := 0.0, 1.0
	for k := 0.0; term > sum*0x1p-56; k++ {
		sum += term
		term *= (k + 0.5) * (k + 0.5) / ((k + 1) * (k + d.n + 1.5)) * z
	}
	return d.factor * math.Pow(u, d.n) * math.Sqrt(u) * sum
}

// Deficit returns 1 - J_n(θ)/J_n(0), c in [0, 2], with full relative accuracy down to c = 0.
func (d *Kernel) Deficit(c float64) float64 {
	if c == 0 {
		return 0
	}
	// The series (4) converges quickly if J_n(θ) is close to J_n(0). Otherwise 1 - ratio is
	// accurate.
	if ratio := d.J(c) / d.diagonal; !(ratio > 0.5) || c > 1 {
		return 1 - ratio
	}
	lost, _ := d.deficit.deficit(c / 2)
	return lost
}
