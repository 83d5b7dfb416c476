// Package jet differentiates functions of one variable exactly: it computes with their Taylor
// polynomials of degree 3.
package jet

import "math"

// Jet is a function near a point: its Taylor coefficients, the value first.
type Jet [4]float64

// Variable returns the variable itself at v.
func Variable(v float64) Jet { return Jet{v, 1} }

// Constant returns a function of value v.
func Constant(v float64) Jet { return Jet{v} }

// Plus returns a + b.
func (a Jet) Plus(b Jet) Jet {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// Scaled returns f a.
func (a Jet) Scaled(f float64) Jet {
	for i := range a {
		a[i] *= f
	}
	return a
}

// Times returns a b.
func (a Jet) Times(b Jet) (product Jet) {
	for i := range a {
		for j := 0; i+j < len(b); j++ {
			product[i+j] += a[i] * b[j]
		}
	}
	return product
}

// Power returns a to the power p, for a above 0: with h = aᵖ, a h′ = p a′ h.
func (a Jet) Power(p float64) (h Jet) {
	h[0] = math.Pow(a[0], p)
	for k := 1; k < len(h); k++ {
		for j := 1; j <= k; j++ {
			h[k] += (p*float64(j) - float64(k-j)) * a[j] * h[k-j]
		}
		h[k] /= float64(k) * a[0]
	}
	return h
}

// Exp returns the exponential of a: with h = eᵃ, h′ = a′ h.
func (a Jet) Exp() (h Jet) {
	h[0] = math.Exp(a[0])
	for k := 1; k < len(h); k++ {
		for j := 1; j <= k; j++ {
			h[k] += float64(j) * a[j] * h[k-j] / float64(k)
		}
	}
	return h
}

// Slope returns the derivative. The last of its coefficients is unknown, and set to 0.
func (a Jet) Slope() (d Jet) {
	for i := 1; i < len(a); i++ {
		d[i-1] = float64(i) * a[i]
	}
	return d
}

// Integral returns the function of derivative a and of value v.
func (a Jet) Integral(v float64) Jet { return Jet{v, a[0], a[1] / 2, a[2] / 3} }

// Derivatives returns the value and the first two derivatives.
func (a Jet) Derivatives() [3]float64 { return [3]float64{a[0], a[1], 2 * a[2]} }
