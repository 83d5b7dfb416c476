package arccosine

import "math"

// series evaluates the series (4) of doc.go for a fixed degree. With n = m + ½ - ε and an integer m
// >= 0, terms from x^(m+1) on are combined in pairs,
//
//	J_n/J_n(0) = 1 + Σ a_k x^k + x^(m+1) Σ x^j (u_j - v_j x^(-ε))/ε,   1 <= k <= m,  j >= 0
//	a_k = (-n)_k² / ((½-n)_k k!),   u_j = ε a_{m+1+j}
//	v_j = (-1)^m ε/sin(πε) Γ(n+1)²/(Γ(n+3/2) Γ(n+½)) (½)_j² / ((n+3/2)_j j!)
//
// where u_j → v_j as ε → 0, so that a term x^(m+1) ln x appears. Each pair is v_j (w_j + L) with
//
//	w_j = (u_j/v_j - 1)/ε,   L = (1 - x^(-ε))/ε
//
// ln(u_j/v_j)/ε is computed without cancellation from
//
//	ln(u_0/v_0) = ln [Γ(1-ε) Γ(m+2-ε) sin(πε) / (ε (m+1)! Γ(½-ε)²)]
//	ln(u_{j+1}/v_{j+1}) - ln(u_j/v_j) = 2 ln(1 + ε/(j+½)) + ln(1 - ε/(m+2+j)) - ln(1 + ε/(j+1))
type series struct {
	m   int
	eps float64
	a   []float64 // a_1 … a_m
	v   [termCount]float64
	vw  [termCount]float64
}

// termCount is the number of terms that are summed for x <= ½. The omitted terms add up to less
// than 2⁻⁵⁶ of the result.
const termCount = 60

// poleDistance is the largest |ε| for which pairs use logarithms. For larger |ε| direct subtraction
// loses less than 3 bits.
const poleDistance = 0.25

func newSeries(n float64) *series {
	s := &series{m: max(int(math.Floor(n)), 0)}
	m := float64(s.m)
	s.eps = m + 0.5 - n
	eps := s.eps
	a := 1.0
	for k := range s.m {
		a *= (float64(k) - n) * (float64(k) - n) / ((0.5 - n + float64(k)) * float64(k+1))
		s.a = append(s.a, a)
	}
	// u_0 = ε a_{m+1}: the factor ε cancels in (½-n)_{m+1}.
	u := a * (m - n) * (m - n) / (m + 1)
	v := math.Gamma(n+1) / math.Gamma(n+1.5) * (math.Gamma(n+1) / math.Gamma(n+0.5)) / math.Pi
	if eps != 0 {
		v *= math.Pi * eps / math.Sin(math.Pi*eps)
	}
	if s.m%2 == 1 {
		v = -v
	}
	eta := 0.0
	if math.Abs(eps) <= poleDistance {
		eta = logGammaRatio(eps)
		for i := 1.0; i <= m+1; i++ {
			eta += log1pOver(eps, -1/i)
		}
	}
	for k := range termCount {
		j := float64(k)
		s.v[k] = v
		switch {
		case math.Abs(eps) > poleDistance:
			s.vw[k] = (u - v) / eps
		case eps == 0:
			s.vw[k] = v * eta
		default:
			s.vw[k] = v * math.Expm1(eps*eta) / eps
		}
		u *= (j + 0.5 + eps) * (j + 0.5 + eps) / ((1 + eps + j) * (m + 2 + j))
		v *= (j + 0.5) * (j + 0.5) / ((n + 1.5 + j) * (j + 1))
		eta += 2*log1pOver(eps, 1/(j+0.5)) + log1pOver(eps, -1/(m+2+j)) - log1pOver(eps, 1/(j+1))
	}
	return s
}

// log1pOver returns ln(1 + ea)/e, or a if e = 0.
func log1pOver(e, a float64) float64 {
	if e == 0 {
		return a
	}
	return math.Log1p(e*a) / e
}

// logGammaRatio returns ln[Γ(1-e)² π sin(πe) / (πe Γ(½-e)²)]/e for |e| <= ¼,
//
//	-4 ln 2 - 2 Σ (2^k-2) ζ(k) e^(k-1)/k - Σ ζ(2i) e^(2i-1)/i,   k >= 2, i >= 1
//
// It uses the series of ln Γ around 1 and ½ (DLMF 5.7.3) and of ln(sin πe/πe).
func logGammaRatio(e float64) float64 {
	sum := -4 * math.Ln2
	power := e // e^(k-1)
	for k := 2; k <= 60; k++ {
		z := zeta(k)
		sum -= 2 * (math.Ldexp(1, k) - 2) * z * power / float64(k)
		if k%2 == 0 {
			sum -= z * power / float64(k/2)
		}
		power *= e
	}
	return sum
}

// zeta returns Riemann's ζ(k) for k >= 2. It sums nineteen terms, and uses the Euler-Maclaurin
// formula for the remaining terms. The error is below 10⁻¹⁷.
func zeta(k int) float64 {
	const n = 20
	s := float64(k)
	rest := math.Pow(n, 1-s)/(s-1) + math.Pow(n, -s)/2
	// B_2/2!, B_4/4!, …
	factor := s * math.Pow(n, -s-1)
	for i, b := range []float64{1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160} {
		rest += b * factor
		factor *= (s + float64(2*i+1)) * (s + float64(2*i+2)) / (n * n)
	}
	for i := n - 1; i >= 1; i-- {
		rest += math.Pow(float64(i), -s)
	}
	return rest
}

// deficit returns 1 - J_n/J_n(0) and its derivative with respect to x, for x in (0, ½].
func (s *series) deficit(x float64) (lost, slope float64) {
	l, singular := math.Log(x), 1.0
	if s.eps != 0 {
		e := math.Expm1(-s.eps * l)
		l, singular = -e/s.eps, e+1
	}
	power := 1.0 // x^k
	for k, a := range s.a {
		slope -= a * float64(k+1) * power
		power *= x
		lost -= a * power
	}
	for j, v := range s.v {
		pair := s.vw[j] + v*l
		slope -= power * (float64(s.m+1+j)*pair + v*singular)
		power *= x
		lost -= power * pair
		if power < 0x1p-60*math.Abs(lost) && j > 0 {
			break
		}
	}
	return lost, slope
}
