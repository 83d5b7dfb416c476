package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// arcSmooth is the arc-cosine kernel of degree 0 with smoothed thresholds, the normal distribution
// function of standard deviation σ in place of a step,
//
//	k = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Φ(w·x/σ) Φ(w·y/σ)
//	  = 1 - (1/π) arccos( ‖x‖‖y‖(1-c) / √((‖x‖²+σ²)(‖y‖²+σ²)) )
//
// since Φ(z/σ) = P(σg < z) for a standard normal g: the documents get one more coordinate each, of
// length σ, that no other has. So k(x, x) is below 1, and even documents without terms have k = ½
// with all. With 1 - cosine of the longer vectors, c_σ, all terms of
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
	return nonNegative("an inner product of infinitely many smoothed threshold units", sourceCho+", ch. 3, eq. 3.16")
}

// program pushes c_σ, and takes it through the degree 0.
func (f arcSmooth) program(b *programBuilder, l layer) {
	norm := func(x float64) float64 { return smoothNorm(x, f.sigma) }
	name := "smooth " + syntax.FormatNumber(f.sigma)
	at := b.attribute(l, "square", func(x float64) float64 { return x * x })
	// gap = σ²(x²+y²+σ²)/(AB+xy)
	b.op(device.OpX, at)
	b.op(device.OpY, at)
	b.op(device.OpAdd)
	b.constant(f.sigma * f.sigma)
	b.op(device.OpAdd)
	b.constant(f.sigma * f.sigma)
	b.op(device.OpMul)
	b.both(l, name, norm)
	b.both(l, "1", identity)
	b.ops(device.OpAdd, device.OpDiv)
	b.both(l, "1", identity)
	b.c(l)
	b.ops(device.OpMul, device.OpAdd)
	b.both(l, name, norm)
	b.ops(device.OpDiv, device.OpClamp)
	b.table(table.New(func(c float64) float64 { return coangle(c) / math.Pi }))
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

// smoothGap returns c_σ of a document with what is orthogonal to it, 1 - x/√(x²+σ²), without a
// difference.
func smoothGap(x, sigma float64) float64 {
	a := smoothNorm(x, sigma)
	return (sigma / a) * (sigma / (a + x))
}

// smoothRow computes dst[j] = c_σ(c[j], x, y[j]), given p = smoothGap of x and the q of the
// columns,
//
//	c_σ = (p + q - pq) + (1-p)(1-q) c
//
// where p + q - pq is at least half of p + q, so that float64 loses nothing that float32 has; and
// each operation gives the same with p and q exchanged. dst may be c.
func smoothRow(dst, c []float32, p float64, gaps []float64) {
	dst, c = dst[:len(gaps)], c[:len(gaps)]
	r := 1 - p
	for j, q := range gaps {
		dst[j] = float32(((p + q) - float64(p*q)) + float64(float64(r*(1-q))*float64(c[j])))
	}
}

// error: the map is stated to be within 4 ulp, of at most 2 units each, of its value, and rounding
// c_σ moves that by at most what both ends of the interval of c_σ (1 ± u) have.
func (f arcSmooth) error(c, x, y float64) float64 {
	s := f.smoothed(c, x, y)
	v := f.value(c, x, y)
	moved := max(math.Abs(coangle(min(s*(1+unit), 2))/math.Pi-v), math.Abs(coangle(s*(1-unit))/math.Pi-v))
	return moved + 8*unit*(v+moved) + underflow
}

// The feature space of [arcSmooth], without cancellation. A document of norm x has with itself the
// angle θ_x, cos θ_x = (x/A)², and the norm √p, p = 1 - θ_x/π. With θ the angle of two documents
// and m = (θ_x+θ_y)/2 it is
//
//	c2 = ((θ-m)/π - (√p-√q)²/2) / √(pq)
//
// of which the second term is at most a quarter of the first. What is needed of the angles follows
// from those of single documents: with g = xy/(AB), C = cos θ = g(1-c) and d = (θ_x-θ_y)/2,
//
//	sin m = sin(θ_x/2) cos(θ_y/2) + cos(θ_x/2) sin(θ_y/2)
//	sin d = σ²(y²-x²) / (2 A²B² sin m)            from cos θ_x - cos θ_y
//	cos² m = g² + sin² d                          from cos(m+d) cos(m-d) = cos² m - sin² d
//	n = cos² m - cos² θ = sin² d + g² c(2-c),     sin² θ = sin² m + n
//	sin(θ-m) = sin θ cos m - cos θ sin m = n / (sin θ cos m + cos θ sin m)
//
// where the first form of the last line is for C < 0, and the second otherwise: all terms are above
// 0 then.

// side returns what the feature space needs of one document: the numbers that asm.HalfAngle takes,
// ‖x‖, ‖x‖/A, sine and cosine of half the angle and σ/(√2 A²), and √k(x, x).
func (f arcSmooth) side(x float64) (numbers [asm.HalfAngleNumbers]float64, norm float64) {
	a := smoothNorm(x, f.sigma)
	g, sin := x/a, f.sigma/(math.Sqrt2*a)
	norm = math.Sqrt(1 - 2*math.Asin(sin)/math.Pi)
	return [...]float64{x, g, sin, math.Sqrt((1 + float64(g*g)) / 2), sin / a}, norm
}

// feature: see above.
func (f arcSmooth) feature(c, x, y float64) (c2, x2, y2 float64) {
	s, x2 := f.side(x)
	o, y2 := f.side(y)
	d := x2 - y2
	return min(max((2*math.Atan(asm.HalfAngle(c, &s, &o))/math.Pi-d*d/2)/(x2*y2), 0), 2), x2, y2
}

// smoothScratch is scratch space of a layer for a block: the columns' sides, as
// asm.Kernels.HalfAngle wants them, and their norms.
type smoothScratch struct {
	numbers [asm.HalfAngleNumbers][chunk]float64
	cols    [asm.HalfAngleNumbers][]float64
	own     [asm.HalfAngleNumbers]float64
	norms   [chunk]float64
	turns   [chunk]float64
	table.Widener
}

func (f arcSmooth) layer() rowLayer { return smoothLayer{f} }

// smoothLayer is a layer of smoothed thresholds.
type smoothLayer struct{ arcSmooth }

func (f smoothLayer) norm64(x float32) float64 {
	_, norm := f.side(float64(x))
	return norm
}

func (f smoothLayer) columns(all *layerScratch, y []float32) {
	if all.smooth == nil {
		all.smooth = new(smoothScratch)
	}
	m := all.smooth
	for i := range m.cols {
		m.cols[i] = m.numbers[i][:len(y)]
	}
	for j, v := range y {
		numbers, norm := f.side(float64(v))
		for i, w := range numbers {
			m.numbers[i][j] = w
		}
		m.norms[j] = norm
	}
}

// arctangent is the inverse tangent of positive numbers.
var arctangent = table.NewHalfLine(math.Atan)

func (f smoothLayer) row(k *asm.Kernels, all *layerScratch, dst, c []float32, x float32, _ []float32) {
	m := all.smooth
	var norm float64
	m.own, norm = f.side(float64(x))
	turns, norms := m.turns[:len(dst)], m.norms[:len(dst)]
	k.HalfAngle(turns, c, m.own[:], m.cols[:])
	arctangent.Row(k, dst, turns)
	m.Widen(k, turns, dst)
	for j, v := range turns {
		d, both := norm-norms[j], float64(norm*norms[j])
		w := (float64(v*(2/math.Pi)) - float64(d*d)*0.5) / both
		if w < 0 { // rounding, where both terms are 0
			w = 0
		}
		dst[j] = float32(w)
	}
}

// error: the angle is rounded, and so is the result; what cancels in √p-√q is below 2⁻⁵¹.
func (f smoothLayer) error(_, x, y, c2 float64) float64 {
	_, p := f.side(x)
	_, q := f.side(y)
	d := p - q
	return (unit+2*table.HalfLineError)*(2*c2+d*d/(2*p*q)) + 0x1p-49*math.Abs(d) + underflow
}
