package solver

import (
	"cmp"
	"slices"
)

// chooser picks working sets.
type chooser struct {
	size   int
	picked []bool  // by variable: in the set that is being chosen
	last   []int32 // the set before, in the order of variables
	pool   []candidate
}

type candidate struct {
	score float64
	at    int32
}

// before orders candidates: the greater score first, of equal ones the earlier variable.
func (a candidate) before(b candidate) bool {
	return a.score > b.score || a.score == b.score && a.at < b.at
}

// choose returns the next working set, in increasing order. Half of the places are for the greatest violators among the variables that may move
// along their sign and those that may move against it, in equal parts; the other half keeps variables of the set before, free ones
// first, whose rows are at hand. What is left goes to further violators. The pair that violates most is always in.
func (c *chooser) choose(d *dual) []int32 {
	set := make([]int32, 0, c.size)
	fresh := c.size
	if len(c.last) > 0 {
		fresh = c.size / 2
	}
	pairs := d.pairs()
	take := func(each int) {
		for _, b := range pairs {
			hi, lo := bestOf(d, b)
			set = c.take(d, set, b[0], +1, lo, each)
			set = c.take(d, set, b[1], -1, -hi, each)
		}
	}
	take(fresh / 2 / len(pairs))
	for _, free := range []bool{true, false} {
		for _, t := range c.last {
			if len(set) < c.size && !c.picked[t] && free == d.free(t) {
				c.picked[t] = true
				set = append(set, t)
			}
		}
	}
	if rest := c.size - len(set); rest >= 2*len(pairs) && len(c.last) > 0 {
		take(rest / 2 / len(pairs))
	}
	for _, t := range set {
		c.picked[t] = false
	}
	slices.Sort(set)
	c.last = append(c.last[:0], set...)
	return set
}

// free says whether a variable is off its bounds.
func (d *dual) free(t int32) bool { return d.alpha[t] > 0 && d.alpha[t] < d.upper[t] }

// bestOf returns the greatest score that may move up and the least that may move down.
func bestOf(d *dual, b [2]byte) (hi, lo float64) {
	_, hi = argMax(d.score, d.mask, b[0])
	_, lo = argMin(d.score, d.mask, b[1])
	return hi, lo
}

// take appends the variables with the greatest way·score above a threshold, as many as each says, that have the bit and aren't picked yet.
func (c *chooser) take(d *dual, set []int32, bit byte, way, above float64, each int) []int32 {
	pool := c.pool[:0]
	for t, m := range d.mask {
		if m&bit != 0 {
			if s := way * d.score[t]; s > above && !c.picked[t] {
				pool = append(pool, candidate{s, int32(t)})
			}
		}
	}
	c.pool = pool
	if len(pool) > each {
		partition(pool, each)
		pool = pool[:each]
	}
	for _, p := range pool {
		c.picked[p.at] = true
		set = append(set, p.at)
	}
	return set
}

// partition moves the k first of the candidates, in their order, to the front. Expected time is linear; the pivot is the median of three, so that nothing is
// left to chance.
func partition(p []candidate, k int) {
	for len(p) > 12 && k > 0 && k < len(p) {
		a, b, c := p[0], p[len(p)/2], p[len(p)-1]
		if b.before(a) {
			a, b = b, a
		}
		if c.before(b) {
			b = c
			if b.before(a) {
				b = a
			}
		}
		i, j := 0, len(p)-1
		for i <= j {
			for p[i].before(b) {
				i++
			}
			for b.before(p[j]) {
				j--
			}
			if i <= j {
				p[i], p[j] = p[j], p[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			p = p[:j+1]
		case k >= i:
			p, k = p[i:], k-i
		default:
			return
		}
	}
	slices.SortFunc(p, func(a, b candidate) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
}
