package solver

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// chooser selects working sets.
type chooser struct {
	size   int
	picked []bool  // true for variables of the new set
	set    []int32 // selected variables, in order of selection
	// Variables of the working set by slot; -1 is an empty slot. A variable of two consecutive sets
	// keeps its slot.
	slots  []int32
	slotOf []int32 // slot of each variable, or -1
	fresh  []int32 // slots whose variable has changed
	sides  [4]side
}

// side selects the violators with the largest scores, or with the smallest scores, as candidates.
type side struct {
	cut   float64       // minimum violation of a candidate, as a fraction of the gap; adapted in each round
	at    []int32       // candidates, whose violation exceeds cut·gap
	level []uint8       // level of each candidate: 0 near the minimum violation, levels-1 near the gap
	count [levels]int32 // number of candidates by level
	room  []int32
}

// extremes holds the maximum score over I_up and the minimum score over I_low for an equality
// constraint, with their variables. y·α may increase for variables of I_up, and decrease for
// variables of I_low.
type extremes struct {
	hi, lo     float64
	hiAt, loAt int
}

// gap returns the violation of the optimality conditions, which is the largest difference between
// the extremes of an equality constraint. It appends the extremes of all constraints to each. The
// gap is negative, or -Inf, at an optimum without free variables.
func (d *dual) gap(k *asm.Kernels, each []extremes) (float64, []extremes) {
	worst := math.Inf(-1)
	for _, b := range d.pairs() {
		var e extremes
		e.hiAt, e.hi, e.loAt, e.lo = k.Extremes(d.score, d.mask, b[0], b[1])
		worst = max(worst, e.hi-e.lo)
		each = append(each, e)
	}
	return worst, each
}

func newChooser(size, n int) *chooser {
	c := &chooser{size: size, picked: make([]bool, n), slotOf: make([]int32, n), slots: make([]int32, size)}
	for i := range c.slots {
		c.slots[i] = -1
	}
	for i := range c.slotOf {
		c.slotOf[i] = -1
	}
	return c
}

// choose selects the next working set, which includes the most violating pair. Up to half of the
// set are free variables of the previous set, because the rows of these variables are cached. The
// other variables of the set are the largest violators, half with large and half with small scores.
func (c *chooser) choose(k *asm.Kernels, d *dual, each []extremes) {
	c.set = c.set[:0]
	open := 0
	for _, e := range each {
		if e.hi > e.lo {
			c.pick(int32(e.hiAt))
			c.pick(int32(e.loAt))
			open++
		}
	}
	for _, t := range c.slots {
		if len(c.set) >= c.size/2 {
			break
		}
		if t >= 0 && d.free(t) && d.mask[t] != 0 {
			c.pick(t)
		}
	}
	room := (c.size - len(c.set)) / 2 / max(open, 1)
	for i, e := range each {
		if e.hi > e.lo {
			b := d.pairs()[i]
			c.take(k, d, &c.sides[2*i], room, beyond{b[0], 1, e.lo, e.hi - e.lo})
			c.take(k, d, &c.sides[2*i+1], room, beyond{b[1], -1, -e.hi, e.hi - e.lo})
		}
	}
	c.place()
}

// place assigns a slot to each variable of the set. Variables of the previous set keep their slots.
func (c *chooser) place() {
	for i, t := range c.slots {
		if t >= 0 && !c.picked[t] {
			c.slots[i], c.slotOf[t] = -1, -1
		}
	}
	c.fresh = c.fresh[:0]
	empty := 0
	for _, t := range c.set {
		c.picked[t] = false
		if c.slotOf[t] < 0 {
			for c.slots[empty] >= 0 {
				empty++
			}
			c.slots[empty], c.slotOf[t] = t, int32(empty)
			c.fresh = append(c.fresh, int32(empty))
		}
	}
}

// free reports whether a variable is strictly between its bounds.
func (d *dual) free(t int32) bool { return d.alpha[t] > 0 && d.alpha[t] < d.upper[t] }

func (c *chooser) pick(t int32) {
	if !c.picked[t] {
		c.picked[t] = true
		c.set = append(c.set, t)
	}
}

// beyond describes the candidates of a side: the variables whose mask contains bit. The violation
// of a candidate is way·score - end, at most gap.
type beyond struct {
	bit      byte
	way, end float64
	gap      float64
}

// levels is the number of buckets into which candidates are sorted by violation.
const levels = 128

func (s *side) find(k *asm.Kernels, d *dual, b beyond) {
	if n := len(d.mask); len(s.room) < n {
		s.room, s.level = make([]int32, n), make([]uint8, n)
	}
	above := b.end + s.cut*b.gap
	s.at = s.room[:k.Beyond(s.room[:len(d.mask)], d.score, d.mask, b.bit, b.way, above)]
}

func (s *side) sort(d *dual, b beyond) {
	above, by := b.end+s.cut*b.gap, levels/((1-s.cut)*b.gap)
	level := s.level[:len(s.at)]
	s.count = [levels]int32{}
	for i, t := range s.at {
		l := uint8(min(int((b.way*d.score[t]-above)*by), levels-1))
		level[i] = l
		s.count[l%levels]++
	}
}

// take picks up to room of the largest violators of s. Violators of the same level are picked in
// row order. take first lowers s.cut until there are at least room candidates, or s.cut is 0.
func (c *chooser) take(k *asm.Kernels, d *dual, s *side, room int, b beyond) {
	for s.find(k, d, b); len(s.at) < room && s.cut > 0; s.find(k, d, b) {
		s.cut = max(1-lookFurther*(1-s.cut), 0)
	}
	s.sort(d, b)
	edge, have := levels, 0
	for edge > 0 && have+int(s.count[edge-1]) <= room {
		edge--
		have += int(s.count[edge])
	}
	rest := room - have
	level := s.level[:len(s.at)]
	for i, t := range s.at {
		switch l := int(level[i]); {
		case l >= edge:
			c.pick(t)
		case l == edge-1 && rest > 0:
			c.pick(t)
			rest--
		}
	}
	next, more := edge, have
	for next > 0 && more < lookAhead*room {
		next--
		more += int(s.count[next])
	}
	s.cut = max(s.cut+(1-s.cut)*float64(next)/levels-cutSlack, 0)
}

// The next round starts with the cut that would have given lookAhead times as many candidates as
// needed. cutSlack is subtracted from this cut, because the gap decreases from round to round.
// While there are too few candidates, 1 - cut is multiplied by lookFurther.
const (
	lookAhead   = 2
	cutSlack    = 0.02
	lookFurther = 2
)
