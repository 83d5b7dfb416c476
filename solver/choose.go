package solver

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// chooser picks working sets.
type chooser struct {
	size   int
	picked []bool  // by variable: in the set that is being chosen
	set    []int32 // what was picked, in that order
	// the set, each variable in a place that it keeps from one set to the next; -1 where a place is
	// empty
	slots  []int32
	slotOf []int32 // by variable: its place, or -1
	fresh  []int32 // the places with another variable than in the set before
	sides  [4]side
}

// side is what may enter the set from one end of the scores.
type side struct {
	cut   float64       // a part of the gap, which follows what the rounds before found
	at    []int32       // variables that violate by more than that
	level []uint8       // how far they are above the cut
	count [levels]int32 // how many are at each level
	room  []int32
}

// extremes are the greatest score that may move along its sign in an equation, and the least that
// may move against it, and whose they are.
type extremes struct {
	hi, lo     float64
	hiAt, loAt int
}

// gap returns the violation of the optimality conditions: the greatest difference between the
// extremes of an equation. It appends the extremes of each equation to each. The gap is negative,
// or -Inf, at an optimum where no variable is free.
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

// newChooser returns a chooser of sets of a size for a problem of n variables.
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

// choose picks the next working set. Up to half of it are free variables of the set before: their
// rows are at hand, and the others will disturb them. The rest are the greatest violators at both
// ends of the scores, in equal parts. The pair that violates most is always in.
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
		if t >= 0 && d.free(t) {
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

// place gives each variable of the set its place: the one it had, or one that has become empty.
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

// free says whether a variable is off its bounds.
func (d *dual) free(t int32) bool { return d.alpha[t] > 0 && d.alpha[t] < d.upper[t] }

func (c *chooser) pick(t int32) {
	if !c.picked[t] {
		c.picked[t] = true
		c.set = append(c.set, t)
	}
}

// beyond is one end of the scores of an equation: the variables with a bit of the mask, by how far
// way·score is above the other end, gap at most.
type beyond struct {
	bit      byte
	way, end float64
	gap      float64
}

// levels is how many classes the variables beyond a cut are sorted into.
const levels = 128

// find lists the variables beyond the cut.
func (s *side) find(k *asm.Kernels, d *dual, b beyond) {
	if n := len(d.mask); len(s.room) < n {
		s.room, s.level = make([]int32, n), make([]uint8, n)
	}
	above := b.end + s.cut*b.gap
	s.at = s.room[:k.Beyond(s.room[:len(d.mask)], d.score, d.mask, b.bit, b.way, above)]
}

// sort sets the level of each of them, between the cut and all of the gap.
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

// take picks the greatest violators of a side, as many as there is room for. Those within 1/levels
// of each other count as equal and come in the order of their rows. It looks at those above the cut
// first, ideally a few more than it needs, and further where they are too few.
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

// The next round begins to look where this one found lookAhead times as many as it needed, and a
// little lower, since the gap shrinks from round to round.
const (
	lookAhead   = 2
	cutSlack    = 0.02
	lookFurther = 2
)
