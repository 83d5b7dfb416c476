package solver

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// workingSetSelector selects working sets.
type workingSetSelector struct {
	size     int
	selected []bool  // true for variables of the new set
	set      []int32 // selected variables, in order of selection
	// Variables of the working set by slot; -1 is an empty slot. A variable of two consecutive sets
	// keeps its slot.
	slots          []int32
	slotOf         []int32 // slot of each variable, or -1
	changedSlots   []int32 // slots whose variable has changed
	candidateLists [4]candidateList
}

// candidateList selects the violators with the largest scores, or with the smallest scores, as candidates.
type candidateList struct {
	threshold   float64            // minimum violation of a candidate, as a fraction of the gap; adapted in each round
	variables   []int32            // candidates, whose violation exceeds cut·gap
	bucketOf    []uint8            // bucketOf of each candidate: 0 near the minimum violation, levels-1 near the gap
	bucketSizes [bucketCount]int32 // number of candidates by level
	buffer      []int32
}

// extremes holds the maximum score over I_up and the minimum score over I_low for an equality
// constraint, with their variables. y·α may increase for variables of I_up, and decrease for
// variables of I_low.
type extremes struct {
	hi, lo           float64
	hiIndex, loIndex int
}

// gap returns the violation of the optimality conditions, which is the largest difference between
// the extremes of an equality constraint. It appends the extremes of all constraints to each. The
// gap is negative, or -Inf, at an optimum without free variables.
func (d *dual) gap(k *asm.Kernels, each []extremes) (float64, []extremes) {
	worst := math.Inf(-1)
	for _, b := range d.constraintBits() {
		var e extremes
		e.hiIndex, e.hi, e.loIndex, e.lo = k.Extremes(d.score, d.mask, b[0], b[1])
		worst = max(worst, e.hi-e.lo)
		each = append(each, e)
	}
	return worst, each
}

func newWorkingSetSelector(size, n int) *workingSetSelector {
	c := &workingSetSelector{size: size, selected: make([]bool, n), slotOf: make([]int32, n), slots: make([]int32, size)}
	for i := range c.slots {
		c.slots[i] = -1
	}
	for i := range c.slotOf {
		c.slotOf[i] = -1
	}
	return c
}

// selectSet selects the next working set, which includes the most violating pair. Up to half of the
// set are free variables of the previous set, because the rows of these variables are cached. The
// other variables of the set are the largest violators, half with large and half with small scores.
func (c *workingSetSelector) selectSet(k *asm.Kernels, d *dual, each []extremes) {
	c.set = c.set[:0]
	open := 0
	for _, e := range each {
		if e.hi > e.lo {
			c.addVariable(int32(e.hiIndex))
			c.addVariable(int32(e.loIndex))
			open++
		}
	}
	for _, t := range c.slots {
		if len(c.set) >= c.size/2 {
			break
		}
		if t >= 0 && d.isFree(t) && d.mask[t] != 0 {
			c.addVariable(t)
		}
	}
	room := (c.size - len(c.set)) / 2 / max(open, 1)
	for i, e := range each {
		if e.hi > e.lo {
			b := d.constraintBits()[i]
			c.addViolators(k, d, &c.candidateLists[2*i], room, violationRange{b[0], 1, e.lo, e.hi - e.lo})
			c.addViolators(k, d, &c.candidateLists[2*i+1], room, violationRange{b[1], -1, -e.hi, e.hi - e.lo})
		}
	}
	c.assignSlots()
}

// assignSlots assigns a slot to each variable of the set. Variables of the previous set keep their slots.
func (c *workingSetSelector) assignSlots() {
	for i, t := range c.slots {
		if t >= 0 && !c.selected[t] {
			c.slots[i], c.slotOf[t] = -1, -1
		}
	}
	c.changedSlots = c.changedSlots[:0]
	empty := 0
	for _, t := range c.set {
		c.selected[t] = false
		if c.slotOf[t] < 0 {
			for c.slots[empty] >= 0 {
				empty++
			}
			c.slots[empty], c.slotOf[t] = t, int32(empty)
			c.changedSlots = append(c.changedSlots, int32(empty))
		}
	}
}

// isFree reports whether a variable is strictly between its bounds.
func (d *dual) isFree(t int32) bool { return d.alpha[t] > 0 && d.alpha[t] < d.upper[t] }

func (c *workingSetSelector) addVariable(t int32) {
	if !c.selected[t] {
		c.selected[t] = true
		c.set = append(c.set, t)
	}
}

// violationRange describes the candidates of a side: the variables whose mask contains bit. The violation
// of a candidate is way·score - end, at most gap.
type violationRange struct {
	maskBit            byte
	direction, extreme float64
	gap                float64
}

// bucketCount is the number of buckets into which candidates are sorted by violation.
const bucketCount = 128

func (s *candidateList) collect(k *asm.Kernels, d *dual, b violationRange) {
	if n := len(d.mask); len(s.buffer) < n {
		s.buffer, s.bucketOf = make([]int32, n), make([]uint8, n)
	}
	above := b.extreme + s.threshold*b.gap
	s.variables = s.buffer[:k.Beyond(s.buffer[:len(d.mask)], d.score, d.mask, b.maskBit, b.direction, above)]
}

func (s *candidateList) fillBuckets(d *dual, b violationRange) {
	above, by := b.extreme+s.threshold*b.gap, bucketCount/((1-s.threshold)*b.gap)
	level := s.bucketOf[:len(s.variables)]
	s.bucketSizes = [bucketCount]int32{}
	for i, t := range s.variables {
		l := uint8(min(int((b.direction*d.score[t]-above)*by), bucketCount-1))
		level[i] = l
		s.bucketSizes[l%bucketCount]++
	}
}

// addViolators picks up to room of the largest violators of s. Violators of the same level are picked in
// row order. take first lowers s.cut until there are at least room candidates, or s.cut is 0.
func (c *workingSetSelector) addViolators(k *asm.Kernels, d *dual, s *candidateList, room int, b violationRange) {
	for s.collect(k, d, b); len(s.variables) < room && s.threshold > 0; s.collect(k, d, b) {
		s.threshold = max(1-thresholdFactor*(1-s.threshold), 0)
	}
	s.fillBuckets(d, b)
	edge, have := bucketCount, 0
	for edge > 0 && have+int(s.bucketSizes[edge-1]) <= room {
		edge--
		have += int(s.bucketSizes[edge])
	}
	rest := room - have
	level := s.bucketOf[:len(s.variables)]
	for i, t := range s.variables {
		switch l := int(level[i]); {
		case l >= edge:
			c.addVariable(t)
		case l == edge-1 && rest > 0:
			c.addVariable(t)
			rest--
		}
	}
	next, more := edge, have
	for next > 0 && more < candidateFactor*room {
		next--
		more += int(s.bucketSizes[next])
	}
	s.threshold = max(s.threshold+(1-s.threshold)*float64(next)/bucketCount-thresholdSlack, 0)
}

// The next round starts with the cut that would have given lookAhead times as many candidates as
// needed. cutSlack is subtracted from this cut, because the gap decreases from round to round.
// While there are too few candidates, 1 - cut is multiplied by lookFurther.
const (
	candidateFactor = 2
	thresholdSlack  = 0.02
	thresholdFactor = 2
)
