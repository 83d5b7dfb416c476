package sphere

import "math"

// Hyperplane is the hyperplane of a unit vector û. [NewHyperplane] makes it.
type Hyperplane struct {
	U []float64 // û

	negative, positive float64 // Σ ûᵢ² over ûᵢ < 0, and over ûᵢ > 0
}

// NewHyperplane returns the hyperplane of u, which isn't copied. It doesn't check that u has length
// 1: for another length only Projection.Sum has another value.
func NewHyperplane(u []float64) *Hyperplane {
	h := &Hyperplane{U: u}
	h.Reset()
	return h
}

// Reset takes note of another content of U.
func (h *Hyperplane) Reset() {
	h.negative, h.positive = 0, 0
	for _, v := range h.U {
		if v < 0 {
			h.negative += float64(v * v)
		} else {
			h.positive += float64(v * v)
		}
	}
}

// Projection is what is known of a document's nearest point of a hyperplane.
type Projection struct {
	Sum    float64 // ⟨x,û⟩, whose sign is that of the margin
	Margin float64 // d with the sign of ⟨x,û⟩, from -π/2 to π/2

	Lambda float64 // the nearest point is max(0, x + Lambda·û), scaled to length 1
	Slope  float64 // times max(0, x + Lambda·û), it is the gradient of Margin by û
}

// Point is a document: its terms, which are indices of û, and their values, none below 0. It needn't
// have length 1: only its direction counts.
type Point struct {
	Terms  []uint32
	Values []float32
	Norm2  float64 // Σ Values²
}

// Scratch is room for a projection. The zero value works. It may not be used concurrently.
type Scratch struct{ u []float64 }

// Project returns the projection of a document.
//
// Accuracy: the margin errs by a few ulp of π/2, and by a few relative ulp where it is small, but for
// rounding in ⟨x,û⟩ itself.
func (h *Hyperplane) Project(x Point, s *Scratch) Projection {
	terms, values := x.Terms, x.Values[:len(x.Terms)]
	if cap(s.u) < len(terms) {
		s.u = make([]float64, len(terms)+len(terms)/2)
	}
	u := s.u[:len(terms)]
	var positive, negative, squares, others float64 // Σxû over û > 0, û < 0; Σû² of those
	for k, t := range terms {
		v, x := h.U[t], float64(values[k])
		u[k] = v
		above := 0.5 * (v + math.Abs(v)) // max(v, 0), without a branch that no processor foresees
		below := v - above
		positive += float64(x * above)
		squares += float64(above * above)
		negative += float64(x * below)
		others += float64(below * below)
	}
	p := Projection{Sum: positive + negative}
	norm2 := x.Norm2
	if p.Sum == 0 { // on the hyperplane, and the slope is that of the side where margins are positive
		if w := (h.negative + squares) * norm2; w > 0 {
			p.Slope = 1 / math.Sqrt(w)
		}
		return p
	}
	// From here on û has the sign for which ⟨x,û⟩ > 0: q, w and λ are those of sign·û.
	sign, beyond := 1.0, h.negative // Σû² of all that is above 0 wherever x is, which is all with sign·û < 0
	if p.Sum < 0 {
		sign, beyond = -1, h.positive
		positive, negative = -negative, -positive
		squares, others = others, squares
	}
	q, w, lost := positive+negative, beyond+squares, 0.0 // lost is ‖x‖² in A
	cut := -q / w
	if beyond == 0 { // sign·û ≥ 0: what there is of H has the terms whose û is 0
		cut = -math.MaxFloat64
	}
	for {
		on, sum, zero := 0, 0.0, 0.0
		squares = 0
		for k, v := range u {
			v = 0.5 * (sign*v + math.Abs(v)) // where sign·û < 0, x counts in any case
			x := float64(values[k])
			if x+float64(cut*v) > 0 {
				on++
				sum += float64(x * v)
				squares += float64(v * v)
			} else {
				zero += float64(x * x)
			}
		}
		before := w
		q, w, lost = sum+negative, beyond+squares, zero
		if on == len(u) || w == before || w == 0 {
			break
		}
		cut = -q / w
	}
	if !(q > 0) || w == 0 { // nothing of x is left where û isn't 0, up to rounding
		q = 0
	}
	lambda := 0.0
	sin2 := lost
	if w > 0 {
		lambda = -q / w
		sin2 += q * q / w
	}
	cos2 := norm2 - sin2
	if cos2 < 0.01*norm2 { // cancels: add up y² itself
		cos2 = float64(lambda*lambda) * max(beyond-others, 0)
		for k, v := range u {
			x := float64(values[k])
			if y := x + float64(lambda*sign*v); x+float64(cut*sign*v) > 0 {
				cos2 += float64(y * y)
			}
		}
	}
	p.Margin = sign * math.Atan2(math.Sqrt(sin2), math.Sqrt(cos2))
	p.Lambda = sign * lambda
	// At π/2 what is left of y is rounding, and the margin has a kink.
	if q > 0 && sin2 > 0 && cos2 > 1e-28*norm2 {
		p.Slope = q / (w * math.Sqrt(sin2*cos2))
	}
	return p
}
