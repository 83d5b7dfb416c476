package engine

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// stage is a layer below the top of a composition that isn't separable as a whole, as it is computed: it turns c and the norms into those of its feature space.
// Layers next to each other that are separable are one stage.
type stage struct {
	of   component
	same bool       // c2 is c itself
	flat bool       // it is separable
	p    float64    // of a separable layer, k = (xy)^p g(c): x2 = a x^p, and c2 is a function of c, the table's
	a    float64    //
	soft *arcSmooth // of a layer of smoothed thresholds
	bias *arcBias   // of a layer of biased steps
	once sync.Once  //
	c2   *piecewise // nil for a layer that isn't separable
	sum  *sumStage  // of a layer that is a sum, the first such of a composition
}

// mostStages bounds the stages that have room to be computed chunk by chunk; a composition of more goes value by value.
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
	if k, ok := of.(*compiled); ok {
		if f, ok := k.form.(powered); ok && f.same != nil {
			of = f.same
		}
	}
	t := &stage{of: of}
	if k, ok := of.(*compiled); ok {
		if f, ok := k.form.(arcSmooth); ok {
			t.soft = &f
		}
		if f, ok := k.form.(arcBias); ok && f.sigma == 0 {
			t.bias = &f
		}
	}
	switch of.(type) {
	case linear, bhattacharyya:
		t.same = true
	}
	if t.flat = isSeparable(of); t.flat {
		t.p, _ = of.homogeneous()
		_, t.a, _ = of.feature(0, 1, 1)
	}
	return t
}

// fast reports whether row has something better than value by value.
func (t *stage) fast() bool {
	switch t.of.(type) {
	case gaussian, polynomial:
		return true
	}
	return t.soft != nil || t.bias != nil || t.flat
}

func isSeparable(k component) bool {
	_, ok := k.homogeneous()
	return ok
}

// table returns the table of a separable stage.
func (t *stage) table() *piecewise {
	t.once.Do(func() {
		t.c2 = newPiecewise(func(c float64) float64 {
			c2, _, _ := t.of.feature(c, 1, 1)
			return c2
		})
	})
	return t.c2
}

// norm64 returns the norm in the feature space of a document with norm x.
func (t *stage) norm64(x float32) float64 {
	if t.soft != nil {
		return t.soft.side(float64(x)).norm
	}
	if t.bias != nil {
		return t.bias.root(x)
	}
	switch k := t.of.(type) {
	case gaussian:
		return 1
	case polynomial:
		if a := math.Sqrt(k.gamma*float64(x)*float64(x) + k.r); k.gamma != 0 {
			return device.Power(a, k.degree)
		}
	default:
		if t.flat && t.p >= 0 && t.p == math.Trunc(t.p) { // wholePower takes no others
			return t.a * wholePower(float64(x), t.p)
		}
	}
	_, x2, _ := t.of.feature(0, float64(x), float64(x))
	return x2
}

// columns computes what rows need of the columns.
func (t *stage) columns(m *stageRoom, y []float32) {
	if t.soft != nil {
		if m.smooth == nil {
			m.smooth = new(smoothRoom)
		}
		t.soft.columns(m.smooth, y)
	}
	if t.bias != nil {
		if m.biased == nil {
			m.biased = new(biasedRoom)
		}
		for j, v := range y {
			m.biased.norms[j] = t.bias.root(v)
		}
	}
	if k, ok := t.of.(polynomial); ok {
		m.begin(2, len(y))
		for j, v := range y {
			m.q[0][j], m.q[1][j] = k.legs(v)
		}
		m.directions(2)
	}
}

// legs returns what the base of the power, γ⟨x, y⟩ + r, is put together from: the norm of √γ x, and √r beside it.
func (k polynomial) legs(x float32) (float64, float64) {
	if k.gamma == 0 {
		return math.NaN(), math.NaN()
	}
	return math.Sqrt(k.gamma) * float64(x), math.Sqrt(k.r)
}

// row maps c and the norms to c2: dst[j] = c2(c[j], x, y[j]), given what columns has left; dst may be c.
func (t *stage) row(asm *asm.Kernels, m *stageRoom, dst, c []float32, x float32, y []float32) {
	if t.same {
		copy(dst, c)
		return
	}
	if t.flat {
		t.table().apply(asm, dst, c)
		return
	}
	dst, c = dst[:len(y)], c[:len(y)]
	if t.soft != nil {
		t.soft.featureRow(asm, m.smooth, dst, c, x)
		return
	}
	if t.bias != nil {
		t.bias.featureRow(asm, t.of, m.biased, dst, c, x, y)
		return
	}
	switch k := t.of.(type) {
	case gaussian:
		gamma := k.gamma
		if gamma == 0 {
			gamma = math.NaN()
		}
		asm.GaussianDeficit(dst, c, y, float64(x), gamma)
	case polynomial:
		if k.degree == 0 {
			clear(dst)
			return
		}
		m.p[0], m.p[1] = k.legs(x)
		m.given[0] = c
		m.joint.row(asm, dst, c, 2, 1, k.degree)
		m.given[0] = nil // the pool must not keep it
	default:
		for j, v := range c {
			c2, _, _ := k.feature(float64(v), float64(x), float64(y[j]))
			dst[j] = float32(min(max(c2, 0), 2)) // as in composed.below
		}
	}
}

// error bounds the error of what row computes, of the value c2.
func (t *stage) error(c, x, y, c2 float64) float64 {
	if t.sum != nil {
		return t.sum.error(c, x, y, c2)
	}
	if t.same {
		return 0
	}
	if t.flat {
		return t.table().error(c, c2)
	}
	if t.soft != nil {
		return t.soft.featureError(x, y, c2)
	}
	if t.bias != nil {
		return t.bias.featureError(t.of, c, x, y, c2)
	}
	err := (unit+halfLineError)*c2 + underflow
	if k, ok := t.of.(polynomial); ok {
		// A change of the base counts up to degree times.
		root := math.Sqrt(k.gamma*x*x+k.r) * math.Sqrt(k.gamma*y*y+k.r)
		err += float64(k.degree) * jointError(k.base(c, x, y, root), 2*k.base(0, x, y, root))
	}
	return err
}

// stageRoom is scratch space of a stage for a block.
type stageRoom struct {
	joint
	smooth *smoothRoom // made when they are first wanted
	biased *biasedRoom
}
