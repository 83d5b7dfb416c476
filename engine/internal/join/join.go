// Package join finds the pairs of documents within a bound on c = 1 - cosine without looking at most of
// the others, and without missing one.
//
// Documents with the same terms and values are taken together: what holds for one holds for its copies.
// Columns are numbered from the rarest to the most frequent one. Let u be a document's unit vector, and N(t)
// its squared length from column t on. If t is the first column that documents x and y share, their
// cosine is at most √(Nₓ(t) N_y(t)), by Cauchy and Schwarz. So of a pair with a cosine of at least τ > 0
//
//	Nₓ(t) N_y(t) >= τ²,
//
// and t lies where N(t) >= τ² in both: before a cut, behind which nothing is looked at. Each column has a
// list of the documents that have it before their cut, by falling N: two entries whose product is τ² or
// more are a match. A match goes on to the next test unless one of these says no:
//
//   - what one has and the other doesn't. ‖x - y‖² = 2c is at least the squares of what is in x alone and
//     in y alone. A sketch has a bit for each of some columns; a bit of x that y doesn't have stands for
//     a value of x, at least, that is in x alone.
//   - this column isn't their first one: the pair is a match there.
//   - the cosine up to the first cut of the two, and √NN of what is left of both behind it, is below τ.
//
// What is left is checked by the caller. Histograms have u = √θ: both of their similarities are at most
// Σ√(θθ′), since 2ab/(a+b) <= √(ab), and with a = e^x and b = e^-x
// cosh x ln(2 cosh x) - x sinh x <= ln 2, whose derivative is at most 0 for x >= 0.
//
// Rounding: values are float32, so a value of u errs by less than 2⁻²³ of itself, a sum of squares of u by
// less than 2⁻²², as does one of products, and float64 sums add far less. margin is twice that, and is
// added to all that must not be too small.
//
// Sources: Bayardo, Ma and Srikant, WWW 2007 (the cut); Anastasiu and Karypis, L2AP, ICDE 2014 (lengths of
// what is left); Sandes, Teodoro and Melo, arXiv:1711.07295 (sketches).
package join

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

const margin = 0x1p-21

// Join is the search for pairs of documents of two sets, or of one.
type Join struct {
	rows, cols *side // the same for pairs of one set
	tau        float64
	most       float64 // of c
	workers    int
	rank       []uint32 // of each column, rare ones first
	frequency  []int32  // by rank: documents of the columns that have it, copies aside
	rarest     int32    // least frequency of a column with a list: 2, unless others ask (Query)
	sampled    uint32   // a column is in sketches where its hash is below
	stripes    [][2]int // of ranks, whose lists are made at a time
	lists      *lists   // of the only stripe

	Counts Counts
}

// Counts says what there is to do.
type Counts struct {
	Distinct int     // documents, copies aside
	Values   int64   // of these
	Before   int64   // of these values, before the cut
	Matches  int64   // pairs of entries of a list whose lengths allow c
	Sketched float64 // of matches, those that sketches leave, by a sample
	Steps    float64 // of a match, in merging what is before the cut of both, by a sample
	Checked  float64 // of matches, those that nothing rules out, by a sample
}

// ErrFar says that the bound is so far that no column can be left out.
var ErrFar = errors.New("join: a bound that leaves nothing out")

// New prepares the search for pairs of x and y within a bound on c, nil for pairs of documents of x alone: copies
// and ranks. Both are of one embedder, and valid.
func New(ctx context.Context, x, y *sparse.Embedded, bound float64, workers int) (*Join, error) {
	j := &Join{tau: 1 - bound, most: bound, workers: max(workers, 1), rarest: 2}
	if !(j.tau > 0) {
		return nil, ErrFar
	}
	var err error
	if j.rows, err = newSide(ctx, x, j.workers); err != nil {
		return nil, err
	}
	j.cols = j.rows
	if y != nil {
		if j.cols, err = newSide(ctx, y, j.workers); err != nil {
			return nil, err
		}
	}
	j.Counts.Distinct = len(j.rows.distinct)
	if y != nil {
		j.Counts.Distinct += len(j.cols.distinct)
	}
	df := make([]int32, x.Cols)
	for _, s := range j.sides() {
		for _, d := range s.distinct {
			terms, _ := s.x.Row(int(d))
			for _, t := range terms {
				df[t]++
			}
			j.Counts.Values += int64(len(terms))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	order := sparse.Order(df)
	slices.Reverse(order)
	j.rank = sparse.Ranks(order)
	j.frequency = make([]int32, len(order))
	for r, column := range order {
		j.frequency[r] = df[column]
	}
	// Half of the bits set tell most.
	share := sketchBits * math.Ln2 * float64(max(j.Counts.Distinct, 1)) / float64(max(j.Counts.Values, 1))
	j.sampled = uint32(min(share, 1) * math.MaxUint32)
	return j, nil
}

func (j *Join) sides() []*side {
	if j.rows == j.cols {
		return []*side{j.rows}
	}
	return []*side{j.rows, j.cols}
}

// Copies returns the documents of a row's class, itself among them, ascending; OfColumn those of a column.
func (j *Join) Copies(i int) []uint32   { return j.rows.copies(uint32(i)) }
func (j *Join) OfColumn(i int) []uint32 { return j.cols.copies(uint32(i)) }

// EachCopied calls visit for each document of the rows that has copies, with all of them, itself first.
func (j *Join) EachCopied(visit func(copies []uint32) error) error {
	for _, d := range j.rows.distinct {
		if c := j.rows.copies(d); len(c) > 1 {
			if err := visit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForQueries has columns of one document have lists, too, before Build.
func (j *Join) ForQueries() { j.rarest = 1 }

// sampleDocs is how many documents tell what all of them would cost.
const sampleDocs = 500

// Estimate returns about what Build will count, from the pairs of a sample of the documents.
func (j *Join) Estimate(ctx context.Context) (Counts, error) {
	part, scale := *j, [2]float64{1, 1}
	of := func(s *side, at int) *side {
		step := max(len(s.distinct)/sampleDocs, 1)
		some := &side{x: s.x}
		for k := 0; k < len(s.distinct); k += step {
			some.distinct = append(some.distinct, s.distinct[k])
		}
		scale[at] = float64(len(s.distinct)) / float64(max(len(some.distinct), 1))
		return some
	}
	part.rows = of(j.rows, 0)
	if part.cols, scale[1] = part.rows, scale[0]; j.rows != j.cols {
		part.cols = of(j.cols, 1)
	}
	if err := part.Build(ctx, math.MaxInt64); err != nil {
		return Counts{}, err
	}
	c := part.Counts
	c.Before = int64(float64(c.Before) * (scale[0] + scale[1]) / 2)
	c.Matches = int64(float64(c.Matches) * scale[0] * scale[1])
	return c, nil
}

// Bytes bounds the memory of a search that has so many values before the cut: what stays, and all lists at once.
func (j *Join) Bytes(before int64) (forward, lists int64) {
	documents, sides := 0, j.sides()
	for _, s := range sides {
		documents += len(s.class)
	}
	columns := int64(len(j.rank))
	// Of a document its class, copies, hash and places in the table, of a distinct one its sketch and offset.
	forward = 8*before + 64*int64(documents) + 56*int64(j.Counts.Distinct) + 16*columns
	return forward, 8*before + 24*columns*int64(len(sides))
}

// Build cuts all documents, and counts matches. Lists take up to so many bytes at a time.
func (j *Join) Build(ctx context.Context, listBytes int64) error {
	count := make([]int64, len(j.rank)) // by rank, of what is before the cut
	for _, s := range j.sides() {
		if err := j.cutAll(ctx, s); err != nil {
			return err
		}
		for _, p := range s.parts {
			for _, r := range p.ranks {
				count[r]++
			}
			j.Counts.Before += int64(len(p.ranks))
		}
	}
	first, bytes := 0, int64(0)
	for r, n := range count {
		if bytes += 8 * n; bytes > listBytes && r > first {
			j.stripes = append(j.stripes, [2]int{first, r})
			first, bytes = r, 8*n
		}
	}
	j.stripes = append(j.stripes, [2]int{first, len(count)})
	var sample [4]float64 // matches, after sketches, steps of merges, to be checked
	err := j.eachStripe(ctx, func(l *lists) error {
		matches := l.divide()
		j.Counts.Matches += matches
		// Every so many-th row of lists.
		step, nth := int(matches>>14)+1, 0
		w := &worker{j: j, check: func(int, int, int) error { return nil }}
		for r := range l.ranks() {
			for i := range l.of[0].list(r) {
				if nth++; nth%step == 0 {
					w.matched, w.sketched, w.steps, w.checked = 0, 0, 0, 0
					if err := w.row(l, r, i, i+1); err != nil {
						return err
					}
					sample[0] += float64(w.matched)
					sample[1] += float64(w.sketched)
					sample[2] += float64(w.steps)
					sample[3] += float64(w.checked)
				}
			}
		}
		return nil
	})
	if sample[0] > 0 {
		j.Counts.Sketched, j.Counts.Steps, j.Counts.Checked = sample[1]/sample[0], sample[2]/sample[0], sample[3]/sample[0]
	}
	return err
}

// Run calls check for all pairs that may be within the bound, from up to as many goroutines as New was
// given: w tells these apart. A document stands for its copies, of which it is the first, and no pair
// comes twice. Of one set i differs from j. done counts matches. It returns within a second of the end of
// ctx.
func (j *Join) Run(ctx context.Context, done func(matches int64), check func(w, i, k int) error) error {
	return j.eachStripe(ctx, func(l *lists) error {
		l.divide()
		scratch := make([]worker, j.workers)
		return run.Tasks(ctx, j.workers, len(l.spans)-1, func(ctx context.Context, id, task int) error {
			w := &scratch[id]
			if w.j == nil {
				*w = worker{j: j, id: id, check: check}
			}
			before := w.matched
			from, to := l.spans[task], l.spans[task+1]
			for r := from.rank; r <= min(to.rank, l.ranks()-1); r++ {
				first, end := 0, len(l.of[0].list(r))
				if r == from.rank {
					first = from.row
				}
				if r == to.rank {
					end = to.row
				}
				if first < end {
					w.ctx = ctx
					if err := w.row(l, r, first, end); err != nil {
						return err
					}
				}
			}
			done(w.matched - before)
			return nil
		})
	})
}

// eachStripe makes the lists of each stripe.
func (j *Join) eachStripe(ctx context.Context, visit func(l *lists) error) error {
	for _, s := range j.stripes {
		l := j.lists
		if l == nil {
			var err error
			if l, err = j.newLists(ctx, s[0], s[1]); err != nil {
				return err
			}
			if len(j.stripes) == 1 {
				j.lists = l
			}
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}
