package heat

import "math"

// Kernel is the parametrix of the heat kernel as a function of c alone,
//
//	k = factor · η(d) exp(-d²/4t) (ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m),  d = 2 arccos(1-c)
//
// It is immutable and may be used concurrently.
type Kernel struct {
	Sphere    *Sphere
	T         float64 // time in squared units of d, above 0
	Form      Form
	Cutoff    float64 // radius of the cut-off in units of d, 0 for none; see [LogCutoff]
	LogFactor float64 // logarithm of a constant factor
}

// Log returns the logarithm of the absolute value of the kernel at c, 0 <= c <= 2, and its sign: -1, 0 or 1. The logarithm of 0 is -Inf; beyond
// the cut-off the kernel is 0 even where ψ₀ is infinite.
//
// Accuracy: that of [Sphere.LogSum] and [LogCutoff], and a few float64 ulp of each logarithm.
func (k *Kernel) Log(c float64) (logarithm, sign float64) {
	x, _, _ := places(c)
	cut := LogCutoff(k.Cutoff, 2*x)
	if math.IsInf(cut, -1) {
		return cut, 0
	}
	sum, sign := k.Sphere.LogSum(k.Form, k.T, c)
	if sign == 0 {
		return math.Inf(-1), 0
	}
	return sum - x*x/k.T + cut + k.LogFactor, sign
}

// Eval returns the kernel at c, 0 <= c <= 2; it is infinite where its value is beyond float64.
func (k *Kernel) Eval(c float64) float64 {
	logarithm, sign := k.Log(c)
	if sign == 0 {
		return 0
	}
	return sign * math.Exp(logarithm)
}
