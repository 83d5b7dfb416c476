package kernel

import "strings"

// composed is a kernel on the feature space of another, that on the feature space of a third, and so on, from the bottom up: with (c₀, x₀, y₀) what two
// documents have, and (cᵢ, xᵢ, yᵢ) what layer i makes of (cᵢ₋₁, xᵢ₋₁, yᵢ₋₁), see component.feature,
//
//	k = k_ℓ(c_ℓ₋₁, x_ℓ₋₁, y_ℓ₋₁)
//
// The diagonal goes along as the norms x and y. With arc-cosine layers of degree n it is
//
//	k⁽ˡ⁺¹⁾(x, y) = (1/π) [k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y)]^(n/2) J_n(θ⁽ˡ⁾),   θ⁽ˡ⁾ = arccos( k⁽ˡ⁾(x, y) / √(k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y)) )
//
// Source: Cho's thesis, ch. 4; Cho and Saul, NIPS 2009, eq. 12.
type composed struct {
	combination
	plan *stages // where it isn't separable
}

// compose makes the form of layers, from the bottom up. Composition is associative, so layers that are compositions are taken apart.
func compose(layers []component) form {
	var flat []component
	for _, l := range layers {
		if k, ok := l.(*compiled); ok {
			if inner, ok := k.form.(composed); ok {
				flat = append(flat, inner.of...)
				continue
			}
		}
		flat = append(flat, l)
	}
	f := composed{combination: combination{flat}}
	if _, separable := f.homogeneous(); !separable {
		f.plan = plan(flat)
	}
	return f
}

func (f composed) with(of []component) form { return compose(of) }

// spec writes layers of one and the same arc-cosine kernel in the short form.
func (f composed) spec() string {
	n, e, ok := shortLayer(f.of[0])
	for _, l := range f.of[1:] {
		other, _, also := shortLayer(l)
		ok = ok && also && other == n
	}
	if ok {
		return format("arccos", e, pair{"n", n}, pair{"layers", float64(len(f.of))})
	}
	var args []string
	for _, l := range f.of {
		args = append(args, enclose(l)) // so that the keys at its end are not taken for those of the composition
	}
	return "compose(" + strings.Join(args, ",") + ")"
}

func (f composed) properties() Properties {
	top := f.of[len(f.of)-1].Properties()
	p := Properties{Source: sourceCho + ", ch. 4", Condition: f.conditions(), NonNegative: top.NonNegative, PositiveDiagonal: top.PositiveDiagonal}
	if p = p.like(f.of); p.Definite == NotProven && top.Definite == ConditionallyPositive && p.like(f.of[:len(f.of)-1]).Definite == Positive {
		p.Definite = ConditionallyPositive
	}
	return p
}

// below returns what the top layer is given.
func (f composed) below(c, x, y float64) (float64, float64, float64) {
	for _, l := range f.of[:len(f.of)-1] {
		c, x, y = l.feature(c, x, y)
		c = min(max(c, 0), 2) // what rounding may have taken beyond
	}
	return c, x, y
}

func (f composed) value(c, x, y float64) float64 {
	c, x, y = f.below(c, x, y)
	return f.of[len(f.of)-1].Eval(c, x, y)
}

func (f composed) feature(c, x, y float64) (float64, float64, float64) {
	c, x, y = f.below(c, x, y)
	return f.of[len(f.of)-1].feature(c, x, y)
}

// degree: powers of powers; and once the norms are gone, whatever comes above is a function of c alone.
func (f composed) homogeneous() (float64, bool) {
	d := 1.0
	for _, l := range f.of {
		p, ok := l.homogeneous()
		switch {
		case ok:
			d *= p
		case d != 0:
			return 0, false
		}
	}
	return d, true
}
