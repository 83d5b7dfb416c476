package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// The feature space of [arcSmooth], without cancellation. A document of norm x has with itself the angle θ_x, cos θ_x = (x/A)², and the norm √p, p = 1 - θ_x/π. With θ the angle of two
// documents and m = (θ_x+θ_y)/2 it is
//
//	c2 = ((θ-m)/π - (√p-√q)²/2) / √(pq)
//
// of which the second term is at most a quarter of the first. What is needed of the angles follows from those of single documents: with g = xy/(AB), C = cos θ = g(1-c) and
// d = (θ_x-θ_y)/2,
//
//	sin m = sin(θ_x/2) cos(θ_y/2) + cos(θ_x/2) sin(θ_y/2)
//	sin d = σ²(y²-x²) / (2 A²B² sin m)            from cos θ_x - cos θ_y
//	cos² m = g² + sin² d                          from cos(m+d) cos(m-d) = cos² m - sin² d
//	n = cos² m - cos² θ = sin² d + g² c(2-c),     sin² θ = sin² m + n
//	sin(θ-m) = sin θ cos m - cos θ sin m = n / (sin θ cos m + cos θ sin m)
//
// where the first form of the last line is for C < 0, and the second otherwise: all terms are above 0 then.

// smoothSide is what the feature space needs of one document.
type smoothSide struct {
	x, g     float64 // ‖x‖ and ‖x‖/A
	sin, cos float64 // of half the angle
	t        float64 // σ/(√2 A²)
	norm     float64 // √k(x, x)
}

func (f arcSmooth) side(x float64) smoothSide {
	a := smoothNorm(x, f.sigma)
	s := smoothSide{x: x, g: x / a, sin: f.sigma / (math.Sqrt2 * a)}
	s.cos, s.t = math.Sqrt((1+float64(s.g*s.g))/2), s.sin/a
	s.norm = math.Sqrt(1 - 2*math.Asin(s.sin)/math.Pi)
	return s
}

// turn returns tan((θ-m)/2), as asm.Kernels.HalfAngle does.
func (s *smoothSide) turn(o *smoothSide, c float64) float64 {
	g, sinM := s.g*o.g, float64(s.sin*o.cos)+float64(s.cos*o.sin)
	d := float64((s.x-o.x)*(s.x+o.x)) * float64(s.t*o.t) / sinM
	gg, dd := float64(g*g), float64(d*d)
	n := dd + float64(gg*float64(c*(2-c)))
	cosM, sin, cos := math.Sqrt(gg+dd), math.Sqrt(float64(sinM*sinM)+n), g*(1-c)
	turned := float64(cos*cosM) + float64(sin*sinM)
	if c <= 1 {
		if n == 0 {
			return 0
		}
		return n / ((float64(sin*cosM) + float64(cos*sinM)) * (1 + turned))
	}
	sinT := float64(sin*cosM) - float64(cos*sinM)
	if turned < 0 {
		return (1 - turned) / sinT
	}
	return sinT / (1 + turned)
}

// feature: see above.
func (f arcSmooth) feature(c, x, y float64) (c2, x2, y2 float64) {
	s, o := f.side(x), f.side(y)
	d := s.norm - o.norm
	return min(max((2*math.Atan(s.turn(&o, c))/math.Pi-d*d/2)/(s.norm*o.norm), 0), 2), s.norm, o.norm
}

// smoothRoom is scratch space of a stage for a block: the columns' sides, as asm.Kernels.HalfAngle
// wants them, and their norms.
type smoothRoom struct {
	numbers [asm.HalfAngleNumbers][chunk]float64
	cols    [asm.HalfAngleNumbers][]float64
	own     [asm.HalfAngleNumbers]float64
	norms   [chunk]float64
	turns   [chunk]float64
	widener
}

// columns prepares a block's columns.
func (f arcSmooth) columns(m *smoothRoom, y []float32) {
	for i := range m.cols {
		m.cols[i] = m.numbers[i][:len(y)]
	}
	for j, v := range y {
		s := f.side(float64(v))
		for i, w := range s.numbers() {
			m.numbers[i][j] = w
		}
		m.norms[j] = s.norm
	}
}

func (s *smoothSide) numbers() [asm.HalfAngleNumbers]float64 {
	return [...]float64{s.x, s.g, s.sin, s.cos, s.t}
}

// arctangent is the inverse tangent of positive numbers.
var arctangent = newHalfLine(math.Atan)

// featureRow computes dst[j] = c2(c[j], x, y[j]) for the columns that the room is prepared for; dst may be c.
func (f arcSmooth) featureRow(k *asm.Kernels, m *smoothRoom, dst, c []float32, x float32) {
	s := f.side(float64(x))
	m.own = s.numbers()
	turns, norms := m.turns[:len(dst)], m.norms[:len(dst)]
	k.HalfAngle(turns, c, m.own[:], m.cols[:])
	arctangent.row(k, dst, turns)
	m.widen(k, turns, dst)
	for j, v := range turns {
		d, both := s.norm-norms[j], float64(s.norm*norms[j])
		w := (float64(v*(2/math.Pi)) - float64(d*d)*0.5) / both
		if w < 0 { // rounding, where both terms are 0
			w = 0
		}
		dst[j] = float32(w)
	}
}

// featureError bounds the error of c2 as featureRow computes it: the angle is rounded, and so is the result; what cancels in √p-√q is below 2⁻⁵¹.
func (f arcSmooth) featureError(x, y, c2 float64) float64 {
	p, q := f.side(x).norm, f.side(y).norm
	d := p - q
	return (unit+2*halfLineError)*(2*c2+d*d/(2*p*q)) + 0x1p-49*math.Abs(d) + underflow
}
