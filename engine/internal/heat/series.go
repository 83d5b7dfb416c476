package heat

import (
	"math"
	"math/big"
)

// The functions w_k are even in x. Their only singularities are poles at x² = (πj)², j = 1, 2, ….
// The order of a pole is k or, for odd n, min(k, (n-3)/2). (There the parametrix is the asymptotic
// series of a Bessel function, which is finite for half-integer orders.) So
//
//	w_k(x) = v_k(y) / (1-y)^p,   y = x²/π²,   p = poleOrder(n, k)
//
// where the power series of v_k about 0 converges for |y| < 4. On the whole sphere, 0 <= y < 1,
// each term is at most about a quarter of the previous one. Power series are integrated exactly:
// with z = x², L w = 4z w_zz + 2n w_z + Q w, and a term z^j of L w becomes z^j/(2j+k).
//
// Coefficients are computed with extra digits, because multiplication by (1-y)^k and
// differentiation lose some digits. The float64 results are correctly rounded.
const (
	seriesTerms = 48  // 4⁻⁴⁸ is below float64 precision, even with a factor of 48⁷ from poles of order 8
	seriesBits  = 384 // divisions for the cotangent and powers of 1-y lose about 100 bits
)

const bigPi = "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679"

func newFloat(v float64) *big.Float { return new(big.Float).SetPrec(seriesBits).SetFloat64(v) }

func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(seriesBits).Mul(a, b) }

func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(seriesBits).Quo(a, b) }

// cotangentSeries returns the first coefficients of C in x cot x = 1 - z C(z), z = x². All
// coefficients are positive. With the series S = sin x/x and cos x in z, S·C = (S - cos x)/z.
func cotangentSeries(terms int) []*big.Float {
	sine, difference := make([]*big.Float, terms+1), make([]*big.Float, terms+1)
	factorial := newFloat(1)
	for j := range sine {
		// 1/(2j+1)! - 1/(2j)! = -2j/(2j+1)!
		if j > 0 {
			factorial = mul(factorial, newFloat(float64(2*j)*float64(2*j+1)))
		}
		sign := float64(1 - 2*(j&1))
		sine[j] = quo(newFloat(sign), factorial)
		difference[j] = quo(newFloat(-sign*float64(2*j)), factorial)
	}
	c := make([]*big.Float, terms)
	for j := range c {
		c[j] = newFloat(0).Set(difference[j+1])
		for i := 1; i <= j; i++ {
			c[j].Sub(c[j], mul(sine[i], c[j-i]))
		}
	}
	return c
}

// ratioCoefficients returns the coefficients of v_0 … v_order for the n-sphere: v_k = Σ
// ratios[k][j] y^j.
func ratioCoefficients(n, order int) [][]float64 {
	a := float64(n-1) / 2
	terms := seriesTerms + order // the derivative loses a term per order
	q := cotangentSeries(terms)
	for j := range q {
		q[j] = mul(q[j], newFloat(-a*float64(2*j+1))) // 1/sin²x - 1/x² = C + 2z C′
		q[j] = mul(q[j], newFloat(a-1))
	}
	q[0].Add(q[0], mul(newFloat(a), newFloat(a)))

	pi, _, err := big.ParseFloat(bigPi, 10, seriesBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	square := mul(pi, pi)
	w := make([]*big.Float, terms)
	w[0] = newFloat(1)
	for j := 1; j < terms; j++ {
		w[j] = newFloat(0)
	}
	all := [][]float64{regularCoefficients(w, 0, square)}
	for k := 1; k <= order; k++ {
		next := make([]*big.Float, len(w)-1)
		for j := range next {
			// 4z w_zz + 2n w_z: term j comes from term j+1 of w.
			g := mul(w[j+1], newFloat(float64(j+1)*(4*float64(j)+2*float64(n))))
			for i := 0; i <= j; i++ {
				g.Add(g, mul(q[i], w[j-i]))
			}
			next[j] = quo(g, newFloat(float64(2*j+k)))
		}
		w = next
		all = append(all, regularCoefficients(w, poleOrder(n, k), square))
	}
	return all
}

// poleOrder returns the order of the pole of ψ_k/ψ₀ at the antipode of the n-sphere.
func poleOrder(n, k int) int {
	if n%2 == 1 {
		return min(k, max(n-3, 0)/2)
	}
	return k
}

// regularCoefficients returns the coefficients, in y = z/square, of w·(1-y)^p.
func regularCoefficients(w []*big.Float, p int, square *big.Float) []float64 {
	v := make([]*big.Float, seriesTerms)
	power := newFloat(1)
	for j := range v {
		v[j] = mul(w[j], power)
		power = mul(power, square)
	}
	for range p {
		for j := len(v) - 1; j > 0; j-- {
			v[j].Sub(v[j], v[j-1])
		}
	}
	out := make([]float64, len(v))
	for j := range v {
		out[j], _ = v[j].Float64()
	}
	return out
}

// logSineSeries holds the coefficients of ln(x/sin x) = Σ ζ(2j)/j y^j, j = 1, 2, …, y = x²/π². The
// coefficients suffice for y <= ¼.
var logSineSeries = func() []float64 {
	const terms = 28
	s := make([]float64, terms+1)
	for j := 1; j <= terms; j++ {
		s[j] = zeta(2*j) / float64(j)
	}
	return s
}()

// zeta returns Riemann's ζ(s) for integer s >= 2. It sums the first terms, smallest first, and uses
// the Euler-Maclaurin formula for the other terms. The truncation error is below 10⁻¹⁸.
func zeta(s int) float64 {
	const direct = 32
	p := float64(s)
	term := math.Pow(direct, -p)
	sum := term*(direct/(p-1)+0.5) + term*p/(12*direct) - term*p*(p+1)*(p+2)/(720*direct*direct*direct) +
		term*p*(p+1)*(p+2)*(p+3)*(p+4)/(30240*direct*direct*direct*direct*direct)
	for m := direct - 1; m >= 1; m-- {
		sum += math.Pow(float64(m), -p)
	}
	return sum
}

func horner(s []float64, y float64) float64 {
	var sum float64
	for j := len(s) - 1; j >= 0; j-- {
		sum = sum*y + s[j]
	}
	return sum
}
