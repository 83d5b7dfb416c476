package geometry

import (
	"math/big"
)

// The kernels once more, of vectors of 700 bits, and the geometry of any kernel by differences: this
// knows no norms, no cosines and no warped products.

const prec = 700

func number(v float64) *big.Float           { return new(big.Float).SetPrec(prec).SetFloat64(v) }
func zero() *big.Float                      { return number(0) }
func add(a, b *big.Float) *big.Float        { return zero().Add(a, b) }
func sub(a, b *big.Float) *big.Float        { return zero().Sub(a, b) }
func mul(a, b *big.Float) *big.Float        { return zero().Mul(a, b) }
func quo(a, b *big.Float) *big.Float        { return zero().Quo(a, b) }
func root(a *big.Float) *big.Float          { return zero().Sqrt(a) }
func shift(a *big.Float, by int) *big.Float { return zero().SetMantExp(a, by) }
func tiny(a *big.Float, beside *big.Float) bool {
	return a.Sign() == 0 || a.MantExp(nil) < beside.MantExp(nil)-prec
}
func power(a *big.Float, n int) (out *big.Float) {
	out = number(1)
	for range n {
		out = mul(out, a)
	}
	return out
}

// exp halves its argument 40 times and sums the series.
func exp(a *big.Float) *big.Float {
	a = shift(a, -40)
	sum, term := number(1), number(1)
	for k := 1.0; !tiny(term, sum); k++ {
		term = quo(mul(term, a), number(k))
		sum = add(sum, term)
	}
	for range 40 {
		sum = mul(sum, sum)
	}
	return sum
}

// atan halves the angle 20 times, by tan(v/2) = t/(1+√(1+t²)), and sums the series.
func atan(t *big.Float) *big.Float {
	for range 20 {
		t = quo(t, add(number(1), root(add(number(1), mul(t, t)))))
	}
	square := mul(t, t)
	sum, term := t, t
	for k := 3.0; !tiny(term, sum); k += 2 {
		term = mul(mul(term, square), number(-1))
		sum = add(sum, quo(term, number(k)))
	}
	return shift(sum, 20)
}

var pi = shift(atan(number(1)), 2)

// acos of z below 1.
func acos(z *big.Float) *big.Float {
	one := number(1)
	return shift(atan(root(quo(sub(one, z), add(one, z)))), 1)
}

func dot(x, y []*big.Float) *big.Float {
	sum := zero()
	for i := range x {
		sum = add(sum, mul(x[i], y[i]))
	}
	return sum
}

// arccosine is (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ) of whole n >= 1 by the definition of J_n, see thesis eq. 2.4 to
// 2.6, and for n = 3 the recurrence of package arccosine.
func arccosine(n int, xx, xy, yy *big.Float) *big.Float {
	length := root(mul(xx, yy))
	cos := quo(xy, length)
	sine := sub(number(1), mul(cos, cos))
	// at x = y the cosine is 1 but for a last bit, of either sign
	theta := zero()
	sin := zero()
	if sine.Sign() > 0 {
		theta, sin = acos(cos), root(sine)
	}
	rest := sub(pi, theta)
	j0, j1 := rest, add(sin, mul(rest, cos))
	for m := 2; m <= n; m++ {
		j0, j1 = j1, add(mul(number(float64(2*m-1)), mul(cos, j1)), mul(number(float64((m-1)*(m-1))), mul(mul(sin, sin), j0)))
	}
	return quo(mul(power(length, n), j1), pi)
}

// oracle is a kernel of ‖x‖², ⟨x, y⟩ and ‖y‖².
type oracle func(xx, xy, yy *big.Float) *big.Float

func (k oracle) at(x, y []*big.Float) *big.Float { return k(dot(x, x), dot(x, y), dot(y, y)) }

// moved returns x with coordinate i moved by h.
func moved(x []*big.Float, i int, h *big.Float) []*big.Float {
	out := append([]*big.Float{}, x...)
	out[i] = add(x[i], h)
	return out
}

// metric is ∂²k/∂xᵢ∂yⱼ at y = x by central differences of step 2⁻¹²⁰: the error is of the order of
// the step, since arc-cosine kernels have a third derivative that jumps.
func (k oracle) metric(x []*big.Float) [][]*big.Float {
	h := shift(number(1), -120)
	back := shift(number(-1), -120)
	g := make([][]*big.Float, len(x))
	for i := range x {
		g[i] = make([]*big.Float, len(x))
		for j := range x {
			up, down := moved(x, i, h), moved(x, i, back)
			v := sub(k.at(up, moved(x, j, h)), k.at(up, moved(x, j, back)))
			v = sub(v, sub(k.at(down, moved(x, j, h)), k.at(down, moved(x, j, back))))
			g[i][j] = shift(v, 238) // 1/(4h²)
		}
	}
	return g
}

// step is that of the derivatives of g: their error is its square, 2⁻⁵⁰, and what 2⁻¹²⁰ leaves of it
// divided by that.
const step = 25

// curvature is the scalar curvature by Christoffel symbols, thesis eq. 6.13 to 6.15, from central
// differences of the metric.
func (k oracle) curvature(at []float64) (g [][]float64, s float64) {
	d := len(at)
	x := make([]*big.Float, d)
	for i, v := range at {
		x[i] = number(v)
	}
	h, back := shift(number(1), -step), shift(number(-1), -step)
	values := func(m [][]*big.Float) [][]float64 {
		out := make([][]float64, d)
		for i := range m {
			out[i] = make([]float64, d)
			for j := range m[i] {
				out[i][j], _ = m[i][j].Float64()
			}
		}
		return out
	}
	combine := func(by int, ms ...[][]*big.Float) [][]float64 { // + - or + - - +
		out := make([][]*big.Float, d)
		for i := range d {
			out[i] = make([]*big.Float, d)
			for j := range d {
				v := sub(ms[0][i][j], ms[1][i][j])
				if len(ms) == 4 {
					v = sub(v, sub(ms[2][i][j], ms[3][i][j]))
				}
				out[i][j] = shift(v, by)
			}
		}
		return values(out)
	}
	here := k.metric(x)
	g = values(here)
	first := make([][][]float64, d)    // ∂ₐ g
	second := make([][][][]float64, d) // ∂ₐ∂ᵦ g
	for a := range d {
		up, down := k.metric(moved(x, a, h)), k.metric(moved(x, a, back))
		first[a] = combine(step-1, up, down)
		second[a] = make([][][]float64, d)
		second[a][a] = combine(2*step, up, here, here, down)
		for b := range a {
			second[a][b] = combine(2*step-2,
				k.metric(moved(moved(x, a, h), b, h)), k.metric(moved(moved(x, a, h), b, back)),
				k.metric(moved(moved(x, a, back), b, h)), k.metric(moved(moved(x, a, back), b, back)))
			second[b][a] = second[a][b]
		}
	}
	inverse := invert(g)
	// Γ with the first index down, [a, bc] = ½(∂_b g_ca + ∂_c g_ab - ∂_a g_bc), and its derivative
	lower := func(a, b, c int) float64 { return (first[b][c][a] + first[c][a][b] - first[a][b][c]) / 2 }
	slope := func(e, a, b, c int) float64 {
		return (second[e][b][c][a] + second[e][c][a][b] - second[e][a][b][c]) / 2
	}
	raised := func(m, b, c int) (sum float64) {
		for a := range d {
			sum += inverse[m][a] * lower(a, b, c)
		}
		return sum
	}
	// ∂_e Γ^m_bc = g^ma (∂_e [a, bc] - ∂_e g_an Γ^n_bc)
	change := func(e, m, b, c int) (sum float64) {
		for a := range d {
			v := slope(e, a, b, c)
			for n := range d {
				v -= first[e][a][n] * raised(n, b, c)
			}
			sum += inverse[m][a] * v
		}
		return sum
	}
	for n := range d {
		for b := range d {
			ricci := 0.0
			for m := range d {
				ricci += change(m, m, b, n) - change(b, m, m, n)
				for r := range d {
					ricci += raised(r, b, n)*raised(m, m, r) - raised(r, m, n)*raised(m, b, r)
				}
			}
			s += inverse[n][b] * ricci
		}
	}
	return g, s
}

// invert is Gauss and Jordan's inverse of a positive definite matrix.
func invert(g [][]float64) [][]float64 {
	d := len(g)
	a, inverse := make([][]float64, d), make([][]float64, d)
	for i := range d {
		a[i], inverse[i] = append([]float64{}, g[i]...), make([]float64, d)
		inverse[i][i] = 1
	}
	for i := range d {
		pivot := a[i][i]
		for j := range d {
			a[i][j] /= pivot
			inverse[i][j] /= pivot
		}
		for r := range d {
			if f := a[r][i]; r != i {
				for j := range d {
					a[r][j] -= f * a[i][j]
					inverse[r][j] -= f * inverse[i][j]
				}
			}
		}
	}
	return inverse
}
