package join

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// lists are the posting lists for a stripe of ranks.
type lists struct {
	j          *Join
	first      int
	postings   [2]*postings // posting lists of rows and of columns; the same for a single set
	taskStarts []taskStart  // start of each task, and end of the last task
}

type taskStart struct{ rank, row int }

func (l *lists) rankCount() int { return len(l.postings[0].offsets) - 1 }

// postings stores list r in entries[offsets[r]:offsets[r+1]].
type postings struct {
	offsets []int64
	entries []entry
}

func (p *postings) list(r int) []entry { return p.entries[p.offsets[r]:p.offsets[r+1]] }

// entry packs N (see the package documentation) and the document's index, so that entries ascend as
// N descends.
type entry uint64

func newEntry(length float64, k int) entry {
	up := float32(length) * (1 + 0x1p-22) // rounded up by at least 2⁻²³, because of two roundings of up to 2⁻²⁴
	return entry(^math.Float32bits(up))<<32 | entry(uint32(k))
}

func (e entry) length() float32 { return math.Float32frombits(^uint32(e >> 32)) }

// minProduct returns the minimum product of the N of the two documents of a match. It allows for
// rounding errors of 2⁻²⁴ of the minimum and of the product. Underflow doesn't matter, because N
// includes a margin.
func (j *Join) minProduct() float32 { return float32(j.tau * j.tau * (1 - 0x1p-23)) }

// maxSquaredDifference returns the maximum squared difference of a match, 2c <= 2, as computed by
// sketch.provesFar. It allows for 3.5 margins, rounded up to 4: 1 for squares of values, 1 for 2c,
// and 1.5 for 6 roundings of 2⁻²³ each.
func (j *Join) maxSquaredDifference() float32 { return float32(2*j.bound + 4*margin) }

func (j *Join) newLists(ctx context.Context, first, end int) (*lists, error) {
	l := &lists{j: j, first: first}
	for at, s := range j.docSets() {
		p := &postings{offsets: make([]int64, end-first+1)}
		l.postings[at], l.postings[1] = p, p
		for _, part := range s.prefixes {
			for _, r := range part.ranks {
				if int(r) >= first && int(r) < end && j.frequency[r] >= j.minFrequency {
					p.offsets[int(r)-first+1]++
				}
			}
		}
		for r := range end - first {
			p.offsets[r+1] += p.offsets[r]
		}
		next := slices.Clone(p.offsets)
		p.entries = make([]entry, p.offsets[end-first])
		for at, part := range s.prefixes {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			for d := range part.docs() {
				length := 1 + margin
				ranks, values := part.row(d)
				for i, r := range ranks {
					if int(r) >= first && int(r) < end && j.frequency[r] >= j.minFrequency {
						p.entries[next[int(r)-first]] = newEntry(length, at*prefixBlockDocs+d)
						next[int(r)-first]++
					}
					length -= float64(values[i]) * float64(values[i])
				}
			}
		}
		const some = 1 << 10
		err := run.Tasks(ctx, j.workers, (end-first+some-1)/some, func(_ context.Context, _, task int) error {
			for r := task * some; r < min((task+1)*some, end-first); r++ {
				slices.Sort(p.list(r))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// divideTasks counts matches, and divides rows of lists into tasks with similar match counts.
func (l *lists) divideTasks() (matches int64) {
	const most = 1 << 20
	least, self := l.j.minProduct(), l.postings[0] == l.postings[1]
	l.taskStarts = append(l.taskStarts[:0], taskStart{})
	var since int64
	for r := range l.rankCount() {
		a, b := l.postings[0].list(r), l.postings[1].list(r)
		end, task := len(b), max(most, 16*int64(len(b)))
		for i, e := range a {
			for end > 0 && !(e.length()*b[end-1].length() >= least) {
				end--
			}
			n := int64(end)
			if self {
				n = max(n-int64(i)-1, 0)
			}
			matches += n
			if since += n; since >= task {
				l.taskStarts = append(l.taskStarts, taskStart{r, i + 1})
				since = 0
			}
		}
	}
	l.taskStarts = append(l.taskStarts, taskStart{l.rankCount(), 0})
	return matches
}

type worker struct {
	j                          *Join
	id                         int
	ctx                        context.Context
	check                      func(w, i, k int) error
	a, b                       []candidate
	matched, sketched, checked int64
	steps                      int64 // number of merge steps; see Counts.StepsPerMatch
}

type candidate struct {
	k      uint32
	length float32
	sketch
}

func gather(to []candidate, s *docSet, list []entry) []candidate {
	to = to[:0]
	for _, e := range list {
		to = append(to, candidate{uint32(e), e.length(), s.sketches[uint32(e)]})
	}
	return to
}

// compareRows compares entries first <= i < end of the rows' list r with the entries of the
// columns' list r.
func (w *worker) compareRows(l *lists, r, first, end int) error {
	j, self := w.j, l.postings[0] == l.postings[1]
	if n := len(l.postings[1].list(r)); n == 0 || self && n < 2 {
		return nil
	}
	least, limit := j.minProduct(), j.maxSquaredDifference()
	w.b = gather(w.b, j.cols, l.postings[1].list(r))
	var a []candidate
	if self {
		a = w.b[first:end]
	} else {
		w.a = gather(w.a, j.rows, l.postings[0].list(r)[first:end])
		a = w.a
	}
	for i := range a {
		x, others := &a[i], w.b
		if self {
			others = others[first+i+1:]
		}
		if w.ctx != nil && i%64 == 63 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		n := len(others)
		for at := range others {
			y := &others[at]
			if !(x.length*y.length >= least) {
				n = at
				break
			}
			if x.provesFar(&y.sketch, limit) {
				continue
			}
			w.sketched++
			if !w.mayMatch(x.k, y.k, uint32(l.first+r)) {
				continue
			}
			w.checked++
			if err := w.check(w.id, int(j.rows.distinct[x.k]), int(j.cols.distinct[y.k])); err != nil {
				return err
			}
		}
		w.matched += int64(n)
	}
	return nil
}

// Query calls visit once for each distinct document whose c to document i of x may be within the
// bound. The join must be of a single set, and Build must have made all lists in one stripe. bound
// must be at most the bound passed to New. x must have the embedder of the join's documents. Query
// may be called concurrently.
func (j *Join) Query(x *sparse.Embedded, i int, bound float64, visit func(doc int)) {
	one := &docSet{x: x, distinct: []uint32{uint32(i)}}
	q := *j
	q.rows, q.tau, q.bound = one, 1-bound, bound
	var scratch prefixFinder
	scratch.find(&q, one, 0)
	one.prefixes = []prefixBlock{{[]uint32{0, uint32(len(scratch.ranks))}, scratch.ranks, scratch.values}}
	mine := scratch.sketch(&q, one, 0)
	w := worker{j: &q}
	least, limit, length := q.minProduct(), q.maxSquaredDifference(), 1+margin
	for at, r := range scratch.ranks {
		near := newEntry(length, 0).length()
		length -= float64(scratch.values[at]) * float64(scratch.values[at])
		for _, e := range j.lists.postings[0].list(int(r)) {
			if !(near*e.length() >= least) {
				break
			}
			if !mine.provesFar(&j.cols.sketches[uint32(e)], limit) && w.mayMatch(0, uint32(e), r) {
				visit(int(j.cols.distinct[uint32(e)]))
			}
		}
	}
}

// mayMatch reports whether r is the first rank that two documents share, and whether the values up
// to the end of the shorter prefix allow a pair within the bound. The upper bound on the cosine is
// the dot product so far plus the product of the remaining norms. It decreases during the merge.
func (w *worker) mayMatch(k, m, r uint32) bool {
	j := w.j
	ranks, values := j.rows.row(k)
	others, theirs := j.cols.row(m)
	theirs, values = theirs[:len(others)], values[:len(ranks)]
	missing := j.tau - margin         // minimum cosine minus the dot product so far
	left, right := 1+margin, 1+margin // N of the remaining values
	met := false
	p, q := 0, 0
	for p < len(ranks) && q < len(others) && (missing <= 0 || left*right >= missing*missing) {
		switch s, t := ranks[p], others[q]; {
		case s == t:
			if !met && s != r {
				w.steps += int64(p + q)
				return false
			}
			met = true
			a, b := float64(values[p]), float64(theirs[q])
			missing -= a * b
			left -= a * a
			right -= b * b
			p++
			q++
		case s < t:
			a := float64(values[p])
			left -= a * a
			p++
		default:
			b := float64(theirs[q])
			right -= b * b
			q++
		}
	}
	w.steps += int64(p + q)
	return missing <= 0 || max(left, 0)*max(right, 0) >= missing*missing
}
