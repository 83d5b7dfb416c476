package hyperbolic

import "math"

// derivatives holds the buffers of the method log. It must not be used concurrently.
type derivatives struct{ p, g []float64 }

// log returns the logarithm of
//
//	g_m = (-d/dv)^m f / f,   f = exp(-r²/4t),  v = cosh r
//
// for m >= 0, r >= 0, t > 0, in O(m²) operations. The relative error of g_m is about m float64 ulp.
//
// p_i and g_j (see the package comment) are scaled by powers of v+1, which cancel the exponential
// growth in r: p_i/i! is p[i]/(v+1)^(i+1), and g_j/j! is (λ/(v+1))^j g[j]. The singularity of f(v)
// nearest to v is the branch point -1, so all p[i] are of moderate size. For small t, g_j/j! grows
// like (p[0]/4t)^j/j!. So λ = 1 + e p[0]/(4tm) prevents overflow of g[0] to g[m].
func (d *derivatives) log(m int, t, r float64) float64 {
	if m == 0 {
		return 0
	}
	d.computeLegendre(m, r)
	lambda := 1 + math.E*d.p[0]/(4*t*float64(m))
	d.g = append(d.g[:0], 1)
	scale := 1.0
	for i := range m {
		d.p[i] *= scale
		scale /= lambda
	}
	for j := 1; j <= m; j++ {
		var sum float64
		for i, p := range d.p[:j] {
			sum += p * d.g[j-1-i]
		}
		d.g = append(d.g, sum/(4*t*lambda*float64(j)))
	}
	factorial, _ := math.Lgamma(float64(m + 1))
	return factorial + math.Log(d.g[m]) + float64(m)*(math.Log(lambda)-logCoshPlus(r))
}

// computeLegendre sets p[i] = (v+1)^(i+1) p_i/i! for 0 <= i < m. With T = (v-1)/(v+1) = tanh²(r/2),
// it uses p[0] = 2r coth(r/2) and the recurrence
//
//	T(i+1) p[i+1] = (2i+1)(1+T)/2 p[i] - i p[i-1],   T p[1] = (1+T)/2 p[0] - 2
//
// The required solution behaves like 1/√i, but a second solution of the recurrence grows like T^-i.
// If this growth is negligible, the recurrence runs forwards. Otherwise it runs backwards from a
// large index with arbitrary start values, and so converges to the required solution.
func (d *derivatives) computeLegendre(m int, r float64) {
	tanh := math.Tanh(r / 2)
	t := tanh * tanh
	first := 4.0
	if tanh > 0 {
		first = 2 * r / tanh
	}
	d.p = append(d.p[:0], make([]float64, m)...)
	if math.Pow(t, float64(m)) > 1./8 {
		d.p[0] = first
		if m > 1 {
			d.p[1] = ((1+t)/2*first - 2) / t
		}
		for i := 1; i+1 < m; i++ {
			d.p[i+1] = (float64(2*i+1)*(1+t)/2*d.p[i] - float64(i)*d.p[i-1]) / (t * float64(i+1))
		}
		return
	}
	start := m + 2
	if t > 0 {
		start += int(40 / -math.Log(t)) // T^(40/ln(1/T)) = e^-40
	}
	above, at := 0.0, 1.0
	for i := start; i > 0; i-- {
		above, at = at, (float64(2*i+1)*(1+t)/2*at-float64(i+1)*t*above)/float64(i)
		if i <= m {
			d.p[i-1] = at
		}
	}
	for i := range d.p {
		d.p[i] *= first / at
	}
}

// logCoshPlus returns ln(1 + cosh r) = ln(2 cosh²(r/2)).
func logCoshPlus(r float64) float64 { return r + 2*math.Log1p(math.Exp(-r)) - math.Ln2 }

// logSinh returns ln sinh r for r > 0.
func logSinh(r float64) float64 {
	if r < 1 {
		return math.Log(math.Sinh(r))
	}
	return r + math.Log1p(-math.Exp(-2*r)) - math.Ln2
}
