package linear

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gramengine/gram/internal/learn/task"
)

// DecisionFunction is the result of training a binary classifier, without the weights.
type DecisionFunction struct {
	Objective         float64 `json:"objective"`       // primal objective P, see the package documentation
	Gap               float64 `json:"gap"`             // duality gap P - D, an upper bound on P minus its minimum
	Passes            int     `json:"passes"`          // number of passes over the documents
	NumSupportVectors int     `json:"support_vectors"` // number of documents with α > 0
	Converged         bool    `json:"converged"`       // true if Gap is within the tolerance
	Bias              float64 `json:"bias"`
}

type dualSolver struct {
	p               *problem
	positive        []bool
	classWeights    [2]float64 // factors of C for negative and for positive documents
	documentWeights []float64  // factor of C per document; nil for 1 each
	hinge           bool
	b               float64 // intercept scaling B, see the package documentation
	maxPasses       int
	onPass          func() // called after each pass
	r               *rand.Rand

	c       float64
	alpha   []float64
	w       []float64 // weights, indexed by column of the problem
	v       float64
	order   []uint32 // document indices, active documents first
	checker contextChecker
}

// newDualSolver returns a solver with α = 0. own holds the document weights, or is nil.
func newDualSolver(ctx context.Context, p *problem, s Settings, k task.BinaryProblem, own []float64) *dualSolver {
	d := &dualSolver{
		p: p, positive: k.Positive, hinge: s.Loss == Hinge, b: s.InterceptScaling, maxPasses: s.Iterations, onPass: k.OnStep,
		classWeights: k.Weights, documentWeights: own, checker: contextChecker{ctx: ctx},
		r:     rand.New(rand.NewPCG(s.Seed, uint64(k.Index))),
		alpha: make([]float64, p.rows()), w: make([]float64, len(p.columns)), order: make([]uint32, p.rows()),
	}
	for i := range d.order {
		d.order[i] = uint32(i)
	}
	return d
}

// bounds returns the maximum α and the diagonal term of the dual problem for documents of weight 1:
// C and 0 for the hinge, infinity and 1/2C for the squared hinge. For a document of weight s, s·C
// replaces C.
func (d *dualSolver) bounds() (most, diagonal float64) {
	if d.hinge {
		return d.c, 0
	}
	return math.Inf(1), 1 / (2 * d.c)
}

func (d *dualSolver) weight(i int) float64 {
	s := d.classWeights[0]
	if d.positive[i] {
		s = d.classWeights[1]
	}
	if d.documentWeights != nil {
		s *= d.documentWeights[i]
	}
	return s
}

func (d *dualSolver) sign(i uint32) float64 {
	if d.positive[i] {
		return 1
	}
	return -1
}

// The solver stops when the range of projected gradients is at most initialRange and the duality
// gap is small enough. Each time the gap is too large, the maximum range is multiplied by
// rangeFactor. Gradients up to ignoredGradient are ignored, so that every range above
// 2·ignoredGradient is reached.
const (
	initialRange    = 0.1
	rangeFactor     = 0.3
	ignoredGradient = 1e-12
	minRange        = 3 * ignoredGradient / rangeFactor
)

// solve optimises α for C = c, starting from the current α, until P - D is at most tolerance times
// P. It gives up after maxPasses passes, or when the maximum range is below minRange.
func (d *dualSolver) solve(c, tolerance float64) (m DecisionFunction, err error) {
	if err := d.setC(c); err != nil {
		return m, err
	}
	active, within := len(d.order), initialRange
	above, below := math.Inf(1), math.Inf(-1) // documents with projected gradients beyond these bounds are skipped
	for m.Passes < d.maxPasses {
		full := active == len(d.order)
		left, most, least, err := d.runPass(active, above, below)
		if err != nil {
			return m, err
		}
		active = left
		m.Passes++
		d.onPass()
		switch {
		case most-least > within:
			if above, below = most, least; !(above > 0) {
				above = math.Inf(1)
			}
			if !(below < 0) {
				below = math.Inf(-1)
			}
			continue
		case full:
			if err := d.measure(&m); err != nil {
				return m, err
			}
			// below minRange, steps are rounding errors and don't reduce the gap
			if m.Converged = m.Gap <= tolerance*m.Objective; m.Converged || within < minRange {
				return m, nil
			}
			within *= rangeFactor
		}
		active, above, below = len(d.order), math.Inf(1), math.Inf(-1)
	}
	err = d.measure(&m)
	m.Converged = m.Gap <= tolerance*m.Objective
	return m, err
}

// setC sets C. It multiplies α by the factor that maximises D while α stays within bounds.
func (d *dualSolver) setC(c float64) error {
	d.c = c
	sum, square, largest := 0.0, 0.0, 0.0
	for i, a := range d.alpha {
		sum += a
		square += float64(a*a) / d.weight(i)
		largest = max(largest, a/d.weight(i))
	}
	if largest == 0 {
		return nil
	}
	most, diagonal := d.bounds()
	by := min(sum/(float64(diagonal*square)+d.squaredNorm()), most/largest)
	for i := range d.alpha {
		d.alpha[i] = min(d.alpha[i]*by, most*d.weight(i))
	}
	return d.recomputeWeights()
}

// runPass visits the first active elements of order in random order, and takes a step for each. It
// returns the number of documents that stay active, and the range of their projected gradients.
func (d *dualSolver) runPass(active int, above, below float64) (left int, most, least float64, err error) {
	most, least = math.Inf(-1), math.Inf(1)
	most1, diagonal1 := d.bounds()
	order := d.order
	d.r.Shuffle(active, func(i, j int) { order[i], order[j] = order[j], order[i] })
	for k := 0; k < active; k++ {
		i := order[k]
		x := d.p.row(int(i))
		if err := d.checker.add(len(x)); err != nil {
			return active, most, least, err
		}
		y, a, s := d.sign(i), d.alpha[i], d.weight(int(i))
		bound, diagonal := most1*s, diagonal1/s
		g := y*(dot(x, d.w)+d.b*d.v) - 1 + diagonal*a
		projected := g
		switch {
		case a == 0 && g >= 0:
			projected = 0
			if g > above {
				active--
				order[k], order[active] = order[active], i
				k--
				continue
			}
		case a >= bound && g <= 0:
			projected = 0
			if g < below {
				active--
				order[k], order[active] = order[active], i
				k--
				continue
			}
		}
		most, least = max(most, projected), min(least, projected)
		if math.Abs(projected) <= ignoredGradient {
			continue
		}
		next := bound // if x = 0, D grows with αᵢ, so the maximum is at the bound
		if q := d.p.squaredNorms[i] + float64(d.b*d.b) + diagonal; q > 0 {
			next = min(max(a-g/q, 0), bound)
		}
		d.alpha[i] = next
		step := (next - a) * y
		addScaled(d.w, step, x)
		d.v += float64(step * d.b)
	}
	return active, most, least, nil
}

func (d *dualSolver) recomputeWeights() error {
	clear(d.w)
	d.v = 0
	for i, a := range d.alpha {
		if a != 0 {
			x := d.p.row(i)
			if err := d.checker.add(len(x)); err != nil {
				return err
			}
			a *= d.sign(uint32(i))
			addScaled(d.w, a, x)
			d.v += float64(a * d.b)
		}
	}
	return nil
}

func (d *dualSolver) squaredNorm() float64 {
	sum := float64(d.v * d.v)
	for _, w := range d.w {
		sum += float64(w * w)
	}
	return sum
}

// measure sets the objective, duality gap, bias and number of support vectors of m from α.
func (d *dualSolver) measure(m *DecisionFunction) error {
	if err := d.recomputeWeights(); err != nil {
		return err
	}
	_, diagonal := d.bounds()
	length2, losses, dual := d.squaredNorm(), 0.0, 0.0
	m.NumSupportVectors = 0
	for i, a := range d.alpha {
		x := d.p.row(i)
		if err := d.checker.add(len(x)); err != nil {
			return err
		}
		f := dot(x, d.w) + float64(d.b*d.v)
		if loss := 1 - d.sign(uint32(i))*f; loss > 0 {
			if !d.hinge {
				loss *= loss
			}
			losses += loss * d.weight(i)
		}
		if a > 0 {
			m.NumSupportVectors++
		}
		dual += a - float64(diagonal*a*a)/(2*d.weight(i))
	}
	m.Objective = length2/2 + float64(d.c*losses)
	m.Gap = max(m.Objective-(dual-length2/2), 0)
	m.Bias = d.b * d.v
	return nil
}
