package landmark

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// column is the state of the optimisation for one class and one C. The variables are u, see the
// package documentation.
type column struct {
	index, class, indexOfC int // index among columns optimised together, class, and index of C
	penalty                float64

	u              []float64
	objective      float64
	gradientNorm   float64   // preconditioned gradient norm, relative to the norm at f = 0
	zeroGradient   []float64 // gradient at f = 0, divided by C
	initialNorm    float64   // preconditioned norm of the gradient at f = 0
	meanCurvature  float64   // mean ℓ″ over the documents
	steps          int       // number of Newton steps
	gap            float64   // upper bound on objective minus its minimum
	converged      bool      // true if gap is within the tolerance
	start, step    []float64 // start and direction of the last step; nil before the first
	stepSize       float64   // step length as a fraction of step
	startObjective float64   // objective at start
	slope          float64   // derivative along step at start; negative
}

// The inner iterations of a Newton step end when the relative gradient norm is at most forcing, or
// after maxStepPasses passes. A step is halved while the objective decreases by less than the
// fraction armijoFraction of the predicted decrease. Steps aren't halved below minStepSize/2.
const (
	forcing        = 0.1
	maxStepPasses  = 15
	armijoFraction = 1e-4
	minStepSize    = 1e-3
)

func (t *training) fit(ctx context.Context) ([]*column, error) {
	var all []*column
	for which, penalty := range t.cValues {
		for class := range t.numFunctions() {
			c := &column{index: class, class: class, indexOfC: which, penalty: penalty, u: make([]float64, t.factor.N)}
			if t.s.Loss == SquaredError {
				c.index = len(all)
			}
			all = append(all, c)
		}
	}
	return all, t.optimiseAll(ctx, all)
}

// optimiseAll optimises all columns together for the squared loss. For other losses it optimises
// one C after another, with warm starts.
func (t *training) optimiseAll(ctx context.Context, all []*column) error {
	if t.s.Loss == SquaredError {
		return t.optimise(ctx, all)
	}
	var before []*column
	for some := range slices.Chunk(all, t.numFunctions()) {
		for i, c := range some {
			if before != nil {
				copy(c.u, before[i].u)
				c.zeroGradient = before[i].zeroGradient
			}
		}
		if err := t.optimise(ctx, some); err != nil {
			return err
		}
		before = some
	}
	return nil
}

// optimise takes Newton steps for all columns together. It ends when the gradient and the gap of
// each column are within the tolerance, or when no passes are left. The last pass evaluates the
// final columns, after undoing steps that are too long. The squared loss needs one step.
func (t *training) optimise(ctx context.Context, columns []*column) error {
	var weights []float32 // ℓ″ of each document and column
	if t.s.Loss != SquaredError {
		weights = make([]float32, len(t.rows)*len(columns))
	}
	p := &preconditioner{t: t}
	last := t.passes + t.s.Iterations
	for active := columns; len(active) > 0; {
		gradients, err := t.gradients(ctx, active, weights, len(columns))
		if err != nil {
			return err
		}
		if err := p.update(ctx, active); err != nil {
			return err
		}
		lengths, err := p.norms(ctx, active, gradients)
		if err == nil {
			err = p.initNorms(ctx, active, gradients)
		}
		if err != nil {
			return err
		}
		var near, moving []*column
		var there, down [][]float64
		for i, c := range active {
			if c.gradientNorm = 0; c.initialNorm > 0 {
				c.gradientNorm = lengths[i] / c.initialNorm
			}
			if c.converged = false; c.step != nil && c.stepSize > minStepSize &&
				!(c.objective <= c.startObjective+armijoFraction*c.stepSize*c.slope) {
				if c.applyStep(c.stepSize / 2); t.passes >= last-1 {
					c.applyStep(0)
				}
				continue
			}
			if moving, down = append(moving, c), append(down, gradients[i]); c.gradientNorm <= t.s.Tolerance ||
				t.passes >= last {
				near, there = append(near, c), append(there, gradients[i])
			}
		}
		if err := t.boundGaps(ctx, near, there, p); err != nil || t.passes >= last {
			return err
		}
		active = slices.DeleteFunc(slices.Clone(active), func(c *column) bool { return c.converged })
		if t.s.Loss != SquaredError && t.passes >= last-1 {
			continue
		}
		if err := t.takeNewtonSteps(ctx, moving, down, p, weights, len(columns), last); err != nil ||
			t.s.Loss == SquaredError {
			return err
		}
	}
	return nil
}

func (c *column) applyStep(size float64) {
	c.stepSize = size
	for i, s := range c.step {
		c.u[i] = c.start[i] + size*s
	}
}

// gradients computes gradients, objectives and ℓ″ for all columns in one pass.
func (t *training) gradients(
	ctx context.Context, columns []*column, weights []float32, stride int,
) ([][]float64, error) {
	count := len(columns)
	at := make([][]float64, count)
	for i, c := range columns {
		at[i] = c.u
	}
	classes := make([]int, count)
	for i, c := range columns {
		classes[i] = c.class
	}
	t.gradientRequest, t.gradientColumns = &Request{Classes: classes}, columns
	g, sums, err := t.runPass(ctx, at, t.gradientRequest, 2*count, func(row int, w, totals []float64) {
		t.addLosses(classes, row, w, totals, func(i int, second float64) {
			if weights != nil {
				weights[row*stride+columns[i].index] = float32(second)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		c.objective = floats.Dot(c.u, c.u)/2 + c.penalty*sums[i]
		c.meanCurvature = sums[count+i] / float64(len(t.rows))
		floats.Scale(c.penalty, g[i])
		floats.Add(g[i], c.u)
	}
	return g, nil
}

func (t *training) weight(row int) float64 {
	if t.c.Weights == nil {
		return 1
	}
	return t.c.Weights[t.rows[row]]
}

// addLosses replaces w of a row by ℓ′, adds ℓ and ℓ″ to totals, and calls weigh with ℓ″ for each
// class. ℓ, ℓ′ and ℓ″ are multiplied by the row's weight.
func (t *training) addLosses(classes []int, row int, w, totals []float64, weigh func(i int, second float64)) {
	s := t.weight(row)
	for i, class := range classes {
		loss, first, second := t.s.Loss.eval(t.sign(row, class), w[i])
		w[i] = s * first
		totals[i] += float64(s * loss)
		totals[len(classes)+i] += float64(s * second)
		weigh(i, s*second)
	}
}

// sign returns y of a row: 1 if it has the class, else -1.
func (t *training) sign(row, class int) float64 {
	if slices.Contains(t.c.Labels.Classes(t.rows[row]), int32(class)) {
		return 1
	}
	return -1
}

// takeNewtonSteps solves (I + C T⁻ᵀKₙₘᵀDKₙₘT⁻¹) d = -g, D = diag(ℓ″), for all columns by
// preconditioned conjugate gradients, and takes the steps d. With the squared loss it also checks
// convergence.
func (t *training) takeNewtonSteps(
	ctx context.Context, columns []*column, gradients [][]float64, p *preconditioner, weights []float32, stride, last int,
) error {
	part, passes := forcing, min(last-2, t.passes+maxStepPasses)
	if t.s.Loss == SquaredError {
		part, passes = t.s.Tolerance, last
	}
	type state struct {
		c                *column
		d, r, q          []float64
		rho, first, part float64
		begin            []float64
	}
	var all []*state
	for i, c := range columns {
		if c.converged {
			continue
		}
		s := &state{c: c, part: part, d: make([]float64, len(c.u)), r: gradients[i], begin: slices.Clone(gradients[i])}
		c.start, c.startObjective = slices.Clone(c.u), c.objective
		floats.Scale(-1, s.r)
		all = append(all, s)
	}
	of := func(some []*state) (columns []*column, r [][]float64) {
		for _, s := range some {
			columns, r = append(columns, s.c), append(r, s.r)
		}
		return columns, r
	}
	if len(all) == 0 {
		return nil
	}
	cs, rs := of(all)
	z, err := p.solve(ctx, cs, rs)
	if err != nil {
		return err
	}
	for i, s := range all {
		s.q, s.rho = z[i], floats.Dot(s.r, z[i])
		if s.first = s.rho; t.s.Loss == SquaredError {
			s.first = s.c.initialNorm * s.c.initialNorm
		}
	}
	for active := all; ; {
		there := func(s *state) bool { return !(s.rho > s.part*s.part*s.first) }
		if t.s.Loss == SquaredError {
			var near []*state
			for _, s := range active {
				if there(s) || t.passes >= passes {
					// P(u + d) = P(u) + gᵀd + ½dᵀHd, with Hd = -g - r
					s.c.objective = s.c.startObjective + (floats.Dot(s.begin, s.d)/2 - floats.Dot(s.d, s.r)/2)
					near = append(near, s)
				}
			}
			cs, rs := of(near) // r is -g; the sign doesn't affect the bound
			if err := t.boundGaps(ctx, cs, rs, p); err != nil {
				return err
			}
			for _, s := range near {
				if s.part *= forcing; s.c.converged {
					s.part = math.Inf(1)
				}
			}
		}
		active = slices.DeleteFunc(slices.Clone(active), there)
		if len(active) == 0 || t.passes >= passes {
			break
		}
		at := make([][]float64, len(active))
		for i, s := range active {
			at[i] = s.q
		}
		step := &Request{}
		if weights != nil {
			step.Classes, step.Points = t.gradientRequest.Classes, t.gradientRequest.Points
			for _, s := range active {
				step.PointIndices = append(step.PointIndices, slices.Index(t.gradientColumns, s.c))
			}
		}
		h, _, err := t.runPass(ctx, at, step, 0, func(row int, w, _ []float64) {
			for i, s := range active {
				if weights != nil {
					w[i] *= float64(weights[row*stride+s.c.index])
				} else {
					w[i] *= t.weight(row)
				}
			}
		})
		if err != nil {
			return err
		}
		for i, s := range active {
			floats.Scale(s.c.penalty, h[i])
			floats.Add(h[i], s.q)
			along := s.rho / floats.Dot(s.q, h[i])
			floats.AddScaled(s.d, along, s.q)
			floats.AddTo(s.c.u, s.c.start, s.d)
			floats.AddScaled(s.r, -along, h[i])
		}
		cs, rs := of(active)
		if z, err = p.solve(ctx, cs, rs); err != nil {
			return err
		}
		for i, s := range active {
			rho := floats.Dot(s.r, z[i])
			floats.AddScaled(z[i], rho/s.rho, s.q)
			s.q, s.rho = z[i], rho
		}
	}
	for _, s := range all {
		c := s.c
		c.step = s.d
		c.slope = floats.Dot(s.begin, s.d)
		c.steps++
		c.applyStep(1)
		if t.s.Loss == SquaredError {
			c.gradientNorm = math.Sqrt(max(s.rho, 0) / s.first)
		}
	}
	return nil
}
