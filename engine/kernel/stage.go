package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// stage is a layer below the top of a composition that isn't separable as a whole, as it is
// computed. Layers next to each other that are separable are one stage.
type stage struct {
	of  component
	sum *sumStage // of a layer that is a sum, the first such of a composition; others are a rowLayer
	rowLayer
}

// rowLayer turns c and the norms of documents into those of a feature space. It is immutable, but
// for what is made once, and may be used concurrently.
type rowLayer interface {
	// norm64 returns the norm in the feature space of a document with norm x.
	norm64(x float32) float64

	// columns computes what rows need of the columns, of which there are at most chunk.
	columns(m *layerScratch, y []float32)

	// row computes dst[j] = c2(c[j], x, y[j]), given what columns has left in m; dst may be c, and
	// is as long as c and y.
	row(k *asm.Kernels, m *layerScratch, dst, c []float32, x float32, y []float32)

	// error bounds the error of what row computes, of the value c2.
	error(c, x, y, c2 float64) float64
}

// error bounds the error of c2 as the stage computes it.
func (t *stage) error(c, x, y, c2 float64) float64 {
	if t.sum != nil {
		return t.sum.error(c, x, y, c2)
	}
	return t.rowLayer.error(c, x, y, c2)
}

// norm returns the norm in the feature space of a document with norm x.
func (t *stage) norm(x float32) float64 {
	if t.sum == nil {
		return t.norm64(x)
	}
	var sum float64
	for i, p := range t.sum.parts {
		v := t.sum.roots[i] * p.norm64(x)
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// mostStages bounds the stages that have room to be computed chunk by chunk; a composition of more
// goes value by value.
const mostStages = 4

// stages are what is below the top, and the top.
type stages struct {
	below []*stage
	top   component
	most  float64 // the greatest product of norms that the top's map takes
}

// plan takes layers, from the bottom up, apart into stages.
func plan(layers []component) *stages {
	var groups []component
	for len(layers) > 0 {
		n := 0
		for n < len(layers) && isSeparable(layers[n]) {
			n++
		}
		if n > 1 {
			groups = append(groups, compile(compose(layers[:n])))
		} else {
			n = 1
			groups = append(groups, layers[0])
		}
		layers = layers[n:]
	}
	s := &stages{top: groups[len(groups)-1], most: 0x1p126} // the Gaussian kernel has twice the product
	if k, ok := s.top.(arccos); ok && k.n == 2 {
		s.most = 0x1p62 // and this one three times its square
	}
	room := true // for one sum
	for _, g := range groups[:len(groups)-1] {
		t := newStage(g)
		if room {
			t.sum = newSumStage(g)
			room = t.sum == nil
		}
		s.below = append(s.below, t)
	}
	return s
}

func newStage(of component) *stage {
	if f, ok := as[powered](of); ok && f.same != nil {
		of = f.same
	}
	return &stage{of: of, rowLayer: newLayer(of)}
}

func newLayer(of component) rowLayer {
	if k, ok := as[layerer](of); ok {
		if l := k.layer(); l != nil {
			return l
		}
	}
	if isSeparable(of) {
		return newTableLayer(of)
	}
	return valueLayer{of}
}

// fast reports whether row has something better than value by value.
func (t *stage) fast() bool {
	_, slow := t.rowLayer.(valueLayer)
	return !slow
}

// same reports whether c2 is c itself.
func (t *stage) same() bool {
	_, same := t.rowLayer.(sameLayer)
	return same
}

// layerScratch is scratch space of a layer for a block.
type layerScratch struct {
	joinScratch
	smooth *smoothScratch // made when they are first wanted
	biased *biasLayerScratch
}

// joinScratch is scratch space for putting vectors together from parts, see asm.Kernels.Join: for a
// block what rows need of the columns, and for a row its own. Vectors without length have no
// direction; for them c2 is made of the c that is given.
type joinScratch struct {
	q     [mostSummands][chunk]float64
	cols  [mostSummands][]float64 // q, as long as the block
	p     [mostSummands]float64
	given [mostSummands][]float32 // the parts' c
	long  [chunk]float64          // the columns' lengths
	empty []int                   // columns without length
	kept  [chunk]float32          // their c
}

// begin makes space for so many columns of so many parts. The caller fills cols with the parts'
// norms, and then calls directions.
func (m *joinScratch) begin(parts, n int) {
	for i := range parts {
		m.cols[i] = m.q[i][:n]
	}
}

// directions scales the columns' vectors to length 1.
func (m *joinScratch) directions(parts int) {
	m.empty = m.empty[:0]
	for j := range m.cols[0] {
		var sum float64
		for _, q := range m.cols[:parts] {
			sum += float64(q[j] * q[j])
		}
		length := math.Sqrt(sum)
		if m.long[j] = length; sum == 0 {
			m.empty = append(m.empty, j)
			continue
		}
		for _, q := range m.cols[:parts] {
			q[j] /= length
		}
	}
}

// direction scales the row's vector to length 1, where it has any, and returns what it had.
func (m *joinScratch) direction(parts int) float64 {
	var sum float64
	for _, a := range m.p[:parts] {
		sum += float64(a * a)
	}
	if sum == 0 {
		return 0
	}
	length := math.Sqrt(sum)
	for i := range m.p[:parts] {
		m.p[i] /= length
	}
	return length
}

// join computes dst[j] = 1 - (1-v)^degree with 1 - cosine v of the row's vector and the columns',
// of which the first parts have a c that is given; c is that of vectors without length. dst may be
// c. It returns the length of the row's vector.
func (m *joinScratch) join(k *asm.Kernels, dst, c []float32, parts, given, degree int) float64 {
	length := m.direction(parts)
	if length == 0 {
		for j, v := range c[:len(dst)] {
			dst[j] = float32(powerDeficit(float64(v), degree))
		}
		return 0
	}
	for i, j := range m.empty {
		m.kept[i] = c[j]
	}
	k.Join(dst, m.given[:given], m.cols[:parts], m.p[:parts], degree)
	for i, j := range m.empty {
		dst[j] = float32(powerDeficit(float64(m.kept[i]), degree))
	}
	return length
}

// joinError bounds what float64 adds to v: see asm.Kernels.Join, where the parts' norms are good to
// 2⁻⁴⁵, as powers of up to 64 are; gap is Σ (pᵢ-qᵢ)².
func joinError(v, gap float64) float64 { return 0x1p-44*math.Sqrt(gap) + 0x1p-46*v }

// sumStage is a layer that is a weighted sum, part by part, as weighted.feature has it: with the
// parts' norms aᵢ and bᵢ and their cᵢ,
//
//	c2 = ½ Σ (pᵢ - qᵢ)² + Σ pᵢ qᵢ cᵢ,   pᵢ = √wᵢ aᵢ/x2,   qᵢ = √wᵢ bᵢ/y2
//
// since Σ pᵢ² = Σ qᵢ² = 1. The cᵢ come from the parts' rows in float32, norms and the sums are in
// float64.
type sumStage struct {
	parts   []*stage
	weights []float64
	roots   []float64 // of the weights
}

// mostSummands bounds the parts of a sum that there is space for.
const mostSummands = 4

// newSumStage returns the stage of a sum whose parts all have rows of their own, or nil.
func newSumStage(k component) *sumStage {
	f, ok := as[weighted](k)
	if !ok || isSeparable(k) || len(f.of) > mostSummands {
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

// sumScratch is scratch space for a block.
type sumScratch struct {
	joinScratch
	parts [mostSummands]layerScratch
	c     [mostSummands][chunk]float32
}

// columns computes what rows need of the columns, and their norms in the feature space, √Σ wᵢ aᵢ².
func (s *sumStage) columns(m *sumScratch, norms, y []float32) {
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

// row computes dst[j] = c2(c[j], x, y[j]), given what columns has left; dst may be c. It returns
// the norm of the row's document.
func (s *sumStage) row(asm *asm.Kernels, m *sumScratch, dst, c []float32, x float32, y []float32) float32 {
	n := len(y)
	dst, c = dst[:n], c[:n]
	for i, p := range s.parts {
		m.p[i] = s.roots[i] * p.norm64(x)
		if m.given[i] = c; !p.same() {
			m.given[i] = m.c[i][:n]
			p.row(asm, &m.parts[i], m.given[i], c, x, y)
		}
	}
	norm := m.join(asm, dst, c, len(s.parts), len(s.parts), 1)
	clear(m.given[:len(s.parts)]) // the pool must not keep them
	return float32(norm)
}

// error bounds the error of what row computes: each part's, as it is weighted, float64 rounding and
// one to float32.
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
	return err + joinError(c2+err, gap) + unit*(c2+err) + underflow
}

// valueLayer is a layer for which nothing better is known than to go value by value, in float64.
type valueLayer struct{ of component }

func (l valueLayer) norm64(x float32) float64 {
	_, x2, _ := l.of.feature(0, float64(x), float64(x))
	return x2
}

func (valueLayer) columns(*layerScratch, []float32) {}

func (l valueLayer) row(_ *asm.Kernels, _ *layerScratch, dst, c []float32, x float32, y []float32) {
	for j, v := range c {
		c2, _, _ := l.of.feature(float64(v), float64(x), float64(y[j]))
		dst[j] = float32(min(max(c2, 0), 2)) // as in composed.below
	}
}

func (valueLayer) error(_, _, _, c2 float64) float64 { return valueError(c2) }

// valueError bounds the error of a c2 that is computed in float64: what that leaves is below a
// hundredth of the rounding.
func valueError(c2 float64) float64 { return (unit+table.HalfLineError)*c2 + underflow }

// tableLayer is a separable layer, k = (xy)^p g(c): x2 = a x^p, and c2 is a function of c, the
// table's.
type tableLayer struct {
	valueLayer
	p, a  float64
	table func() *table.Piecewise // made once
}

func newTableLayer(of component) tableLayer {
	l := tableLayer{valueLayer: valueLayer{of}}
	l.p, _ = of.homogeneous()
	_, l.a, _ = of.feature(0, 1, 1)
	l.table = sync.OnceValue(func() *table.Piecewise { return deficitTable(of) })
	return l
}

func (l tableLayer) norm64(x float32) float64 {
	if l.p >= 0 && l.p == math.Trunc(l.p) { // WholePower takes no others
		return l.a * table.WholePower(float64(x), l.p)
	}
	return l.valueLayer.norm64(x)
}

func (l tableLayer) row(k *asm.Kernels, _ *layerScratch, dst, c []float32, _ float32, _ []float32) {
	l.table().Apply(k, dst, c)
}

func (l tableLayer) error(c, _, _, c2 float64) float64 { return l.table().Error(c, c2) }

// sameLayer is a separable layer whose c2 is c itself.
type sameLayer struct{ tableLayer }

func (sameLayer) row(_ *asm.Kernels, _ *layerScratch, dst, c []float32, _ float32, _ []float32) {
	copy(dst, c)
}

func (sameLayer) error(_, _, _, _ float64) float64 { return 0 }
