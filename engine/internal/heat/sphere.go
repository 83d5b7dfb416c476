package heat

import (
	"fmt"
	"math"
)

// Form selects a formula for ψ₀.
type Form int

const (
	FormCorrected Form = iota // (sin(d/2)/(d/2))^(-(n-1)/2), which solves the heat equation on the sphere of radius 2
	// (sin d/d)^(-(n-1)/2), as printed in the source; infinite at d = π, for documents without
	// common terms
	FormPrinted
)

// MaxOrder is the maximum order of a parametrix, and MaxDimension the maximum dimension of the
// sphere.
const (
	MaxOrder     = 8
	MaxDimension = math.MaxInt32
)

// Sphere holds the functions ψ₀ … ψ_m of the n-sphere of radius 2. It is immutable and may be used
// concurrently.
type Sphere struct {
	n, order int
	a        float64     // (n-1)/2
	ratios   [][]float64 // coefficients of v_k in y; see ratioCoefficients
}

// NewSphere computes ψ₀ … ψ_order of the n-sphere, for 1 <= n <= [MaxDimension] and 0 <= order <=
// [MaxOrder]. It takes a few milliseconds for MaxOrder.
func NewSphere(n, order int) (*Sphere, error) {
	if n < 1 || n > MaxDimension {
		return nil, fmt.Errorf("heat: dimension must be between 1 and %d, got %d", MaxDimension, n)
	}
	if order < 0 || order > MaxOrder {
		return nil, fmt.Errorf("heat: order must be between 0 and %d, got %d", MaxOrder, order)
	}
	return &Sphere{n: n, order: order, a: float64(n-1) / 2, ratios: ratioCoefficients(n, order)}, nil
}

// LogPsi0 returns
//
//	ln ψ₀ = -(n-1)/2 ln(sin x/x),  x = d/2 = arccos(1-c) as derived, or x = d as printed
//
// for 0 <= c <= 2, within a few float64 ulp. It is 0 for n = 1. It is +Inf at the antipode, c = 2,
// and for the printed form for c >= 1, where sin d isn't positive.
func (s *Sphere) LogPsi0(form Form, c float64) float64 {
	if s.a == 0 {
		return 0
	}
	if form == FormPrinted {
		return s.a * logSineDouble(c)
	}
	return s.a * logSine(c)
}

// coefficients returns the coefficients of v_k that affect the float64 result at y. For c <= 1 each
// term is at most about a sixteenth of the previous one.
func (s *Sphere) coefficients(k int, y float64) []float64 {
	if y <= 0.25 {
		return s.ratios[k][:seriesTerms/2]
	}
	return s.ratios[k]
}

// LogSum returns the logarithm of the absolute value, and the sign, of
//
//	ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m,  d = 2 arccos(1-c),  t > 0 in squared units of d
//
// for 0 <= c <= 2. The sign is -1, 0 or 1. A truncated sum may be negative for large t or near the
// antipode. At c = 2 the logarithm is +Inf unless n = 1, and the sign is the sign of the pole.
//
// Accuracy: ln ψ₀ has an error of a few float64 ulp. Each ψ_k/ψ₀ is computed from a power series in
// arccos²(1-c), with an error of about 10 float64 ulp of the largest term of the series. The error
// of the sum is relative to Σ |ψ_k t^k/ψ₀|, so it grows if terms cancel. For c <= 1 the largest
// term of a series is at most a few times ψ_k/ψ₀ at c = 0.
func (s *Sphere) LogSum(form Form, t, c float64) (logarithm, sign float64) {
	_, y, rest := seriesArguments(c)
	// For smaller 1-y, 2-c is inaccurate, and only the pole of highest order matters.
	rest = max(rest, 1e-9)
	// In units of the largest possible term, no power overflows float64.
	unit := max(1, s.a*s.a*t/(4*rest))
	step := t / (4 * rest) / unit
	var sum float64
	power := 1.0
	for k := range s.ratios {
		term := horner(s.coefficients(k, y), y) * power
		for range k - poleOrder(s.n, k) {
			term *= rest
		}
		sum = sum/unit + term
		power *= step
	}
	switch {
	case sum > 0:
		sign = 1
	case sum < 0:
		sign = -1
	}
	if unit > 1 {
		return s.LogPsi0(form, c) + math.Log(math.Abs(sum)) + float64(s.order)*math.Log(unit), sign
	}
	return s.LogPsi0(form, c) + math.Log(math.Abs(sum)), sign
}

// LogConstant returns the logarithm of the constant factor of the n-sphere, ln (4πt)^(-n/2), for t
// > 0.
func LogConstant(n int, t float64) float64 { return -float64(n) / 2 * math.Log(4*math.Pi*t) }

// seriesArguments returns x = arccos(1-c), y = x²/π² and 1-y with errors of a few ulp for c in [0,
// 2].
func seriesArguments(c float64) (x, y, rest float64) {
	if c <= 1 {
		x = 2 * math.Asin(math.Sqrt(max(c, 0)/2))
		y = x / math.Pi
		y *= y
		return x, y, 1 - y
	}
	e := 2 * math.Asin(math.Sqrt(max(2-c, 0)/2)) / math.Pi // 1 - x/π
	return math.Pi * (1 - e), (1 - e) * (1 - e), e * (2 - e)
}

// logSine returns ln(x/sin x) for x = arccos(1-c), where sin²x = c(2-c). For small x it uses a
// series, because the quotient is near 1.
func logSine(c float64) float64 {
	x, y, _ := seriesArguments(c)
	if y <= 0.25 {
		return horner(logSineSeries, y)
	}
	return math.Log(x / math.Sqrt(c*(2-c)))
}

// logSineDouble returns ln(2x/sin 2x), where sin 2x = 2 sin x cos x = 2 √(c(2-c)) (1-c).
func logSineDouble(c float64) float64 {
	if c >= 1 {
		return math.Inf(1)
	}
	x, y, _ := seriesArguments(c)
	if y <= 0.0625 {
		return horner(logSineSeries, 4*y)
	}
	return math.Log(x / (math.Sqrt(c*(2-c)) * (1 - c)))
}
