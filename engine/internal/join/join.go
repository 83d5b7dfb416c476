// Package join finds all pairs of documents within a bound on c = 1 - cosine without comparing most
// pairs.
//
// Identical documents are compared once. Columns are ranked from the rarest to the most frequent.
// Let u be a document's unit vector, and N(t) the squared norm of its values from column t on. If t
// is the first column that documents x and y share, their cosine is at most √(Nₓ(t) N_y(t)) by the
// Cauchy-Schwarz inequality. So a pair with a cosine of at least τ > 0 satisfies
//
//	Nₓ(t) N_y(t) >= τ²,
//
// and N(t) >= τ² in both documents. The values with N(t) >= τ² form the document's prefix. Only
// prefixes are indexed. The list of a column holds the documents with this column in the prefix, in
// descending order of N. Two entries of a list are a match if the product of their N is at least
// τ². A match is rejected if one of these tests fails:
//
//   - Difference: ‖x - y‖² = 2c is at least the sum of squares of values in only one of x and y.
//     Sketches, with a bit per sampled column, give a lower bound of this sum.
//   - First column: the pair is a match only in its first shared column.
//   - Length: the cosine up to the end of the shorter prefix, plus √(Nₓ N_y) for later columns, is
//     at least τ.
//
// The caller checks the remaining pairs.
//
// Histograms have u = √θ. Their χ² and Jensen-Shannon similarities are at most Σ√(θθ′). The reason
// for χ² is 2ab/(a+b) <= √(ab). The summand of Jensen-Shannon is homogeneous, so let a = e^x and b
// = e^-x with √(ab) = 1. The summand (cosh x ln(2 cosh x) - x sinh x) / ln 2 is 1 at x = 0,
// symmetric, and doesn't increase for x >= 0.
//
// Rounding: values are float32. The relative error is below 2⁻²³ for a value of u, and below 2⁻²²
// for a sum of squares or products; errors of float64 sums are negligible. margin is twice the
// larger error. All upper bounds are increased by margin.
//
// Sources: Bayardo, Ma and Srikant, WWW 2007 (prefixes); Anastasiu and Karypis, L2AP, ICDE 2014
// (lengths); Sandes, Teodoro and Melo, arXiv:1711.07295 (sketches).
package join

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

const margin = 0x1p-21

// Join finds pairs of documents of two sets, or of a single set.
type Join struct {
	rows, cols      *docSet // documents of rows and columns; the same pointer for a single set
	tau             float64
	bound           float64 // bound on c
	workers         int
	rank            []uint32 // rank of each column, rare columns first
	frequency       []int32  // per rank: number of distinct documents that have the column
	minFrequency    int32    // minimum frequency of an indexed column: 2, or 1 after EnableQueries
	sketchHashLimit uint32   // a column is in sketches if its hash is at most sketchHashLimit
	stripes         [][2]int // ranges of ranks whose lists are in memory at the same time
	lists           *lists   // posting lists, if there is only one stripe; else nil

	Counts Counts
}

// Counts describes the work of a join.
type Counts struct {
	DistinctDocuments int     // number of distinct documents
	Values            int64   // number of values of distinct documents
	PrefixValues      int64   // number of values in prefixes
	Matches           int64   // number of matches (see the package comment)
	SketchPassRate    float64 // fraction of matches that pass the sketches, estimated from a sample
	StepsPerMatch     float64 // mean number of merge steps per match, estimated from a sample
	CheckRate         float64 // fraction of matches that must be checked, estimated from a sample
}

// ErrBoundTooLarge reports that the bound is too large to skip any column.
var ErrBoundTooLarge = errors.New("join: the bound is too large to skip any column")

// New returns a Join for pairs of x and y within a bound on c. y is nil for pairs of documents of
// x. New finds copies and ranks columns. Both sets must be valid and have the same embedder.
func New(ctx context.Context, x, y *sparse.Embedded, bound float64, workers int) (*Join, error) {
	j := &Join{tau: 1 - bound, bound: bound, workers: max(workers, 1), minFrequency: 2}
	if !(j.tau > 0) {
		return nil, ErrBoundTooLarge
	}
	var err error
	if j.rows, err = newDocSet(ctx, x, j.workers); err != nil {
		return nil, err
	}
	j.cols = j.rows
	if y != nil {
		if j.cols, err = newDocSet(ctx, y, j.workers); err != nil {
			return nil, err
		}
	}
	j.Counts.DistinctDocuments = len(j.rows.distinct)
	if y != nil {
		j.Counts.DistinctDocuments += len(j.cols.distinct)
	}
	df := make([]int32, x.Cols)
	for _, s := range j.docSets() {
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
	order := device.ColumnsByFrequency(df)
	slices.Reverse(order)
	j.rank = device.InversePermutation(order)
	j.frequency = make([]int32, len(order))
	for r, column := range order {
		j.frequency[r] = df[column]
	}
	// Sketches reject the largest number of matches if half of the bits are set.
	share := sketchBits * math.Ln2 * float64(max(j.Counts.DistinctDocuments, 1)) / float64(max(j.Counts.Values, 1))
	j.sketchHashLimit = uint32(min(share, 1) * math.MaxUint32)
	return j, nil
}

func (j *Join) docSets() []*docSet {
	if j.rows == j.cols {
		return []*docSet{j.rows}
	}
	return []*docSet{j.rows, j.cols}
}

// RowCopies returns all documents identical to row i, including i, in ascending order. ColumnCopies
// returns the same for a column document.
func (j *Join) RowCopies(i int) []uint32    { return j.rows.copies(uint32(i)) }
func (j *Join) ColumnCopies(i int) []uint32 { return j.cols.copies(uint32(i)) }

// EachCopyGroup calls visit for each distinct row document that has copies, with a list of the
// document and its copies.
func (j *Join) EachCopyGroup(visit func(copies []uint32) error) error {
	for _, d := range j.rows.distinct {
		if c := j.rows.copies(d); len(c) > 1 {
			if err := visit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// EnableQueries makes Build index even columns that occur in only one document. Call it before
// Build.
func (j *Join) EnableQueries() { j.minFrequency = 1 }

const sampleDocs = 500

// Estimate estimates the Counts that Build would find, from the pairs of a sample of documents.
func (j *Join) Estimate(ctx context.Context) (Counts, error) {
	part, scale := *j, [2]float64{1, 1}
	of := func(s *docSet, at int) *docSet {
		step := max(len(s.distinct)/sampleDocs, 1)
		some := &docSet{x: s.x}
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
	c.PrefixValues = int64(float64(c.PrefixValues) * (scale[0] + scale[1]) / 2)
	c.Matches = int64(float64(c.Matches) * scale[0] * scale[1])
	return c, nil
}

// Bytes returns upper bounds in bytes on the size of permanent data (forward) and of all posting
// lists (lists). before is the number of values in prefixes.
func (j *Join) Bytes(before int64) (forward, lists int64) {
	documents, sides := 0, j.docSets()
	for _, s := range sides {
		documents += len(s.class)
	}
	columns := int64(len(j.rank))
	// Per document: class, copies, hash and table entries. Per distinct document: sketch and
	// offset.
	forward = 8*before + 64*int64(documents) + 56*int64(j.Counts.DistinctDocuments) + 16*columns
	return forward, 8*before + 24*columns*int64(len(sides))
}

// Build finds each document's prefix and counts matches. Posting lists take up to listBytes bytes.
func (j *Join) Build(ctx context.Context, listBytes int64) error {
	count := make([]int64, len(j.rank)) // per rank: number of values in prefixes
	for _, s := range j.docSets() {
		if err := j.findPrefixes(ctx, s); err != nil {
			return err
		}
		for _, p := range s.prefixes {
			for _, r := range p.ranks {
				count[r]++
			}
			j.Counts.PrefixValues += int64(len(p.ranks))
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
	var sample [4]float64 // matches, matches that pass sketches, merge steps, pairs to check
	err := j.eachStripe(ctx, func(l *lists) error {
		matches := l.divideTasks()
		j.Counts.Matches += matches
		// Sample every step-th row of the lists.
		step, nth := int(matches>>14)+1, 0
		w := &worker{j: j, check: func(int, int, int) error { return nil }}
		for r := range l.rankCount() {
			for i := range l.postings[0].list(r) {
				if nth++; nth%step == 0 {
					w.matched, w.sketched, w.steps, w.checked = 0, 0, 0, 0
					if err := w.compareRows(l, r, i, i+1); err != nil {
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
		j.Counts.SketchPassRate, j.Counts.StepsPerMatch, j.Counts.CheckRate = sample[1]/sample[0], sample[2]/sample[0],
			sample[3]/sample[0]
	}
	return err
}

// Run calls check once for each pair of row document i and column document k that may be within the
// bound, concurrently from up to workers goroutines. w is the goroutine's index. Each document also
// represents its copies. In a self-join i and k differ. After each task, Run calls done with the
// task's number of matches. Run returns within a second after ctx is done.
func (j *Join) Run(ctx context.Context, done func(matches int64), check func(w, i, k int) error) error {
	return j.eachStripe(ctx, func(l *lists) error {
		l.divideTasks()
		scratch := make([]worker, j.workers)
		return run.Tasks(ctx, j.workers, len(l.taskStarts)-1, func(ctx context.Context, id, task int) error {
			w := &scratch[id]
			if w.j == nil {
				*w = worker{j: j, id: id, check: check}
			}
			before := w.matched
			from, to := l.taskStarts[task], l.taskStarts[task+1]
			for r := from.rank; r <= min(to.rank, l.rankCount()-1); r++ {
				first, end := 0, len(l.postings[0].list(r))
				if r == from.rank {
					first = from.row
				}
				if r == to.rank {
					end = to.row
				}
				if first < end {
					w.ctx = ctx
					if err := w.compareRows(l, r, first, end); err != nil {
						return err
					}
				}
			}
			done(w.matched - before)
			return nil
		})
	})
}

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
