package sphere

import "math"

// Hyperplane is the hyperplane orthogonal to a unit vector û.
type Hyperplane struct {
	U []float64 // û

	negative, positive float64 // Σ ûᵢ² over all i with ûᵢ < 0, and over all i with ûᵢ > 0
}

// NewHyperplane returns the hyperplane orthogonal to u, without copying u. The norm of u doesn't
// affect Projection.Margin.
func NewHyperplane(u []float64) *Hyperplane {
	h := &Hyperplane{U: u}
	h.Update()
	return h
}

// Update recomputes sums that depend on U. It must be called after each change of U.
func (h *Hyperplane) Update() {
	h.negative, h.positive = 0, 0
	for _, v := range h.U {
		if v < 0 {
			h.negative += float64(v * v)
		} else {
			h.positive += float64(v * v)
		}
	}
}

// Projection describes the point of a hyperplane that is nearest to a document.
type Projection struct {
	Dot    float64 // ⟨x,û⟩
	Margin float64 // d(x, H), see the package comment, with the sign of ⟨x,û⟩; from -π/2 to π/2

	Lambda float64 // the nearest point is max(0, x + Lambda·û), scaled to norm 1
	Slope  float64 // Slope·max(0, x + Lambda·û) is the gradient of Margin with respect to û
}

// Point is a document: terms, which are indices into û, and their nonnegative values. Only the
// document's direction is used, so its norm may differ from 1.
type Point struct {
	Terms       []uint32
	Values      []float32
	SquaredNorm float64 // Σ Values²
}

// Scratch holds buffers for Project. The zero value is ready to use. A Scratch must not be used
// concurrently.
type Scratch struct{ u []float64 }

// Project returns the projection of a document onto the hyperplane.
//
// Accuracy: the error of the margin is several ulp of π/2. For small margins, it is several ulp of
// the margin, apart from rounding in ⟨x,û⟩.
func (h *Hyperplane) Project(x Point, s *Scratch) Projection {
	terms, values := x.Terms, x.Values[:len(x.Terms)]
	if cap(s.u) < len(terms) {
		s.u = make([]float64, len(terms)+len(terms)/2)
	}
	u := s.u[:len(terms)]
	var positive float64 // Σ xû over the terms of x with û > 0
	var negative float64 // Σ xû over the terms of x with û < 0
	var squares float64  // Σ û² over the terms of x with û > 0
	var others float64   // Σ û² over the terms of x with û < 0
	for k, t := range terms {
		v, x := h.U[t], float64(values[k])
		u[k] = v
		above := 0.5 * (v + math.Abs(v)) // max(v, 0) without a branch, which would be mispredicted
		below := v - above
		positive += float64(x * above)
		squares += float64(above * above)
		negative += float64(x * below)
		others += float64(below * below)
	}
	p := Projection{Dot: positive + negative}
	norm2 := x.SquaredNorm
	if p.Dot == 0 { // x is on the hyperplane; Slope is the limit for small positive margins
		if w := (h.negative + squares) * norm2; w > 0 {
			p.Slope = 1 / math.Sqrt(w)
		}
		return p
	}
	// Below, q, w and λ refer to sign·û, where sign is chosen so that ⟨x, sign·û⟩ > 0.
	sign, beyond := 1.0, h.negative // beyond is Σ û² over sign·û < 0, where yᵢ > 0 for every x
	if p.Dot < 0 {
		sign, beyond = -1, h.positive
		positive, negative = -negative, -positive
		squares, others = others, squares
	}
	q, w, lost := positive+negative, beyond+squares, 0.0 // lost is the sum of xᵢ² over i in A (see the package comment)
	cut := -q / w
	if beyond == 0 { // sign·û ≥ 0, so points of H contain only terms with û = 0
		cut = -math.MaxFloat64
	}
	for {
		on, sum, zero := 0, 0.0, 0.0
		squares = 0
		for k, v := range u {
			v = 0.5 * (sign*v + math.Abs(v)) // max(sign·û, 0), because terms with sign·û < 0 are never in A
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
	if !(q > 0) || w == 0 { // up to rounding, all terms of x with û ≠ 0 are in A
		q = 0
	}
	lambda := 0.0
	sin2 := lost
	if w > 0 {
		lambda = -q / w
		sin2 += q * q / w
	}
	cos2 := norm2 - sin2
	if cos2 < 0.01*norm2 { // avoid cancellation by summing y²
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
	// At π/2, y consists of rounding errors, and the margin isn't differentiable.
	if q > 0 && sin2 > 0 && cos2 > 1e-28*norm2 {
		p.Slope = q / (w * math.Sqrt(sin2*cos2))
	}
	return p
}
