package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// stage is a layer below the top of a composition that isn't separable as a whole, as it is computed. Layers next to each other that are separable are one stage.
type stage struct {
	of  component
	sum *sumStage // of a layer that is a sum, the first such of a composition; others are a rowLayer
	rowLayer
}

// rowLayer turns c and the norms of documents into those of a feature space. It is immutable, but for what is made once, and may be used concurrently.
type rowLayer interface {
	// norm64 returns the norm in the feature space of a document with norm x.
	norm64(x float32) float64

	// columns computes what rows need of the columns, of which there are at most chunk.
	columns(m *stageRoom, y []float32)

	// row computes dst[j] = c2(c[j], x, y[j]), given what columns has left in m; dst may be c, and is as long as c and y.
	row(k *asm.Kernels, m *stageRoom, dst, c []float32, x float32, y []float32)

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
	return &stage{of: of, rowLayer: newLayer(of)}
}

func newLayer(of component) rowLayer {
	switch k := of.(type) {
	case linear, bhattacharyya:
		return sameLayer{newTableLayer(of)}
	case gaussian:
		return gaussianLayer{k}
	case polynomial:
		return polynomialLayer{k}
	case *compiled:
		switch f := k.form.(type) {
		case arcSmooth:
			return smoothLayer{f}
		case arcBias:
			if f.sigma == 0 {
				return biasLayer{f, k}
			}
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

func isSeparable(k component) bool {
	_, ok := k.homogeneous()
	return ok
}

// stageRoom is scratch space of a stage for a block.
type stageRoom struct {
	joint
	smooth *smoothRoom // made when they are first wanted
	biased *biasedRoom
}
