package asm

import "math"

// affineGeneric is an affine function of inner products, in float64,
//
//	dst[j] = gamma·(x·y[j]·(1-c[j])) + r,  0 <= j < len(dst)
//
// each operation rounded by itself, in this order: the bits are the same from every instruction set.
func affineGeneric(dst []float64, c, y []float32, x, gamma, r float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		dst[j] = float64(gamma*float64(float64(x*float64(y[j]))*(1-float64(v)))) + r
	}
}

// squaresGeneric is the squared distance of vectors with the norms x and y[j], in float64,
//
//	dst[j] = (x-y[j])² + 2·(x·y[j])·c[j],  0 <= j < len(dst)
//
// each operation rounded by itself: the bits are the same from every instruction set.
func squaresGeneric(dst []float64, c, y []float32, x float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		w := float64(y[j])
		d := x - w
		dst[j] = float64(d*d) + float64(2*float64(x*w)*float64(v))
	}
}

// HalfAngleNumbers is how many numbers of a document [Kernels.HalfAngle] takes: its norm x, and with its angle θ_x √(cos θ_x), sin(θ_x/2), cos(θ_x/2), and a t such that
// cos θ_y - cos θ_x = 2 t_x t_y (y²-x²).
const HalfAngleNumbers = 5

// halfAngleGeneric tells how much wider the angle θ of two vectors is than the mean m of two other angles, θ_x and θ_y from 0 to π/2, that belong to the vectors one each, where
// cos θ = √(cos θ_x cos θ_y) (1-c),
//
//	dst[j] = tan((θ-m)/2),  0 <= j < len(dst)
//
// from row, the HalfAngleNumbers numbers of one, and cols, those of the others, a slice each. With g = √(cos θ_x cos θ_y), d = (θ_x-θ_y)/2 and n = cos² m - cos² θ
//
//	sin m = sin(θ_x/2) cos(θ_y/2) + cos(θ_x/2) sin(θ_y/2),   sin d = t_x t_y (x²-y²) / sin m
//	cos² m = g² + sin² d,   n = sin² d + g² c(2-c),   sin² θ = sin² m + n
//	sin(θ-m) = n / (sin θ cos m + cos θ sin m) = sin θ cos m - cos θ sin m
//
// the latter for c > 1: no term takes anything of another away. So results are within some 2⁻⁴⁸ relative to themselves; that of (x, y) has the bits of that of (y, x). It is 0 where n
// is 0 and c at most 1, and +Inf may stand for an angle θ-m near π.
func halfAngleGeneric(dst []float64, c []float32, row []float64, cols [][]float64) {
	x, g, sin, cos, t := row[0], row[1], row[2], row[3], row[4]
	xs, gs, sins, coss, ts := cols[0], cols[1], cols[2], cols[3], cols[4]
	for j := range dst {
		c := float64(c[j])
		sinM := float64(sin*coss[j]) + float64(cos*sins[j])
		d := float64((x-xs[j])*(x+xs[j])) * float64(t*ts[j]) / sinM
		g := g * gs[j]
		gg, dd := float64(g*g), float64(d*d)
		n := dd + float64(gg*float64(c*(2-c)))
		cosM, sinT, cosT := math.Sqrt(gg+dd), math.Sqrt(float64(sinM*sinM)+n), g*(1-c)
		turned := float64(cosT*cosM) + float64(sinT*sinM)
		over, under := n, (float64(sinT*cosM)+float64(cosT*sinM))*(1+turned)
		if c > 1 {
			sin := float64(sinT*cosM) - float64(cosT*sinM)
			if over, under = sin, 1+turned; turned < 0 {
				over, under = 1-turned, sin
			}
		}
		if dst[j] = 0; over != 0 {
			dst[j] = over / under
		}
	}
}
