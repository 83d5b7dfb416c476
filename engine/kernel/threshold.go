package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/internal/arccosine"
)

// withOrthogonalComponent adds a component of norm σ to each document, orthogonal to all documents
// and to the other components. 1 - cosine of the longer vectors has only positive terms,
//
//	c_σ = (σ²(‖x‖²+‖y‖²+σ²)/(AB + ‖x‖‖y‖) + ‖x‖‖y‖c) / AB,   A² = ‖x‖²+σ², B² = ‖y‖²+σ²
func withOrthogonalComponent(a input, sigma float64) input {
	longer := a.norm.compose("smooth "+formatNumber(sigma), func(x float64) float64 { return smoothNorm(x, sigma) })
	ab, xy := a.normProduct(longer), a.normProduct(a.norm)
	squares := a.normSum(a.norm.compose("square", func(x float64) float64 { return x * x }))
	gap := a.div(a.scale(sigma*sigma, a.add(squares, a.number(sigma*sigma))), a.add(ab, xy))
	return input{a.e, a.div(a.add(gap, a.mul(xy, a.c)), ab), longer}
}

func smoothNorm(x, sigma float64) float64 { return math.Sqrt(float64(x*x) + sigma*sigma) }

// smoothedThreshold is the arc-cosine kernel of degree 0 with a normal distribution function of
// standard deviation σ instead of the step function. It is the same as the kernel with step
// functions on documents with an orthogonal component of norm σ. Source: Cho's thesis, ch. 3, eq.
// 3.16.
func smoothedThreshold(sigma float64) formula {
	value := tabulatedFunction(func(c float64) float64 { return supplementaryAngle(c) / math.Pi })
	opposite := tabulatedFunction(func(c float64) float64 { return angle(c) / math.Pi })
	return formula{
		value: func(a input) ref {
			near := a.fn(value, withOrthogonalComponent(a, sigma).c)
			if !a.e.exact {
				return near
			}
			// 2-c_σ follows from 2-c as c_σ from c, and is accurate near c = 2.
			far := withOrthogonalComponent(input{a.e, a.sub(a.number(2), a.c), a.norm}, sigma)
			return a.ifPositive(a.sub(a.c, a.number(1)), a.fn(opposite, far.c), near)
		},
		deficit: func(a input) ref { return smoothDeficit(a, sigma) },
		properties: nonNegative("an inner product of the outputs of infinitely many smoothed threshold units",
			sourceCho+", ch. 3, eq. 3.16"),
	}
}

// smoothDeficit adds c2 of smoothed thresholds without cancellation. Smoothing gives a document of
// norm x the angle θ_x to itself, with cos θ_x = (x/A)². The norm of φ(x) is √p with p = 1 - θ_x/π,
// and likewise √q for y. If θ is the angle of two documents and m = (θ_x+θ_y)/2, then
//
//	c2 = ((θ-m)/π - (√p-√q)²/2) / √(pq),   θ-m = 2 arctan(sin(θ-m)/(1+cos(θ-m)))
//
// The second term is at most a quarter of the first. With g = xy/(AB), cos θ = g(1-c) and d =
// (θ_x-θ_y)/2,
//
//	sin m = sin(θ_x/2) cos(θ_y/2) + cos(θ_x/2) sin(θ_y/2)
//	sin d = σ²(y²-x²) / (2 A²B² sin m)            from cos θ_x - cos θ_y
//	cos² m = g² + sin² d                          from cos(m+d) cos(m-d) = cos² m - sin² d
//	n = cos² m - cos² θ = sin² d + g² c(2-c),     sin² θ = sin² m + n
//	sin(θ-m) = sin θ cos m - cos θ sin m = n / (sin θ cos m + cos θ sin m)
//
// The first form of the last line is used for c > 1, the second otherwise, so that all terms are
// positive.
func smoothDeficit(a input, sigma float64) ref {
	text := "smooth " + formatNumber(sigma)
	side := func(name string, f func(x, longer float64) float64) norm {
		return a.norm.compose(text+name, func(x float64) float64 { return f(x, smoothNorm(x, sigma)) })
	}
	sinX, sinY := a.pair(side(" sine", func(_, l float64) float64 { return sigma / (math.Sqrt2 * l) }))
	cosX, cosY := a.pair(side(" cosine", func(x, l float64) float64 { return math.Sqrt((1 + x/l*(x/l)) / 2) }))
	length := side(" length", func(_, l float64) float64 {
		return math.Sqrt(1 - 2*math.Asin(sigma/(math.Sqrt2*l))/math.Pi)
	})
	one := a.number(1)
	x, y := a.pair(a.norm)
	sinM := a.add(a.mul(sinX, cosY), a.mul(cosX, sinY))
	scale := a.normProduct(side(" scale", func(_, l float64) float64 { return sigma / (math.Sqrt2 * l * l) }))
	dd := a.square(a.div(a.mul(a.mul(a.sub(x, y), a.add(x, y)), scale), sinM))
	g := a.normProduct(side(" root", func(x, l float64) float64 { return x / l }))
	gg := a.square(g)
	n := a.add(dd, a.mul(gg, a.mul(a.c, a.sub(a.number(2), a.c))))
	cosM, sinT, cosT := a.fn(squareRoot, a.add(gg, dd)), a.fn(squareRoot, a.add(a.square(sinM), n)), a.mul(g, a.cosine())
	first, second := a.mul(sinT, cosM), a.mul(cosT, sinM)
	near := a.ifPositive(n, a.div(n, a.add(first, second)), a.number(0))
	sin := a.ifPositive(a.sub(a.c, one), a.sub(first, second), near)
	cos := a.add(a.mul(cosT, cosM), a.mul(sinT, sinM))
	turn := a.scale(2/math.Pi, a.fn(arctangent, a.div(sin, a.add(one, cos))))
	return a.fn(clamp, a.div(a.sub(turn, a.scale(0.5, a.normSquaredDifference(length))), a.normProduct(length)))
}

// biasedThreshold is the arc-cosine kernel of degree 0 with biased thresholds, so that norms
// matter: documents with large norms exceed a threshold more often. arccosine.BiasedKernel
// documents the formula, which is evaluated for each value. Smoothing biased thresholds is
// equivalent to adding an orthogonal component of norm σ to each document.
//
// Source: Cho's thesis, ch. 3, eq. 3.3-3.5 and 3.16.
func biasedThreshold(bias, sigma float64) formula {
	inner := func(a input) input {
		if sigma == 0 {
			return a
		}
		return withOrthogonalComponent(a, sigma)
	}
	self := func(x float64) float64 { // c of a document of norm x with itself
		if sigma == 0 {
			return 0
		}
		return sigma / x * (sigma / x)
	}
	value := &goFunc{func(c, x, y float64) float64 { return arccosine.BiasedKernel(c, x, y, bias) }}
	// With the diagonals p = k(x, x) and q = k(y, y),
	//
	//	c2 = ((p+q)/2 - k - (√p-√q)²/2) / √(pq)
	//
	// where (p+q)/2 - k is computed by a separate formula. The formula has full relative accuracy
	// for step functions and equal norms, and otherwise an error of about 10⁻¹⁶ (p + q). If c2 is
	// above ½, it is computed by the definition.
	deficit := &goFunc{func(c, x, y float64) float64 {
		p, q := value.f(self(x), x, x), value.f(self(y), y, y)
		x2, y2 := math.Sqrt(p), math.Sqrt(q)
		if p == 0 || q == 0 { // a norm in the feature space is 0, so c2 isn't defined
			return min(c, 1)
		}
		if ratio := value.f(c, x, y) / (x2 * y2); !(ratio > 0.5) {
			return 1 - ratio
		}
		gap := arccosine.BiasedSquaredDistance(c, x, y, bias)
		if sigma > 0 {
			gap -= (arccosine.BiasedSquaredDistance(self(x), x, x, bias) +
				arccosine.BiasedSquaredDistance(self(y), y, y, bias)) / 2
		}
		d := x2 - y2
		return min(max((gap-d*d)/(2*x2*y2), 0), 2)
	}}
	known := nonNegative("an inner product of the outputs of infinitely many biased threshold units",
		sourceCho+", ch. 3, eq. 3.3-3.5")
	if bias > 0 {
		known.Condition += "; 0 for documents with norms far below bias"
	}
	return formula{
		value:      func(a input) ref { return inner(a).callFunc(value) },
		deficit:    func(a input) ref { return inner(a).callFunc(deficit) },
		properties: known,
	}
}
