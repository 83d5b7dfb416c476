package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// valueLayer is a layer for which nothing better is known than to go value by value, in float64.
type valueLayer struct{ of component }

func (l valueLayer) norm64(x float32) float64 {
	_, x2, _ := l.of.feature(0, float64(x), float64(x))
	return x2
}

func (valueLayer) columns(*stageRoom, []float32) {}

func (l valueLayer) row(_ *asm.Kernels, _ *stageRoom, dst, c []float32, x float32, y []float32) {
	for j, v := range c {
		c2, _, _ := l.of.feature(float64(v), float64(x), float64(y[j]))
		dst[j] = float32(min(max(c2, 0), 2)) // as in composed.below
	}
}

// error: what float64 leaves is below a hundredth of the rounding.
func (valueLayer) error(_, _, _, c2 float64) float64 { return (unit+halfLineError)*c2 + underflow }

// tableLayer is a separable layer, k = (xy)^p g(c): x2 = a x^p, and c2 is a function of c, the table's.
type tableLayer struct {
	valueLayer
	p, a  float64
	table func() *piecewise // made once
}

func newTableLayer(of component) tableLayer {
	l := tableLayer{valueLayer: valueLayer{of}}
	l.p, _ = of.homogeneous()
	_, l.a, _ = of.feature(0, 1, 1)
	l.table = sync.OnceValue(func() *piecewise {
		return newPiecewise(func(c float64) float64 {
			c2, _, _ := of.feature(c, 1, 1)
			return c2
		})
	})
	return l
}

func (l tableLayer) norm64(x float32) float64 {
	if l.p >= 0 && l.p == math.Trunc(l.p) { // wholePower takes no others
		return l.a * wholePower(float64(x), l.p)
	}
	return l.valueLayer.norm64(x)
}

func (l tableLayer) row(k *asm.Kernels, _ *stageRoom, dst, c []float32, _ float32, _ []float32) {
	l.table().apply(k, dst, c)
}

func (l tableLayer) error(c, _, _, c2 float64) float64 { return l.table().error(c, c2) }

// sameLayer is a separable layer whose c2 is c itself.
type sameLayer struct{ tableLayer }

func (sameLayer) row(_ *asm.Kernels, _ *stageRoom, dst, c []float32, _ float32, _ []float32) {
	copy(dst, c)
}

func (sameLayer) error(_, _, _, _ float64) float64 { return 0 }

// gaussianLayer is a layer of the Gaussian kernel.
type gaussianLayer struct{ gaussian }

func (gaussianLayer) norm64(float32) float64 { return 1 }

func (gaussianLayer) columns(*stageRoom, []float32) {}

func (l gaussianLayer) row(k *asm.Kernels, _ *stageRoom, dst, c []float32, x float32, y []float32) {
	gamma := l.gamma
	if gamma == 0 {
		gamma = math.NaN()
	}
	k.GaussianDeficit(dst, c, y, float64(x), gamma)
}

func (l gaussianLayer) error(c, x, y, c2 float64) float64 {
	return valueLayer{l.gaussian}.error(c, x, y, c2)
}

// polynomialLayer is a layer of the polynomial kernel: a tensor power of what is put together from √γ x and √r.
type polynomialLayer struct{ polynomial }

func (l polynomialLayer) norm64(x float32) float64 {
	if l.gamma == 0 {
		return math.NaN()
	}
	return device.Power(math.Sqrt(l.gamma*float64(x)*float64(x)+l.r), l.degree)
}

// legs returns what the base of the power, γ⟨x, y⟩ + r, is put together from: the norm of √γ x, and √r beside it.
func (l polynomialLayer) legs(x float32) (float64, float64) {
	if l.gamma == 0 {
		return math.NaN(), math.NaN()
	}
	return math.Sqrt(l.gamma) * float64(x), math.Sqrt(l.r)
}

func (l polynomialLayer) columns(m *stageRoom, y []float32) {
	m.begin(2, len(y))
	for j, v := range y {
		m.q[0][j], m.q[1][j] = l.legs(v)
	}
	m.directions(2)
}

func (l polynomialLayer) row(k *asm.Kernels, m *stageRoom, dst, c []float32, x float32, _ []float32) {
	if l.degree == 0 {
		clear(dst)
		return
	}
	m.p[0], m.p[1] = l.legs(x)
	m.given[0] = c
	m.joint.row(k, dst, c, 2, 1, l.degree)
	m.given[0] = nil // the pool must not keep it
}

// error: a change of the base counts up to degree times.
func (l polynomialLayer) error(c, x, y, c2 float64) float64 {
	root := math.Sqrt(l.gamma*x*x+l.r) * math.Sqrt(l.gamma*y*y+l.r)
	return (unit+halfLineError)*c2 + underflow + float64(l.degree)*jointError(l.base(c, x, y, root), 2*l.base(0, x, y, root))
}

// smoothLayer is a layer of smoothed thresholds.
type smoothLayer struct{ arcSmooth }

func (l smoothLayer) norm64(x float32) float64 { return l.side(float64(x)).norm }

func (l smoothLayer) columns(m *stageRoom, y []float32) {
	if m.smooth == nil {
		m.smooth = new(smoothRoom)
	}
	l.arcSmooth.columns(m.smooth, y)
}

func (l smoothLayer) row(k *asm.Kernels, m *stageRoom, dst, c []float32, x float32, _ []float32) {
	l.featureRow(k, m.smooth, dst, c, x)
}

func (l smoothLayer) error(_, x, y, c2 float64) float64 { return l.featureError(x, y, c2) }

// biasLayer is a layer of steps with a bias, which kernel is.
type biasLayer struct {
	arcBias
	kernel component
}

func (l biasLayer) norm64(x float32) float64 { return l.root(x) }

func (l biasLayer) columns(m *stageRoom, y []float32) {
	if m.biased == nil {
		m.biased = new(biasedRoom)
	}
	for j, v := range y {
		m.biased.norms[j] = l.root(v)
	}
}

func (l biasLayer) row(k *asm.Kernels, m *stageRoom, dst, c []float32, x float32, y []float32) {
	l.featureRow(k, l.kernel, m.biased, dst, c, x, y)
}

func (l biasLayer) error(c, x, y, c2 float64) float64 { return l.featureError(l.kernel, c, x, y, c2) }
