package landmark

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// column is a search, in u = Tα: for a class and a C.
type column struct {
	at, class, which int // its number among those that are searched together, its class, the number of its C
	price            float64

	u          []float64
	objective  float64
	gradient   float64   // its length by the preconditioner, as a part of that at f = 0
	zero       []float64 // that gradient by C
	first      float64   // its length
	mean       float64   // weight ℓ'' of a document
	steps      int       // of Newton's
	converged  bool
	from, step []float64 // where the last step began, and where it leads; nil before the first
	size       float64   // the part of the step that was gone
	before     float64   // the objective there
	slope      float64   // its derivative along the step there, below 0
}

// What ends a step of Newton's: the part of the gradient that is left, or so many passes. A step is
// halved where the objective falls by less than a part of what its slope promises.
const (
	forcing     = 0.1
	stepPasses  = 15
	enough      = 1e-4
	leastOfStep = 1e-3
)

// fit searches for all classes and all C. At the end of ctx it hands over where it is.
func (t *training) fit(ctx context.Context) ([]*column, error) {
	t.all = nil
	for which, price := range t.prices {
		for class := range t.machines() {
			c := &column{at: class, class: class, which: which, price: price, u: make([]float64, t.factor.N)}
			if t.s.Loss == Square {
				c.at = len(t.all)
			}
			t.all = append(t.all, c)
		}
	}
	if s := t.resumes(); s != nil {
		s.restore(t.all)
	}
	err := t.searches(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, t.keep(true))
	}
	return t.all, err
}

// searches searches for squares all at once, else for one C after the other.
func (t *training) searches(ctx context.Context) error {
	if t.s.Loss == Square {
		return t.search(ctx, t.all)
	}
	var before []*column
	for some := range slices.Chunk(t.all, t.machines()) {
		for i, c := range some {
			if before != nil && floats.Norm(c.u, 1) == 0 {
				copy(c.u, before[i].u)
				c.zero = before[i].zero
			}
		}
		if err := t.search(ctx, some); err != nil {
			return err
		}
		before = some
	}
	return nil
}

// search takes Newton's steps for all columns at once, until each has converged or the passes are
// spent. Squares need one.
func (t *training) search(ctx context.Context, columns []*column) error {
	var weights []float32 // ℓ'' of each document and column
	if t.s.Loss != Square {
		weights = make([]float32, len(t.rows)*len(columns))
	}
	p := &preconditioner{t: t}
	last := t.passes + t.s.Iterations
	for active := columns; len(active) > 0 && t.passes < last; {
		gradients, err := t.gradients(ctx, active, weights, len(columns))
		if err != nil {
			return err
		}
		if err := p.suit(ctx, active); err != nil {
			return err
		}
		lengths, err := p.lengths(ctx, active, gradients)
		if err == nil {
			err = p.firsts(ctx, active, gradients)
		}
		if err != nil {
			return err
		}
		var on, moving []*column
		var down [][]float64
		for i, c := range active {
			if c.step != nil && c.size > leastOfStep && !(c.objective <= c.before+enough*c.size*c.slope) {
				c.walk(c.size / 2)
				on = append(on, c)
				continue
			}
			if c.gradient = 0; c.first > 0 {
				c.gradient = lengths[i] / c.first
			}
			if c.converged = c.gradient <= t.s.Tolerance; !c.converged {
				on, moving, down = append(on, c), append(moving, c), append(down, gradients[i])
			}
		}
		if err := t.newton(ctx, moving, down, p, weights, len(columns), last); err != nil {
			return err
		}
		if active = on; t.s.Loss == Square {
			return nil
		}
	}
	return nil
}

// walk goes a part of the step.
func (c *column) walk(size float64) {
	c.size = size
	for i, s := range c.step {
		c.u[i] = c.from[i] + size*s
	}
}

// gradients takes a pass for the gradients of columns, their objectives and the weights of documents.
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
	t.point, t.pointOf = &Request{Classes: classes}, columns
	g, sums, err := t.pass(ctx, at, t.point, 2*count, func(row int, w, figures []float64) {
		t.losses(classes, row, w, figures, func(i int, second float64) {
			if weights != nil {
				weights[row*stride+columns[i].at] = float32(second)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		c.objective = floats.Dot(c.u, c.u)/2 + c.price*sums[i]
		c.mean = sums[count+i] / float64(len(t.rows))
		floats.Scale(c.price, g[i])
		floats.Add(g[i], c.u)
	}
	return g, nil
}

// losses puts ℓ' of a row in the place of w, adds up ℓ and ℓ”, and hands ℓ” of each class to weigh.
func (t *training) losses(classes []int, row int, w, figures []float64, weigh func(i int, second float64)) {
	own := t.c.Labels.Of(t.rows[row])
	for i, class := range classes {
		y := -1.0
		if slices.Contains(own, int32(class)) {
			y = 1
		}
		loss, first, second := t.s.Loss.of(y, w[i])
		w[i] = first
		figures[i] += loss
		figures[len(classes)+i] += second
		weigh(i, second)
	}
}

// newton solves (I + C T⁻ᵀKᵀDK T⁻¹) d = -g by preconditioned conjugate gradients, for all columns at
// once, and takes the steps d.
func (t *training) newton(
	ctx context.Context, columns []*column, gradients [][]float64, p *preconditioner, weights []float32, stride, last int,
) error {
	if len(columns) == 0 {
		return nil
	}
	part, passes := forcing, min(last, t.passes+stepPasses)
	if t.s.Loss == Square {
		part, passes = t.s.Tolerance, last
	}
	type state struct {
		c          *column
		d, r, q    []float64
		rho, first float64
		begin      []float64
	}
	var all []*state
	for i, c := range columns {
		s := &state{c: c, d: make([]float64, len(c.u)), r: gradients[i], begin: slices.Clone(gradients[i])}
		c.from, c.before = slices.Clone(c.u), c.objective
		floats.Scale(-1, s.r)
		all = append(all, s)
	}
	of := func(some []*state) (columns []*column, r [][]float64) {
		for _, s := range some {
			columns, r = append(columns, s.c), append(r, s.r)
		}
		return columns, r
	}
	cs, rs := of(all)
	z, err := p.solve(ctx, cs, rs)
	if err != nil {
		return err
	}
	for i, s := range all {
		s.q, s.rho = z[i], floats.Dot(s.r, z[i])
		if s.first = s.rho; t.s.Loss == Square {
			s.first = s.c.first * s.c.first
		}
	}
	for active := all; t.passes < passes; {
		active = slices.DeleteFunc(slices.Clone(active), func(s *state) bool {
			return !(s.rho > part*part*s.first)
		})
		if len(active) == 0 {
			break
		}
		at := make([][]float64, len(active))
		for i, s := range active {
			at[i] = s.q
		}
		step := &Request{}
		if weights != nil {
			step.Classes, step.At = t.point.Classes, t.point.At
			for _, s := range active {
				step.Of = append(step.Of, slices.Index(t.pointOf, s.c))
			}
		}
		h, _, err := t.pass(ctx, at, step, 0, func(row int, w, _ []float64) {
			for i, s := range active {
				if weights != nil {
					w[i] *= float64(weights[row*stride+s.c.at])
				}
			}
		})
		if err != nil {
			return err
		}
		for i, s := range active {
			floats.Scale(s.c.price, h[i])
			floats.Add(h[i], s.q)
			along := s.rho / floats.Dot(s.q, h[i])
			floats.AddScaled(s.d, along, s.q)
			floats.AddTo(s.c.u, s.c.from, s.d)
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
		if err := t.keep(false); err != nil {
			return err
		}
	}
	for _, s := range all {
		c := s.c
		c.step = s.d
		c.slope = floats.Dot(s.begin, s.d)
		c.steps++
		c.walk(1)
		if t.s.Loss == Square { // J(d) = J(0) + gᵀd + ½dᵀHd, with Hd = -g - r
			c.objective += c.slope/2 - floats.Dot(s.d, s.r)/2
			c.gradient = math.Sqrt(max(s.rho, 0) / s.first)
			c.converged = c.gradient <= t.s.Tolerance
		}
	}
	return nil
}
