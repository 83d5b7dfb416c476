package sphere

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/task"
)

// objective is the training objective of a binary classifier, Σ a·log(1 + e^(-yf)) + θ²/2C, where a
// is the weight of a document, y = ±1 its class and f its decision value.
type objective struct {
	*logistic.Losses
	squaredNorms []float64 // Σ values² of each row
	c            float64

	u             []float64 // w / ‖w‖
	plane         *Hyperplane
	contributions []Contribution
	losses        []float64 // loss sums, one per block of documents
	radial        []float64 // sums of the losses' derivatives with respect to θ, one per block of documents
	scratch       []Scratch
}

func newObjective(p *Problem, k task.BinaryProblem) *objective {
	blocks := len(p.RowBlocks)
	o := &objective{
		Losses: logistic.NewLosses(p.TrainingMatrix, k), squaredNorms: p.squaredNorms, u: make([]float64, len(p.Terms)),
		contributions: make([]Contribution, p.Rows.Rows()), losses: make([]float64, blocks),
		radial: make([]float64, blocks), scratch: make([]Scratch, k.Workers),
	}
	o.plane = NewHyperplane(o.u)
	return o
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// maxTheta is the maximum θ. Without regularisation, θ would grow indefinitely if documents are
// separable. If ‖w‖ exceeds maxTheta, the objective depends only on the direction of w.
const maxTheta = 1e4

// value returns the objective at w, and sets g to its gradient. It adds losses in fixed blocks, so
// that results don't depend on the number of workers.
func (o *objective) value(ctx context.Context, w, g []float64) (float64, error) {
	length := math.Sqrt(lbfgs.Dot(w, w))
	theta := min(length, maxTheta)
	for j, v := range w {
		o.u[j] = v / length
	}
	o.plane.Update()
	err := task.ForEachBlock(ctx, o.Workers, o.RowBlocks, func(worker, block, lo, hi int) {
		total, radial := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			p := o.plane.Project(Point{Terms: terms, Values: values, SquaredNorm: o.squaredNorms[i]}, &o.scratch[worker])
			l, c := o.Eval(i, 2*theta*p.Margin)
			o.contributions[i] = Contribution{Slope: 2 * theta * c * p.Slope, Lambda: p.Lambda}
			total += l
			radial += 2 * c * p.Margin
		}
		o.losses[block], o.radial[block] = total, radial
	})
	if err != nil {
		return 0, err
	}
	var beyond LambdaSums
	for _, w := range o.contributions {
		beyond.Add(w)
	}
	err = task.ForEachBlock(ctx, o.Workers, o.ColumnBlocks, func(_, _, lo, hi int) {
		for j := lo; j < hi; j++ {
			docs, values := o.Columns.Row(j)
			g[j] = o.plane.Gradient(j, docs, values, o.contributions, beyond)
		}
	})
	value := sum(o.losses) + theta*theta/(2*o.c)
	// The derivatives with respect to w are (I - ûûᵀ)/‖w‖ for û, and û for θ, or 0 above maxTheta.
	along, radial := lbfgs.Dot(g, o.u), sum(o.radial)+theta/o.c
	if length > maxTheta {
		radial = 0
	}
	for j, u := range o.u {
		g[j] = (g[j]-along*u)/length + radial*u
	}
	return value, err
}

// euclidean is like value, but for the Euclidean decision function f(x) = ⟨w,x⟩.
func (o *objective) euclidean(ctx context.Context, w, g []float64) (float64, error) {
	err := task.ForEachBlock(ctx, o.Workers, o.RowBlocks, func(_, block, lo, hi int) {
		total := 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			var l float64
			l, o.Derivatives[i] = o.Eval(i, task.Dot(terms, values, w))
			total += l
		}
		o.losses[block] = total
	})
	if err != nil {
		return 0, err
	}
	err = o.MultiplyTransposed(ctx, o.Workers, o.Derivatives, g)
	for j, v := range w {
		g[j] += v / o.c
	}
	return sum(o.losses) + lbfgs.Dot(w, w)/(2*o.c), err
}

// start sets w to half of an approximate Euclidean solution, because f has a factor of 2. The
// Euclidean problem is convex. For classes of unequal sizes, optimisation from the class means can
// take a thousand times as long and end at a higher objective.
func (o *objective) start(ctx context.Context, w []float64, reference float64) error {
	stop := lbfgs.Criteria{GradientThreshold: 0.01 * reference, MaxIterations: 100}
	if _, err := lbfgs.Minimise(ctx, o.euclidean, w, stop); err != nil {
		return err
	}
	if lbfgs.Scale(w, 0.5); lbfgs.Dot(w, w) > 0 {
		return nil
	}
	// If the solution is 0, start at the difference between the class means, scaled to norm 1.
	sum := o.WeightSums()
	for i, is := range o.Positive {
		if o.Derivatives[i] = -o.Weight(i) / sum[0]; is {
			o.Derivatives[i] = o.Weight(i) / sum[1]
		}
	}
	if err := o.MultiplyTransposed(ctx, o.Workers, o.Derivatives, w); err != nil {
		return err
	}
	if length := math.Sqrt(lbfgs.Dot(w, w)); length > 0 {
		for j := range w {
			w[j] /= length
		}
	} else if len(w) > 0 {
		w[0] = 1
	}
	return nil
}
