package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// sumStage is a layer that is a weighted sum, part by part, as weighted.feature has it: with the parts' norms aᵢ and bᵢ and their cᵢ,
//
//	c2 = ½ Σ (pᵢ - qᵢ)² + Σ pᵢ qᵢ cᵢ,   pᵢ = √wᵢ aᵢ/x2,   qᵢ = √wᵢ bᵢ/y2
//
// since Σ pᵢ² = Σ qᵢ² = 1. The cᵢ come from the parts' rows in float32, norms and the sums are in float64.
type sumStage struct {
	parts   []*stage
	weights []float64
	roots   []float64 // of the weights
}

// mostSummands bounds the parts of a sum that there is room for.
const mostSummands = 4

// newSumStage returns the stage of a sum whose parts all have rows of their own, or nil.
func newSumStage(k component) *sumStage {
	c, ok := k.(*compiled)
	if !ok || c.separable {
		return nil
	}
	f, ok := c.form.(weighted)
	if !ok || len(f.of) > mostSummands {
		return nil
	}
	s := &sumStage{weights: f.weights}
	for _, part := range f.of {
		p := newStage(part)
		if !p.fast() {
			return nil
		}
		s.parts = append(s.parts, p)
		s.roots = append(s.roots, math.Sqrt(f.weights[len(s.roots)]))
	}
	return s
}

// sumRoom is scratch space for a block.
type sumRoom struct {
	joint
	parts [mostSummands]stageRoom
	c     [mostSummands][chunk]float32
}

// columns computes what rows need of the columns, and their norms in the feature space, √Σ wᵢ aᵢ².
func (s *sumStage) columns(m *sumRoom, norms, y []float32) {
	m.begin(len(s.parts), len(y))
	for i, p := range s.parts {
		for j, v := range y {
			m.q[i][j] = s.roots[i] * p.norm64(v)
		}
		p.columns(&m.parts[i], y)
	}
	m.directions(len(s.parts))
	for j, v := range m.long[:len(y)] {
		norms[j] = float32(v)
	}
}

// row computes dst[j] = c2(c[j], x, y[j]), given what columns has left; dst may be c. It returns the norm of the row's document.
func (s *sumStage) row(asm *asm.Kernels, m *sumRoom, dst, c []float32, x float32, y []float32) float32 {
	n := len(y)
	dst, c = dst[:n], c[:n]
	for i, p := range s.parts {
		m.p[i] = s.roots[i] * p.norm64(x)
		if m.given[i] = c; !p.same() {
			m.given[i] = m.c[i][:n]
			p.row(asm, &m.parts[i], m.given[i], c, x, y)
		}
	}
	norm := m.joint.row(asm, dst, c, len(s.parts), len(s.parts), 1)
	clear(m.given[:len(s.parts)]) // the pool must not keep them
	return float32(norm)
}

// error bounds the error of what row computes: each part's, as it is weighted, float64 rounding and one to float32.
func (s *sumStage) error(c, x, y, c2 float64) float64 {
	var err, xx, yy float64
	for i, p := range s.parts {
		d, a, b := p.of.feature(c, x, y)
		w := s.weights[i]
		err += w * a * b * p.error(c, x, y, d)
		xx, yy = xx+w*a*a, yy+w*b*b
	}
	both := math.Sqrt(xx * yy)
	if both == 0 {
		return underflow
	}
	err /= both
	var gap float64
	for i, p := range s.parts {
		_, a, b := p.of.feature(c, x, y)
		d := a/math.Sqrt(xx) - b/math.Sqrt(yy)
		gap += s.weights[i] * d * d
	}
	return err + jointError(c2+err, gap) + unit*(c2+err) + underflow
}
