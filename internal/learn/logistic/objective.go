package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/sphere"
)

// objective is the function that a machine minimises, see the package documentation. A point is w
// and, with Euclidean margins, b after it.
type objective struct {
	*points
	s        *Settings
	positive []bool // by document
	prices   [2]float64
	workers  int

	u       []float64 // w / ‖w‖
	plane   *sphere.Hyperplane
	weights []sphere.Weight
	coef    []float64 // derivatives of the losses by f
	losses  []float64 // by block of documents
	radial  []float64 // Σ coef · margin, by block
	dual    float64   // the minimum is at least that, see bound
	scratch []sphere.Scratch
}

// newObjective makes the objective of one class against others.
func newObjective(p *points, s *Settings, positive []bool, workers int) *objective {
	n := p.rows.Rows()
	o := &objective{points: p, s: s, positive: positive, workers: workers, coef: make([]float64, n)}
	if o.prices = s.prices; o.prices == [2]float64{} {
		o.prices = [2]float64{1, 1}
	}
	o.losses, o.radial = make([]float64, len(p.rowBlocks)), make([]float64, len(p.rowBlocks))
	if s.Margin == Spherical {
		o.u, o.weights = make([]float64, len(p.terms)), make([]sphere.Weight, n)
		o.plane = sphere.NewHyperplane(o.u)
		o.scratch = make([]sphere.Scratch, workers)
	}
	return o
}

// size is the number of variables.
func (o *objective) size() int {
	if o.s.Margin == Spherical || o.s.NoBias {
		return len(o.terms)
	}
	return len(o.terms) + 1
}

// loss returns log(1 + e^-m) and its derivative by m.
func loss(m float64) (value, derivative float64) {
	if m > 0 {
		e := math.Exp(-m)
		return math.Log1p(e), -e / (1 + e)
	}
	e := math.Exp(m)
	return math.Log1p(e) - m, -1 / (1 + e)
}

// price is the multiple of the loss of a document.
func (o *objective) price(i int) float64 {
	s := o.prices[0]
	if o.positive[i] {
		s = o.prices[1]
	}
	return s * o.weight(i)
}

// weight is that of a document without its class.
func (p *points) weight(i int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[i]
}

// sides returns the weights of the documents that aren't positive, and of those that are.
func (o *objective) sides() (sum [2]float64) {
	for i, is := range o.positive {
		if is {
			sum[1] += o.weight(i)
		} else {
			sum[0] += o.weight(i)
		}
	}
	return sum
}

// lossOf is the loss of a document, and its derivative by f.
func (o *objective) lossOf(i int, f float64) (value, derivative float64) {
	s := o.price(i)
	if o.positive[i] {
		value, derivative = loss(f)
		return s * value, s * derivative
	}
	value, derivative = loss(-f)
	return s * value, -s * derivative
}

// value computes the objective at w and its gradient. Sums over documents go by fixed blocks, so
// that the bits don't depend on workers.
func (o *objective) value(ctx context.Context, w, g []float64) (float64, error) {
	if o.s.Margin == Spherical {
		return o.spherical(ctx, w, g)
	}
	return o.euclidean(ctx, w, g)
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

func (o *objective) euclidean(ctx context.Context, w, g []float64) (float64, error) {
	n, b := len(o.terms), 0.0
	if !o.s.NoBias {
		b = w[n]
	}
	err := each(ctx, o.workers, o.rowBlocks, func(_, block, lo, hi int) {
		total, bias := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.rows.Row(i)
			l, c := o.lossOf(i, dot(terms, values, w)+b)
			o.coef[i] = c
			total += l
			bias += c
		}
		o.losses[block], o.radial[block] = total, bias
	})
	if err != nil {
		return 0, err
	}
	err = o.gather(ctx, g)
	for j, v := range w[:n] {
		g[j] += v / o.s.C
	}
	if !o.s.NoBias {
		g[n] = sum(o.radial)
	}
	return sum(o.losses) + lbfgs.Product(w[:n], w[:n])/(2*o.s.C), err
}

// gather writes the sum of the documents, each with its coef, to g.
func (o *objective) gather(ctx context.Context, g []float64) error {
	return each(ctx, o.workers, o.columnBlocks, func(_, _, lo, hi int) {
		for j := lo; j < hi; j++ {
			docs, values := o.columns.Row(j)
			g[j] = dot(docs, values, o.coef)
		}
	})
}

// mostTheta bounds θ: separable documents without regularisation let it grow for ever. Beyond,
// the objective stays as it is along a ray.
const mostTheta = 1e4

func (o *objective) spherical(ctx context.Context, w, g []float64) (float64, error) {
	length := math.Sqrt(lbfgs.Product(w, w))
	theta := min(length, mostTheta)
	for j, v := range w {
		o.u[j] = v / length
	}
	o.plane.Reset()
	err := each(ctx, o.workers, o.rowBlocks, func(worker, block, lo, hi int) {
		total, radial := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.rows.Row(i)
			p := o.plane.Project(sphere.Point{Terms: terms, Values: values, Norm2: o.norm2[i]}, &o.scratch[worker])
			l, c := o.lossOf(i, 2*theta*p.Margin)
			o.weights[i] = sphere.Weight{Slope: 2 * theta * c * p.Slope, Lambda: p.Lambda}
			total += l
			radial += 2 * c * p.Margin
		}
		o.losses[block], o.radial[block] = total, radial
	})
	if err != nil {
		return 0, err
	}
	var beyond sphere.Beyond
	for _, w := range o.weights {
		beyond.Add(w)
	}
	err = each(ctx, o.workers, o.columnBlocks, func(_, _, lo, hi int) {
		for j := lo; j < hi; j++ {
			docs, values := o.columns.Row(j)
			g[j] = o.plane.Gradient(j, docs, values, o.weights, beyond)
		}
	})
	value := sum(o.losses) + theta*theta/(2*o.s.C)
	// By w = θû: what g has along û counts nothing, and the rest is divided by its length.
	along, radial := lbfgs.Product(g, o.u), sum(o.radial)+theta/o.s.C
	if length > mostTheta {
		radial = 0
	}
	for j, u := range o.u {
		g[j] = (g[j]-along*u)/length + radial*u
	}
	return value, err
}

// centroids returns the difference of the mean documents of the two classes, as a unit vector.
func (o *objective) centroids() []float64 {
	sum := o.sides()
	coef := make([]float64, len(o.positive))
	for i, p := range o.positive {
		if p {
			coef[i] = o.weight(i) / sum[1]
		} else {
			coef[i] = -o.weight(i) / sum[0]
		}
	}
	m := o.combine(coef)
	if length := math.Sqrt(lbfgs.Product(m, m)); length > 0 {
		for j := range m {
			m[j] /= length
		}
	} else if len(m) > 0 {
		m[0] = 1
	}
	return m
}

// combine returns the sum of the documents, each with its coefficient.
func (p *points) combine(coef []float64) []float64 {
	out := make([]float64, len(p.terms))
	for j := range out {
		docs, values := p.columns.Row(j)
		out[j] = dot(docs, values, coef)
	}
	return out
}
