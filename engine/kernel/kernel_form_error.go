package kernel

import "math"

// leastPower is far enough from the ends of the range of float64 for products of two.
const leastPower = 0x1p-500

// Error implements [Kernel]. Of a separable kernel it is the bound that the table states, times the powers of the norms, whose float64 is exact as far as float32
// is concerned, and one rounding; infinite where any of these is out of range. A kernel that is mapped in float64 has the rounding alone.
func (k *compiled) Error(c, x, y float64) float64 { return bound(k.bound(c, x, y)) }

// bound returns a bound as it comes out of a formula, +Inf where that went out of the range of
// float64 on the way, and no number comes out.
func bound(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}

func (k *compiled) bound(c, x, y float64) float64 {
	v := math.Abs(k.form.value(c, x, y))
	if v != v {
		return v
	}
	if f, ok := k.form.(logForm); ok && k.p == 0 && k.tabulated().log {
		return k.tabulated().logError(c, v, f.logValue(c))
	}
	switch f, ok := k.form.(rowForm); {
	case k.separable && k.p == 0:
		return k.tabulated().error(c, v) + k.noise()
	case k.separable:
		xp, yp, g := realPower(x, k.p), realPower(y, k.p), k.form.value(c, 1, 1)
		if math.Abs(g) <= math.MaxFloat32 && (x == 0 || y == 0) {
			return underflow
		}
		if !(math.Abs(g) <= math.MaxFloat32) || !(min(xp, yp) >= leastPower && max(xp, yp) <= 1/leastPower) {
			return math.Inf(1) // the product of the three may be anywhere
		}
		return 1.0001*xp*yp*(k.tabulated().error(c, g)+k.noise()) + unit*v + underflow
	case ok:
		return f.error(c, x, y)
	}
	return unit*v + underflow
}

// noise bounds what float64 loses of g(c) of a separable form where terms cancel: differences have the roundings of what they are taken from.
func noise(f form) (sum float64) {
	switch f := f.(type) {
	case composed: // of a c near 1 a layer that wants 1-c has no digits below 2⁻⁵³; a power of it changes up to 64 times as much
		return 0x1p-46 * math.Abs(f.value(0, 1, 1))
	case centred:
		for _, at := range [][3]float64{{0, 1, 1}, {1, 1, 0}, {0, 0, 0}} {
			sum += math.Abs(f.of[0].Eval(at[0], at[1], at[2]))
		}
	case weighted:
		for i, p := range f.of {
			sum += math.Abs(f.weights[i] * p.Eval(0, 1, 1))
		}
	}
	return 0x1p-51 * sum
}
