package engine

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// sumStage is a layer that is a weighted sum, part by part, as weighted.feature has it: with the parts' norms aᵢ and bᵢ and their cᵢ,
//
//	c2 = (Σ_{i<j} wᵢ wⱼ (aᵢbⱼ - aⱼbᵢ)² / (x2 y2 + Σ wᵢ aᵢ bᵢ) + Σ wᵢ aᵢ bᵢ cᵢ) / (x2 y2)
//
// The cᵢ come from the parts' rows in float32, norms and the sums are in float64.
type sumStage struct {
	parts   []*stage
	weights []float64
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
	}
	return s
}

// sumRoom is scratch space for a block.
type sumRoom struct {
	a     [mostSummands]float64        // norms of the row
	b     [mostSummands][chunk]float64 // and of the columns
	roots [mostSummands][chunk]float64
	y2    [chunk]float64

	gap, xy, xyc [chunk]float64 // the three sums
	c            [mostSummands][chunk]float32
}

// columns computes what rows need of the columns.
func (s *sumStage) columns(m *sumRoom, y []float32) {
	for i, p := range s.parts {
		for j, v := range y {
			m.b[i][j], m.roots[i][j] = p.norm64(v), p.root(v)
		}
	}
	for j, v := range y {
		m.y2[j] = s.norm64(v)
	}
}

// norm64 returns √Σ wᵢ aᵢ².
func (s *sumStage) norm64(x float32) float64 {
	var v float64
	for i, p := range s.parts {
		a := p.norm64(x)
		v += float64(s.weights[i] * float64(a*a))
	}
	return math.Sqrt(v)
}

// row computes dst[j] = c2(c[j], x, y[j]), given what columns has left; dst may be c.
func (s *sumStage) row(asm *asm.Kernels, m *sumRoom, dst, c []float32, x float32, y []float32, buffer []float64) {
	n := len(y)
	for i, p := range s.parts {
		m.a[i] = p.norm64(x)
		p.row(asm, m.c[i][:n], c, x, y, m.roots[i][:n], buffer)
	}
	x2, gap, xy, xyc := s.norm64(x), m.gap[:n], m.xy[:n], m.xyc[:n]
	clear(gap)
	clear(xy)
	clear(xyc)
	for i, w := range s.weights {
		a, bs, cs := m.a[i], m.b[i][:n], m.c[i][:n]
		for j, b := range bs {
			ab := float64(w * float64(a*b))
			xy[j] += ab
			xyc[j] += float64(ab * float64(cs[j]))
		}
		for k, u := range s.weights[:i] {
			before, bks, uw := m.a[k], m.b[k][:n], float64(u*w)
			for j, b := range bs {
				cross := float64(before*b) - float64(bks[j]*a)
				gap[j] += float64(uw * float64(cross*cross))
			}
		}
	}
	dst, c = dst[:n], c[:n]
	for j, y2 := range m.y2[:n] {
		v := c[j]
		if both := float64(x2 * y2); both > 0 {
			sum := both + xy[j]
			v = float32(min((gap[j]+float64(xyc[j]*sum))/float64(sum*both), 2))
		}
		dst[j] = v
	}
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
	if both := math.Sqrt(xx * yy); both > 0 {
		err /= both
	}
	return err + (unit+0x1p-44)*(c2+err) + underflow
}
