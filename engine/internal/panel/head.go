package panel

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Each segment of the head costs an addition to memory per document, but long segments accumulate
// more rounding errors. Let a_j·b_j be the products of the common terms of two documents, and m_j
// the number of rounded sums that contain product j. These are the later sums of the segment, and
// one sum per later segment. Products of the tail, which comes first, are in one sum per segment.
// With u = 2⁻²⁴ a sum s is rounded by at most u·|s|, so by the Cauchy-Schwarz inequality the total
// error is at most
//
//	u·Σ |a_j b_j| m_j  <=  u·√(Σ a_j² m_j)·√(Σ b_j² m_j)  <=  u·E
//
// where E is the largest Σ a_j² m_j of all documents. If all products are equal, as in text with
// many single words, the error reaches half of this bound: sums between two powers of two are all
// rounded in the same direction, and smaller sums are exact. A head has the fewest segments that
// keep E within pairing.roundings.
//
// Other errors add at most 16u: 2u·s for rounded values, u for 1-s, and in the tail 3u·s for
// scaling and products, 2u·s for conversion to float32, and 8u for up to maxAccurateTail products
// rounded to integers. If multiply-adds aren't fused, products of the head add u·s. For histograms
// m_j is multiplied by a_j, because √(a_j b_j) bounds a term. Rounding of terms adds 4u for χ² and
// 8u for Jensen-Shannon. The total is at most device.MaxError, 44u.
const (
	roundingsDot           = 28
	roundingsChiSquare     = 20
	roundingsJensenShannon = 12
)

// valuesPerSegment is the mean number of values per document and segment that the cost model
// assumes.
const valuesPerSegment = 20

// Head describes the terms in dense panels, and the predicted time.
type Head struct {
	DenseOperand  DenseOperand  // DenseRows or DenseColumns
	TermCount     int           // number of terms, which are the most frequent terms
	SegmentCount  int           // expected number of segments
	PredictedTime time.Duration // time for the dot products of one triangle of the Gram matrix on one core
}

// planHead predicts the time of dot products for no head, and for heads of 16 terms, 20 terms, and
// so on by factors of 1.25, with segments of about valuesPerSegment values per document.
//
// With n documents, panels of R, and document frequencies f in descending order, of which the first
// H are in the head,
//
//	head = n/R · (Σ_{r<H} f_r · HeadValue + Σ_{r far} f_r · HeadCacheMiss
//	       + n·segments · HeadDocument + n · TailDocument)
//	tail = Σ_{r≥H} f_r² · TailMatch + Σ_{r≥H} f_r · n/MinTailBlockDocs · TailVisit
//
// A rank r is far if it is outside the part of its segment that fits in half of the L1 cache. If
// the dense panel exceeds half of the L2 cache, it is read from L3 once per block of documents. If
// the columns are dense, with one segment,
//
//	head = n/R · (Σ_{r<H} f_r · HeadValue + n · DenseDocument + 4 n·H · L3Byte)
//
// One triangle of the Gram matrix takes half of this time. A positive most limits the number of
// terms.
func planHead(k *asm.Kernels, pair pairing, byRank *sparse.CSR, most int, roles DenseOperand) (heads []Head) {
	n, width := float64(byRank.Cols), float64(k.PanelWidth)
	caches := asm.CurrentCaches()
	limit := byRank.Rows()
	if most > 0 {
		limit = min(limit, most)
	}
	frequency := func(r int) float64 { return float64(byRank.Offsets[r+1] - byRank.Offsets[r]) }
	var rest, matches float64 // sums of f_r and f_r² over the tail
	for r := range byRank.Rows() {
		rest += frequency(r)
		matches += frequency(r) * frequency(r)
	}
	add := func(terms, segments int, values, far float64) {
		tail := matches*pair.cost.TailMatch + rest*max(n/MinTailBlockDocs, 1)*pair.cost.TailVisit
		cost := tail + n/width*(values*pair.cost.HeadValue+far*pair.cost.HeadCacheMiss+
			n*float64(segments)*pair.cost.HeadDocument+n*pair.cost.TailDocument)
		if panel := 4 * width * float64(terms); panel > float64(caches.L2)/2 {
			cost += n / width * n / blockDocs * panel * pair.cost.L3Byte
		}
		h := Head{DenseRows, terms, segments, time.Duration(cost / 2)}
		cost = tail + n/width*(values*pair.cost.HeadValue+n*pair.cost.DenseDocument+4*n*float64(terms)*pair.cost.L3Byte)
		swapped := time.Duration(cost / 2)
		can := segments == 1 && terms > 0 && pair.finish != nil && sparse.BlockSize%k.PanelWidth == 0
		if can && (roles == DenseColumns || roles == DenseByCost && swapped < h.PredictedTime) {
			h.DenseOperand, h.PredictedTime = DenseColumns, swapped
		}
		heads = append(heads, h)
	}
	add(0, 0, 0, 0)

	near := caches.L1 / 2 / (4 * k.PanelWidth) // terms of a segment that fit in half of the L1 cache
	var values, far, mean float64              // values in the head, in its far terms, and per document in this segment
	next, first, segments := 16.0, 0, 1
	for r := range limit {
		f := frequency(r)
		if mean += f / n; mean > valuesPerSegment || (r+1-first)*k.PanelWidth > 1<<16 {
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
			if last := heads[len(heads)-1]; most == 0 && last.PredictedTime > 2*fastestHead(heads).PredictedTime {
				break // larger heads are slower
			}
		}
	}
	return heads
}

// divideHead divides the head, which has the given number of terms, into the fewest segments that
// keep rounding errors within pairing.roundings. If that is impossible, it minimises the rounding
// errors. The last of the bounds is the end of the head.
func (pair pairing) divideHead(
	ctx context.Context, k *asm.Kernels, byRank *sparse.CSR, terms, workers int,
) (bounds []int, err error) {
	tail := make([]float64, byRank.Cols) // per document: Σ a² of the tail
	for r := terms; r < byRank.Rows(); r++ {
		docs, values := byRank.Row(r)
		for i, d := range docs {
			tail[d] += pair.square(values[i])
		}
	}
	least := math.Inf(1)
	for limit := 16.0; ; limit /= 2 {
		var candidates [2][]int
		var roundings [2]float64
		err = run.Parallel(ctx, workers, 2, func(i int) {
			larger := limit * [...]float64{1, math.Sqrt2}[i]
			candidates[i], roundings[i] = pair.segmentBounds(byRank, tail, terms, larger, 1<<16/k.PanelWidth)
		})
		if err != nil {
			return nil, err
		}
		last := roundings[0] <= pair.roundings || limit <= minLimit
		for i, r := range roundings {
			if (i == 0 || last) && (r < least || r <= pair.roundings) {
				least, bounds = r, candidates[i]
			}
		}
		if last {
			return bounds, nil
		}
	}
}

// minLimit is the smallest limit that divideHead tries. Only documents with thousands of values
// need a limit near minLimit.
const minLimit = 0x1p-8

// segmentBounds returns the bounds of segments, and the largest E of all documents. A new segment
// starts if Σ a_j² m_j of a document within the segment would exceed limit, or if the segment
// already has the maximum number of terms. tail holds Σ a² of the tail of each document.
func (pair pairing) segmentBounds(
	byRank *sparse.CSR, tail []float64, terms int, limit float64, most int,
) ([]int, float64) {
	bounds := []int{0}
	type sums struct{ segment, count, all float64 }
	doc := make([]sums, byRank.Cols)
	for r := range terms {
		docs, values := byRank.Row(r)
		above := false
		for i, d := range docs {
			above = above || doc[d].segment+pair.square(values[i])*(doc[d].count+1) > limit
		}
		if first := bounds[len(bounds)-1]; r > first && (above || r-first >= most) {
			bounds = append(bounds, r)
			for i := range doc {
				doc[i].segment, doc[i].count = 0, 0
			}
		}
		later := float64(len(bounds)) // number of additions to the tile by this segment and the earlier segments
		for i, d := range docs {
			s, square := &doc[d], pair.square(values[i])
			s.count++
			s.segment += square * s.count
			s.all += square * (s.count + later)
		}
	}
	bounds = append(bounds, terms)
	if len(bounds)-1 > directSegments {
		return bounds, pair.maxSum(byRank, tail, bounds)
	}
	largest := 0.0
	for i := range doc {
		largest = max(largest, doc[i].all+tail[i]*float64(len(bounds)-1))
	}
	return bounds, largest
}

// square returns a_j² for unit rows, and the value itself for histograms.
func (pair pairing) square(v float32) float64 {
	if pair.terms == nil {
		return float64(v) * float64(v)
	}
	return float64(v)
}

// maxSum returns the largest E of all documents for segments that are summed in groups.
func (pair pairing) maxSum(byRank *sparse.CSR, tail []float64, bounds []int) (most float64) {
	sum, count := make([]float64, byRank.Cols), make([]float64, byRank.Cols)
	segments := len(bounds) - 1
	for s := range segments {
		clear(count)
		after := float64(additionCount(s, segments))
		for r := bounds[s]; r < bounds[s+1]; r++ {
			docs, values := byRank.Row(r)
			for i, d := range docs {
				count[d]++
				sum[d] += pair.square(values[i]) * (count[d] + after)
			}
		}
	}
	size := groupSize(segments)
	for d, v := range tail { // products of the tail are in one sum per segment or group
		most = max(most, sum[d]+v*float64((segments+size-1)/size))
	}
	return most
}

// additionCount returns the number of additions in panel.addHeadDots that include the sum of
// segment s of n.
func additionCount(s, n int) (count int) {
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

// groupSize returns the number of segments per group if n segments are added up in separate tiles.
func groupSize(n int) int {
	size := 1
	if n > directSegments {
		for size*groupSegments < n {
			size *= groupSegments
		}
	}
	return size
}

func fastestHead(heads []Head) Head {
	return slices.MinFunc(heads, func(a, b Head) int { return cmp.Compare(a.PredictedTime, b.PredictedTime) })
}

func (b *Backend) chooseLayout(
	ctx context.Context, x *sparse.Embedded, terms int, roles DenseOperand,
) (*layout, *sparse.CSR, error) {
	rank := device.InversePermutation(device.ColumnsByFrequency(x.DocumentFrequency()))
	byRank, err := device.TransposeByRank(ctx, nil, &x.CSR, rank, b.workers)
	if err != nil {
		return nil, nil, err
	}
	l := &layout{b.kernels.PanelWidth, []int{0}, rank, b.pairing.scale}
	if terms < 0 {
		return l, byRank, nil
	}
	for {
		l.bounds = []int{0}
		b.heads = planHead(b.kernels, b.pairing, byRank, terms, roles)
		head := b.heads[len(b.heads)-1]
		if terms == 0 {
			head = fastestHead(b.heads)
		}
		if head.TermCount > 0 {
			l.bounds, err = b.pairing.divideHead(ctx, b.kernels, byRank, head.TermCount, b.workers)
			if err != nil {
				return nil, nil, err
			}
		}
		if b.denseColumns = head.DenseOperand == DenseColumns; !b.denseColumns || len(l.bounds) == 2 {
			return l, byRank, context.Cause(ctx)
		}
		roles = DenseRows // long documents need more than one segment for accuracy
	}
}

// Heads returns the chosen head and the predictions for all candidates, sorted by number of terms.
// chosen.PredictedTime is 0. The fastest candidate is chosen unless Options.HeadTerms is set.
func (b *Backend) Heads() (chosen Head, all []Head) {
	chosen = Head{DenseOperand: DenseRows, TermCount: b.layout.headTerms(), SegmentCount: len(b.columns.head)}
	if b.denseColumns {
		chosen.DenseOperand = DenseColumns
	}
	return chosen, b.heads
}
