package panel

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// A segment of the head is a block of the sum: each costs every document an addition to memory, and the more values
// a segment has, the more roundings a product passes through. Let a and b be two documents, product j of their common
// terms a_j·b_j, and m_j the sums that it enters: those of the values of its segment that are added after it, itself
// included, and those of the segments from its own on; of the tail, which comes first, those of all segments. With
// u = 2⁻²⁴ a sum s is rounded by u·|s| at most, so that all together err by
//
//	u·Σ |a_j b_j| m_j  <=  u·√(Σ a_j² m_j)·√(Σ b_j² m_j)
//
// by the Cauchy-Schwarz inequality, where only common terms count, and with all of the document's own this is u·E, E
// the greatest Σ a_j² m_j of all documents. Where products are equal, as text with its many single words has them,
// half of that is reached: of the sums between two powers of two all round to one side, those between the two powers
// below then by nothing. (For if p is half an ulp off the ulps in the upper half, it is a multiple of those in the
// lower one.) A head has as few segments as keep E within pairing.roundings.
//
// What else there is, at most 16u: 2u·s of the values' own roundings, u in 1-s; in the tail 3u·s of scaling and
// product, 2u·s of making float32, and 8u of longTail whole numbers. Without fused multiply-adds a product of the head
// has u·s. The terms of histograms, whose m_j weigh a_j since √(a_j b_j) bounds a term, carry roundings of their own:
// 4u for χ², 8u for Jensen-Shannon. All is within device.ErrorC, 44u.
const (
	roundingsDot           = 28
	roundingsChiSquare     = 20
	roundingsJensenShannon = 12
)

// usuallyInSegment is how many values the cost model gives the mean document in a segment.
const usuallyInSegment = 20

// A Head is a possible choice of the terms that the dense panels hold, with what the cost model
// says of it.
type Head struct {
	Roles     Roles         // DenseRows or DenseColumns
	Terms     int           // number of terms, the most frequent ones
	Segments  int           // pieces that they are cut into, as the model expects
	Predicted time.Duration // time for all dot products of the symmetric half on one core
}

// planHead predicts what the dot products cost for heads of 16 terms, and 1.25 times as many, and so on, of segments
// of the usual size.
//
// With n documents, panels of R, and document frequencies f in falling order, of which the first H
// are in the head,
//
//	head = n/R · (Σ_{r<H} f_r · HeadValue + Σ_{r far} f_r · HeadFar + n·segments · HeadDocument + n · TailDocument)
//	tail = Σ_{r≥H} f_r² · TailMatch + Σ_{r≥H} f_r · n/TailDocs · TailList
//
// where those ranks are far that lie behind what half of the first-level cache holds of their
// segment; and where the dense panel outgrows the second-level cache, it is read once more from the
// third for every block of documents. Where the columns are dense, of one segment, it is
//
//	head = n/R · (Σ_{r<H} f_r · HeadValue + n · RowDocument + 4 n·H · L3Byte)
//
// The symmetric half takes half of it. A most > 0 limits the terms.
func planHead(k *asm.Kernels, pair pairing, byRank *sparse.CSR, most int, roles Roles) (heads []Head) {
	n, width := float64(byRank.Cols), float64(k.Panel)
	caches := asm.UsedCaches()
	limit := byRank.Rows()
	if most > 0 {
		limit = min(limit, most)
	}
	frequency := func(r int) float64 { return float64(byRank.Offsets[r+1] - byRank.Offsets[r]) }
	var rest, matches float64 // of the tail
	for r := range byRank.Rows() {
		rest += frequency(r)
		matches += frequency(r) * frequency(r)
	}
	add := func(terms, segments int, values, far float64) {
		tail := matches*pair.cost.TailMatch + rest*max(n/TailDocs, 1)*pair.cost.TailList
		cost := tail + n/width*(values*pair.cost.HeadValue+far*pair.cost.HeadFar+
			n*float64(segments)*pair.cost.HeadDocument+n*pair.cost.TailDocument)
		if panel := 4 * width * float64(terms); panel > float64(caches.L2)/2 {
			cost += n / width * n / blockDocs * panel * pair.cost.L3Byte
		}
		h := Head{DenseRows, terms, segments, time.Duration(cost / 2)}
		cost = tail + n/width*(values*pair.cost.HeadValue+n*pair.cost.RowDocument+4*n*float64(terms)*pair.cost.L3Byte)
		swapped := time.Duration(cost / 2)
		can := segments == 1 && terms > 0 && pair.last != nil && sparse.Block%k.Panel == 0
		if can && (roles == DenseColumns || roles == ByCost && swapped < h.Predicted) {
			h.Roles, h.Predicted = DenseColumns, swapped
		}
		heads = append(heads, h)
	}
	add(0, 0, 0, 0)

	near := caches.L1 / 2 / (4 * k.Panel) // terms of a segment that stay in the first-level cache
	var values, far, mean float64         // of the head, beyond near, and of the segment in the mean document
	next, first, segments := 16.0, 0, 1
	for r := range limit {
		f := frequency(r)
		if mean += f / n; mean > usuallyInSegment || (r+1-first)*k.Panel > 1<<16 {
			mean, first, segments = f/n, r, segments+1
		}
		values += f
		rest -= f
		matches -= f * f
		if r-first >= near {
			far += f
		}
		if float64(r+1) >= next || r+1 == limit {
			next *= 1.25
			add(r+1, segments, values, far)
			if last := heads[len(heads)-1]; most == 0 && last.Predicted > 2*best(heads).Predicted {
				break // far beyond the best choice
			}
		}
	}
	return heads
}

// cut cuts a head of so many terms into segments, as few as keep the roundings within what the pairing has to spare,
// else those with the fewest roundings. The last bound is the head's end.
func (pair pairing) cut(ctx context.Context, k *asm.Kernels, byRank *sparse.CSR, terms int) (bounds []int) {
	least := math.Inf(1)
	try := func(limit float64) (sums float64) {
		some := pair.segments(byRank, terms, limit, 1<<16/k.Panel)
		if sums = pair.sums(byRank, some); sums < least || sums <= pair.roundings {
			least, bounds = sums, some
		}
		return sums
	}
	limit := 16.0
	for try(limit) > pair.roundings && limit > minLimit && ctx.Err() == nil {
		limit /= 2
	}
	if ctx.Err() == nil {
		try(limit * math.Sqrt2) // taken if that is enough, too
	}
	return bounds
}

// minLimit ends the search for documents of many thousand values.
const minLimit = 0x1p-8

// segments cuts the terms where the sum over a segment of a document would be above the limit, or where there are most.
func (pair pairing) segments(byRank *sparse.CSR, terms int, limit float64, most int) []int {
	bounds := []int{0}
	sum, count := make([]float64, byRank.Cols), make([]float64, byRank.Cols)
	for r := range terms {
		docs, values := byRank.Row(r)
		above := false
		for i, d := range docs {
			above = above || sum[d]+pair.square(values[i])*(count[d]+1) > limit
		}
		if first := bounds[len(bounds)-1]; r > first && (above || r-first >= most) {
			bounds = append(bounds, r)
			clear(sum)
			clear(count)
		}
		for i, d := range docs {
			count[d]++
			sum[d] += pair.square(values[i]) * count[d]
		}
	}
	return append(bounds, terms)
}

// square is a_j² of unit rows, and the value itself of histograms.
func (pair pairing) square(v float32) float64 {
	if pair.terms == nil {
		return float64(v) * float64(v)
	}
	return float64(v)
}

// sums returns the greatest E of all documents. The sum of the tail passes through the additions of the segments, or of
// their groups.
func (pair pairing) sums(byRank *sparse.CSR, bounds []int) (most float64) {
	sum, count := make([]float64, byRank.Cols), make([]float64, byRank.Cols)
	segments := len(bounds) - 1
	size := groupSize(segments)
	add := func(first, end int, after, counted float64) {
		clear(count)
		for r := first; r < end; r++ {
			docs, values := byRank.Row(r)
			for i, d := range docs {
				count[d] += counted
				sum[d] += pair.square(values[i]) * (count[d] + after)
				most = max(most, sum[d])
			}
		}
	}
	for s := range segments {
		add(bounds[s], bounds[s+1], float64(additions(s, segments)), 1)
	}
	add(bounds[segments], byRank.Rows(), float64((segments+size-1)/size), 0)
	return most
}

// additions returns how many additions of panel.head the sum of segment s of n passes through.
func additions(s, n int) (count int) {
	for {
		size := groupSize(n)
		count += s/size + 1
		if size == 1 {
			return count
		}
		n = min(size, n-s/size*size)
		s %= size
	}
}

// groupSize returns how many segments a group of n has whose sums are added up in a tile of their own.
func groupSize(n int) int {
	size := 1
	if n > directSegments {
		for size*groupSegments < n {
			size *= groupSegments
		}
	}
	return size
}

// best returns the choice of the least predicted time.
func best(heads []Head) Head {
	return slices.MinFunc(heads, func(a, b Head) int { return cmp.Compare(a.Predicted, b.Predicted) })
}

// layoutFor chooses the head for the columns: by the cost model, or of the given number of terms,
// below 0 for none.
func (b *Backend) layoutFor(
	ctx context.Context, x *sparse.Embedded, terms int, roles Roles,
) (*layout, *sparse.CSR, error) {
	rank := sparse.Ranks(sparse.Order(x.DocumentFrequency()))
	byRank, err := sparse.ByRank(ctx, nil, &x.CSR, rank, b.workers)
	if err != nil {
		return nil, nil, err
	}
	l := &layout{b.kernels.Panel, []int{0}, rank, b.pairing.scale}
	if terms < 0 {
		return l, byRank, nil
	}
	for {
		l.bounds = []int{0}
		b.heads = planHead(b.kernels, b.pairing, byRank, terms, roles)
		head := b.heads[len(b.heads)-1]
		if terms == 0 {
			head = best(b.heads)
		}
		if head.Terms > 0 {
			l.bounds = b.pairing.cut(ctx, b.kernels, byRank, head.Terms)
		}
		if b.denseColumns = head.Roles == DenseColumns; !b.denseColumns || len(l.bounds) == 2 {
			return l, byRank, context.Cause(ctx)
		}
		roles = DenseRows // a long document's roundings ask for more than one segment
	}
}

// Heads returns the head and what the cost model predicts for the possible choices, by number of terms. The fastest is
// chosen unless Options.HeadTerms is set.
func (b *Backend) Heads() (chosen Head, all []Head) {
	chosen = Head{Roles: DenseRows, Terms: b.layout.head(), Segments: len(b.own.head)}
	if b.denseColumns {
		chosen.Roles = DenseColumns
	}
	return chosen, b.heads
}
