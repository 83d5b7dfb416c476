package solver

import (
	"math"

	"github.com/gramengine/gram/asm"
)

type workingSetSelector struct {
	size     int
	selected []bool
	set      []int32 // selected variables in order of selection
	// variable in each slot, or -1; a variable that stays in the working set keeps its slot
	slots          []int32
	slotOf         []int32 // slot of each variable, or -1
	changedSlots   []int32 // slots that got a new variable in this round
	candidateLists [4]candidateList
}

// candidateList holds the violators with the largest, or with the smallest, scores.
type candidateList struct {
	threshold   float64            // minimum violation of a candidate, as a fraction of the gap; adapted in each round
	variables   []int32            // variables whose violation exceeds threshold·gap
	bucketOf    []uint8            // bucket of each candidate: from 0 near threshold·gap to bucketCount-1 near the gap
	bucketSizes [bucketCount]int32 // number of candidates by bucket
	buffer      []int32            // backing array of variables, reused in each round
}

// extremes holds two scores of an equality constraint: the maximum score hi over variables whose
// y·α may increase, and the minimum score lo over variables whose y·α may decrease.
type extremes struct {
	hi, lo           float64
	hiIndex, loIndex int
}

// gap returns the violation of the optimality conditions, max (hi - lo) over the equality
// constraints (see extremes). It appends the extremes of each constraint to each. The gap may be
// negative, or -Inf, at an optimum without free variables.
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
// remaining variables are the largest violators, half with large and half with small scores.
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

func (d *dual) isFree(t int32) bool { return d.alpha[t] > 0 && d.alpha[t] < d.upper[t] }

func (c *workingSetSelector) addVariable(t int32) {
	if !c.selected[t] {
		c.selected[t] = true
		c.set = append(c.set, t)
	}
}

// violationRange defines the violation of a variable whose mask contains maskBit as
// direction·score - extreme. The violation is at most gap.
type violationRange struct {
	maskBit            byte
	direction, extreme float64
	gap                float64
}

// bucketCount is the number of buckets for a counting sort of candidates by violation.
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
	buckets := s.bucketOf[:len(s.variables)]
	s.bucketSizes = [bucketCount]int32{}
	for i, t := range s.variables {
		bucket := uint8(min(int((b.direction*d.score[t]-above)*by), bucketCount-1))
		buckets[i] = bucket
		s.bucketSizes[bucket%bucketCount]++
	}
}

// addViolators adds the count largest violators of s to the working set. If only part of a bucket
// is needed, its violators are taken in row order. addViolators first lowers s.threshold until
// there are at least count candidates, or the threshold is 0.
func (c *workingSetSelector) addViolators(k *asm.Kernels, d *dual, s *candidateList, count int, b violationRange) {
	for s.collect(k, d, b); len(s.variables) < count && s.threshold > 0; s.collect(k, d, b) {
		s.threshold = max(1-thresholdFactor*(1-s.threshold), 0)
	}
	s.fillBuckets(d, b)
	edge, have := bucketCount, 0
	for edge > 0 && have+int(s.bucketSizes[edge-1]) <= count {
		edge--
		have += int(s.bucketSizes[edge])
	}
	rest := count - have
	buckets := s.bucketOf[:len(s.variables)]
	for i, t := range s.variables {
		switch bucket := int(buckets[i]); {
		case bucket >= edge:
			c.addVariable(t)
		case bucket == edge-1 && rest > 0:
			c.addVariable(t)
			rest--
		}
	}
	next, more := edge, have
	for next > 0 && more < candidateFactor*count {
		next--
		more += int(s.bucketSizes[next])
	}
	s.threshold = max(s.threshold+(1-s.threshold)*float64(next)/bucketCount-thresholdSlack, 0)
}

// The next round starts with the threshold that would have given candidateFactor times as many
// candidates as needed, minus thresholdSlack, because the gap decreases from round to round. While
// there are too few candidates, 1 - threshold is multiplied by thresholdFactor.
const (
	candidateFactor = 2
	thresholdSlack  = 0.02
	thresholdFactor = 2
)
