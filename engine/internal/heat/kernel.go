package heat

import "math"

// Kernel is the parametrix of the heat kernel as a function of c alone,
//
//	k = factor · η(d) exp(-d²/4t) (ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m),  d = 2 arccos(1-c)
//
// It is immutable and may be used concurrently.
type Kernel struct {
	Sphere    *Sphere // functions ψ; if nil, the sum is 1
	Time      float64 // time in squared units of d; must be positive
	Form      Form
	Cutoff    float64 // radius of the cut-off in units of d; 0 means no cut-off (see [LogCutoff])
	LogFactor float64 // logarithm of a constant factor
}

// Log returns the logarithm of the absolute value of the kernel at c, 0 <= c <= 2, and its sign:
// -1, 0 or 1. The logarithm of 0 is -Inf. Beyond the cut-off the kernel is 0, even if ψ₀ is
// infinite.
//
// Accuracy: the errors of [Sphere.LogSum] and [LogCutoff], and a few float64 ulp of each logarithm.
func (k *Kernel) Log(c float64) (logarithm, sign float64) {
	x, _, _ := seriesArguments(c)
	cut := LogCutoff(k.Cutoff, 2*x)
	if math.IsInf(cut, -1) {
		return cut, 0
	}
	sum, sign := 0.0, 1.0
	if k.Sphere != nil {
		sum, sign = k.Sphere.LogSum(k.Form, k.Time, c)
	}
	if sign == 0 {
		return math.Inf(-1), 0
	}
	return sum - x*x/k.Time + cut + k.LogFactor, sign
}

// LogRatio returns ln(k(c)/k(0)), or NaN if k(c) is negative or k(0) isn't positive. For large c it
// is the difference of logarithms. For small c it uses a formula without cancellation, which is
// accurate down to c = 0.
func (k *Kernel) LogRatio(c float64) float64 {
	x, y, rest := seriesArguments(c)
	if y > 1./16 || LogCutoff(k.Cutoff, 2*x) != 0 {
		here, sign := k.Log(c)
		there, diagonal := k.Log(0)
		if sign == 0 && diagonal > 0 {
			return math.Inf(-1)
		}
		if !(sign > 0 && diagonal > 0) {
			return math.NaN()
		}
		return here - there
	}
	logarithm := -x * x / k.Time
	if k.Sphere == nil {
		return logarithm
	}
	// diagonal is Σ ψ_k/ψ₀ t^k at c = 0, and change is the increase of this sum from 0 to c. Both
	// are in units of the largest possible term, as in LogSum.
	var change, diagonal float64
	s := k.Sphere
	unit := max(1, s.a*s.a*k.Time/4)
	power, step := 1.0, k.Time/4/unit
	for i, v := range s.ratios {
		p := float64(poleOrder(s.n, i))
		// v(y)/(1-y)^p - v(0) = (v(y) - v(0))/(1-y)^p + v(0) ((1-y)^-p - 1)
		d := y*horner(v[1:], y)/math.Pow(rest, p) + v[0]*math.Expm1(-p*math.Log1p(-y))
		change, diagonal = change/unit+d*power, diagonal/unit+v[0]*power
		power *= step
	}
	if !(diagonal > 0) {
		return math.NaN()
	}
	return logarithm + s.LogPsi0(k.Form, c) + math.Log1p(change/diagonal)
}

// Eval returns the kernel at c, 0 <= c <= 2. The result is infinite if the value overflows float64.
func (k *Kernel) Eval(c float64) float64 {
	logarithm, sign := k.Log(c)
	if sign == 0 {
		return 0
	}
	return sign * math.Exp(logarithm)
}
