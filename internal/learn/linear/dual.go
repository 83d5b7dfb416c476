package linear

import (
	"context"
	"math"
	"math/rand/v2"
)

// Machine is what a training found beside the weights.
type Machine struct {
	Value     float64 `json:"objective"`       // P, the objective
	Gap       float64 `json:"gap"`             // P - D, at least what P is above its optimum
	Passes    int     `json:"passes"`          // over the documents that weren't left out
	Support   int     `json:"support_vectors"` // documents with α above 0
	Converged bool    `json:"converged"`       // whether the gap is within the tolerance
	Bias      float64 `json:"bias"`
}

// dual is a search for one machine.
type dual struct {
	p        *problem
	positive []bool
	weights  [2]float64 // multiples of C, of positive documents the second
	own      []float64  // further ones by document; nil for 1 each
	hinge    bool
	b        float64 // B
	limit    int     // passes
	told     func()  // of a pass; may be nil
	r        *rand.Rand

	c     float64
	alpha []float64
	w     []float64 // by column of the problem
	v     float64
	order []uint32 // documents; those before active aren't left out
	wait  patience
}

func newDual(ctx context.Context, p *problem, positive []bool, s *Settings, class int, told func()) *dual {
	d := &dual{
		p: p, positive: positive, hinge: s.Loss == Hinge, b: s.Intercept, limit: s.Iterations, told: told,
		weights: [2]float64{1, 1}, wait: patience{ctx: ctx},
		r:     rand.New(rand.NewPCG(s.Seed, uint64(class))),
		alpha: make([]float64, p.rows()), w: make([]float64, len(p.place)), order: make([]uint32, p.rows()),
	}
	for i := range d.order {
		d.order[i] = uint32(i)
	}
	return d
}

// bounds returns the greatest α of documents of the weight 1 and the term 1/2C of the diagonal, which one of the
// losses has: a document of the weight s has s·C in place of C.
func (d *dual) bounds() (most, diagonal float64) {
	if d.hinge {
		return d.c, 0
	}
	return math.Inf(1), 1 / (2 * d.c)
}

// weight is the multiple of C.
func (d *dual) weight(i int) float64 {
	s := d.weights[0]
	if d.positive[i] {
		s = d.weights[1]
	}
	if d.own != nil {
		s *= d.own[i]
	}
	return s
}

// sign is y.
func (d *dual) sign(i uint32) float64 {
	if d.positive[i] {
		return 1
	}
	return -1
}

// The first range of projected gradients that ends a search, if the gap is small enough then; each
// further one is a part of the one before. Gradients of up to settled are left as they are, so that a
// range of twice that is always reached: the last one, from leastRange on, is above it.
const (
	firstRange = 0.1
	finerRange = 0.3
	settled    = 1e-12
	leastRange = 3 * settled / finerRange
)

// search goes on with the α that are there until P - D is at most a part of P, and the machine has
// converged, or until steps or passes end.
func (d *dual) search(c, tolerance float64) (m Machine, err error) {
	if err := d.begin(c); err != nil {
		return m, err
	}
	active, within := len(d.order), firstRange
	above, below := math.Inf(1), math.Inf(-1) // projected gradients beyond these were left out
	for m.Passes < d.limit {
		full := active == len(d.order)
		left, most, least, err := d.pass(active, above, below)
		if err != nil {
			return m, err
		}
		active = left
		if m.Passes++; d.told != nil {
			d.told()
		}
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
			// below leastRange steps are rounding, and the gap stays as it is
			if m.Converged = m.Gap <= tolerance*m.Value; m.Converged || within < leastRange {
				return m, nil
			}
			within *= finerRange
		}
		active, above, below = len(d.order), math.Inf(1), math.Inf(-1)
	}
	err = d.measure(&m)
	m.Converged = m.Gap <= tolerance*m.Value
	return m, err
}

// begin sets C, and scales the α of a search with another one by the factor that makes D greatest
// among those that keep them in bounds.
func (d *dual) begin(c float64) error {
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
	by := min(sum/(float64(diagonal*square)+d.length2()), most/largest)
	for i := range d.alpha {
		d.alpha[i] = min(d.alpha[i]*by, most*d.weight(i))
	}
	return d.rebuild()
}

// pass takes a step for each of the first active documents in random order, and returns how many are
// still in, and the range of their projected gradients.
func (d *dual) pass(active int, above, below float64) (left int, most, least float64, err error) {
	most, least = math.Inf(-1), math.Inf(1)
	most1, diagonal1 := d.bounds()
	order := d.order
	d.r.Shuffle(active, func(i, j int) { order[i], order[j] = order[j], order[i] })
	for k := 0; k < active; k++ {
		i := order[k]
		x := d.p.row(int(i))
		if err := d.wait.after(len(x)); err != nil {
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
		if math.Abs(projected) <= settled {
			continue
		}
		next := bound // where nothing but Σα depends on α
		if q := d.p.norm2[i] + float64(d.b*d.b) + diagonal; q > 0 {
			next = min(max(a-g/q, 0), bound)
		}
		d.alpha[i] = next
		step := (next - a) * y
		add(d.w, step, x)
		d.v += float64(step * d.b)
	}
	return active, most, least, nil
}

// rebuild computes w and v from α.
func (d *dual) rebuild() error {
	clear(d.w)
	d.v = 0
	for i, a := range d.alpha {
		if a != 0 {
			x := d.p.row(i)
			if err := d.wait.after(len(x)); err != nil {
				return err
			}
			a *= d.sign(uint32(i))
			add(d.w, a, x)
			d.v += float64(a * d.b)
		}
	}
	return nil
}

func (d *dual) length2() float64 {
	sum := float64(d.v * d.v)
	for _, w := range d.w {
		sum += float64(w * w)
	}
	return sum
}

// measure computes what a machine says of itself, from α alone.
func (d *dual) measure(m *Machine) error {
	if err := d.rebuild(); err != nil {
		return err
	}
	_, diagonal := d.bounds()
	length2, losses, dual := d.length2(), 0.0, 0.0
	m.Support = 0
	for i, a := range d.alpha {
		x := d.p.row(i)
		if err := d.wait.after(len(x)); err != nil {
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
			m.Support++
		}
		dual += a - float64(diagonal*a*a)/(2*d.weight(i))
	}
	m.Value = length2/2 + float64(d.c*losses)
	m.Gap = max(m.Value-(dual-length2/2), 0)
	m.Bias = d.b * d.v
	return nil
}
