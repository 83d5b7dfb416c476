package sphere

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
)

// objective is the training objective Σ price·log(1 + e^(-yf)) + θ²/2C of a binary classifier.
type objective struct {
	*Problem
	c        float64
	positive []bool     // by document
	prices   [2]float64 // factors of the losses of negative and positive documents
	workers  int

	u       []float64 // w / ‖w‖
	plane   *Hyperplane
	weights []Weight
	coef    []float64 // derivatives of the losses with respect to f
	losses  []float64 // by block of documents
	radial  []float64 // Σ derivative · margin, by block
	scratch []Scratch
}

func newObjective(p *Problem, prices [2]float64, positive []bool, workers int) *objective {
	n, blocks := p.Rows.Rows(), len(p.RowBlocks)
	o := &objective{
		Problem: p, positive: positive, prices: prices, workers: workers, u: make([]float64, len(p.Terms)),
		weights: make([]Weight, n), coef: make([]float64, n), losses: make([]float64, blocks),
		radial: make([]float64, blocks), scratch: make([]Scratch, workers),
	}
	if prices == [2]float64{} {
		o.prices = [2]float64{1, 1}
	}
	o.plane = NewHyperplane(o.u)
	return o
}

// price returns the factor of a document's loss.
func (o *objective) price(i int) float64 {
	if o.positive[i] {
		return o.prices[1] * o.Weight(i)
	}
	return o.prices[0] * o.Weight(i)
}

// sides returns the total weights of negative and of positive documents.
func (o *objective) sides() (sum [2]float64) {
	for i, is := range o.positive {
		if is {
			sum[1] += o.Weight(i)
		} else {
			sum[0] += o.Weight(i)
		}
	}
	return sum
}

// loss returns log(1 + e^-m) and its derivative with respect to m.
func loss(m float64) (value, derivative float64) {
	if m > 0 {
		e := math.Exp(-m)
		return math.Log1p(e), -e / (1 + e)
	}
	e := math.Exp(m)
	return math.Log1p(e) - m, -1 / (1 + e)
}

// lossOf returns a document's loss and its derivative with respect to f.
func (o *objective) lossOf(i int, f float64) (value, derivative float64) {
	s := o.price(i)
	if o.positive[i] {
		value, derivative = loss(f)
		return s * value, s * derivative
	}
	value, derivative = loss(-f)
	return s * value, -s * derivative
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// maxTheta bounds θ, which would grow indefinitely for separable documents without regularisation.
// Beyond it the objective is constant along rays.
const maxTheta = 1e4

// value computes the objective at w and its gradient g. Sums over documents are formed in fixed
// blocks, so that the bits don't depend on workers.
func (o *objective) value(ctx context.Context, w, g []float64) (float64, error) {
	length := math.Sqrt(lbfgs.Product(w, w))
	theta := min(length, maxTheta)
	for j, v := range w {
		o.u[j] = v / length
	}
	o.plane.Reset()
	err := task.EachBlock(ctx, o.workers, o.RowBlocks, func(worker, block, lo, hi int) {
		total, radial := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			p := o.plane.Project(Point{Terms: terms, Values: values, Norm2: o.norm2[i]}, &o.scratch[worker])
			l, c := o.lossOf(i, 2*theta*p.Margin)
			o.weights[i] = Weight{Slope: 2 * theta * c * p.Slope, Lambda: p.Lambda}
			total += l
			radial += 2 * c * p.Margin
		}
		o.losses[block], o.radial[block] = total, radial
	})
	if err != nil {
		return 0, err
	}
	var beyond Beyond
	for _, w := range o.weights {
		beyond.Add(w)
	}
	err = task.EachBlock(ctx, o.workers, o.ColumnBlocks, func(_, _, lo, hi int) {
		for j := lo; j < hi; j++ {
			docs, values := o.Columns.Row(j)
			g[j] = o.plane.Gradient(j, docs, values, o.weights, beyond)
		}
	})
	value := sum(o.losses) + theta*theta/(2*o.c)
	// w = θû: the component of g along û has no effect; the rest is divided by the length of w.
	along, radial := lbfgs.Product(g, o.u), sum(o.radial)+theta/o.c
	if length > maxTheta {
		radial = 0
	}
	for j, u := range o.u {
		g[j] = (g[j]-along*u)/length + radial*u
	}
	return value, err
}

// euclidean is value with f(x) = ⟨w,x⟩.
func (o *objective) euclidean(ctx context.Context, w, g []float64) (float64, error) {
	err := task.EachBlock(ctx, o.workers, o.RowBlocks, func(_, block, lo, hi int) {
		total := 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			var l float64
			l, o.coef[i] = o.lossOf(i, task.Dot(terms, values, w))
			total += l
		}
		o.losses[block] = total
	})
	if err != nil {
		return 0, err
	}
	err = o.Gather(ctx, o.workers, o.coef, g)
	for j, v := range w {
		g[j] += v / o.c
	}
	return sum(o.losses) + lbfgs.Product(w, w)/(2*o.c), err
}

// start sets w to an approximate Euclidean solution, whose problem is convex, divided by 2 because
// f has a factor of 2. From the class means, with classes of unequal size, a search can take a
// thousand times as long and end at a higher value.
func (o *objective) start(ctx context.Context, w []float64, reference float64) error {
	stop := lbfgs.Stopping{Gradient: 0.01 * reference, Iterations: 100}
	if _, err := lbfgs.Minimise(ctx, o.euclidean, w, stop); err != nil {
		return err
	}
	if lbfgs.Scale(w, 0.5); lbfgs.Product(w, w) > 0 {
		return nil
	}
	// the difference of the class means, as a unit vector
	sum := o.sides()
	for i, is := range o.positive {
		if o.coef[i] = -o.Weight(i) / sum[0]; is {
			o.coef[i] = o.Weight(i) / sum[1]
		}
	}
	if err := o.Gather(ctx, o.workers, o.coef, w); err != nil {
		return err
	}
	if length := math.Sqrt(lbfgs.Product(w, w)); length > 0 {
		for j := range w {
			w[j] /= length
		}
	} else if len(w) > 0 {
		w[0] = 1
	}
	return nil
}

// reference returns the gradient norm of the Euclidean objective at w = 0 with the best constant
// added to f.
func (o *objective) reference(ctx context.Context) (float64, error) {
	sum := o.sides()
	positive := o.prices[1] * sum[1]
	share := positive / (positive + float64(o.prices[0]*sum[0]))
	for i, is := range o.positive {
		if o.coef[i] = o.price(i) * share; is {
			o.coef[i] = o.price(i) * (share - 1)
		}
	}
	g := make([]float64, len(o.Terms))
	err := o.Gather(ctx, o.workers, o.coef, g)
	length := 0.0
	for _, v := range g {
		length += float64(v * v)
	}
	return math.Sqrt(length), err
}
