package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// arcSmooth is the arc-cosine kernel of degree 0 with smoothed thresholds, the normal distribution function of standard deviation σ in place of a step,
//
//	k = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Φ(w·x/σ) Φ(w·y/σ) = 1 - (1/π) arccos( ‖x‖‖y‖(1-c) / √((‖x‖²+σ²)(‖y‖²+σ²)) )
//
// since Φ(z/σ) = P(σg < z) for a standard normal g: the documents get one more coordinate each, of length σ, that no other has. So k(x, x) is below 1, and
// even documents without terms have k = ½ with all. With 1 - cosine of the longer vectors, c_σ, all terms of
//
//	c_σ = (σ²(‖x‖²+‖y‖²+σ²)/(AB + ‖x‖‖y‖) + ‖x‖‖y‖c) / AB,   A² = ‖x‖²+σ², B² = ‖y‖²+σ²
//
// are above 0. σ → 0 gives the degree 0.
//
// Source: Cho's thesis, ch. 3, eq. 3.16.
type arcSmooth struct {
	single
	sigma float64
}

func (f arcSmooth) with([]component) form        { return f }
func (f arcSmooth) homogeneous() (float64, bool) { return 0, false }
func (f arcSmooth) spec() string {
	return format("arccos", f.e, pair{"n", 0}, pair{"sigma", f.sigma})
}

// smooth returns c_σ; A and B are as above.
func smooth(c, x, y, sigma, a, b float64) float64 {
	ab, xy := float64(a*b), float64(x*y)
	gap := sigma * sigma * (float64(x*x) + float64(y*y) + sigma*sigma) / (ab + xy)
	return min((gap+float64(xy*c))/ab, 2)
}

func (f arcSmooth) smoothed(c, x, y float64) float64 {
	return smooth(c, x, y, f.sigma, smoothNorm(x, f.sigma), smoothNorm(y, f.sigma))
}

// smoothNorm returns A = √(x²+σ²).
func smoothNorm(x, sigma float64) float64 { return math.Sqrt(float64(x*x) + sigma*sigma) }

// value: 2-c_σ is to 2-c what c_σ is to c, and has its digits near c = 2.
func (f arcSmooth) value(c, x, y float64) float64 {
	if c > 1 {
		return angle(f.smoothed(2-c, x, y)) / math.Pi
	}
	return coangle(f.smoothed(c, x, y)) / math.Pi
}

func (f arcSmooth) properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product of infinitely many smoothed threshold units", Source: sourceCho + ", ch. 3, eq. 3.16",
		NonNegative: true, PositiveDiagonal: true}
}

// rows computes c_σ in float64, rounds it, and goes through the map of degree 0.
func (f arcSmooth) rows(k *asm.Kernels, b *block) {
	gaps := b.sum[:len(b.y)]
	for j, y := range b.y {
		gaps[j] = smoothGap(float64(y), f.sigma)
	}
	for i, xi := range b.x {
		dst, c := b.row(i)
		smoothRow(dst, c, smoothGap(float64(xi), f.sigma), gaps)
		k.ArcCosine0(dst, dst)
	}
}

// smoothGap returns c_σ of a document with what is orthogonal to it, 1 - x/√(x²+σ²), without a difference.
func smoothGap(x, sigma float64) float64 {
	a := smoothNorm(x, sigma)
	return (sigma / a) * (sigma / (a + x))
}

// smoothRow computes dst[j] = c_σ(c[j], x, y[j]), given p = smoothGap of x and the q of the columns,
//
//	c_σ = (p + q - pq) + (1-p)(1-q) c
//
// where p + q - pq is at least half of p + q, so that float64 loses nothing that float32 has; and each operation gives the same with p and q exchanged. dst may be c.
func smoothRow(dst, c []float32, p float64, gaps []float64) {
	dst, c = dst[:len(gaps)], c[:len(gaps)]
	r := 1 - p
	for j, q := range gaps {
		dst[j] = float32(((p + q) - float64(p*q)) + float64(float64(r*(1-q))*float64(c[j])))
	}
}

// error: the map is stated to be within 4 ulp, of at most 2 units each, of its value, and rounding c_σ moves that by at most what both ends of the
// interval of c_σ (1 ± u) have.
func (f arcSmooth) error(c, x, y float64) float64 {
	s := f.smoothed(c, x, y)
	v := f.value(c, x, y)
	moved := max(math.Abs(coangle(min(s*(1+unit), 2))/math.Pi-v), math.Abs(coangle(s*(1-unit))/math.Pi-v))
	return moved + 8*unit*(v+moved) + underflow
}
