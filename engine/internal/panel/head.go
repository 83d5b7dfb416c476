package panel

import (
	"context"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// Bounds of a segment of the head. Each segment is a block of the sum. Where two documents have
// many equal products, as text with its many single words has, the roundings of adding them up in
// float32 all go one way: the error of k equal terms is up to 1.5·10⁻⁸·k of their sum, found by
// trying 20,000 products. Two documents share no more terms in a segment than the one with fewer
// has there, segmentMost, and levels of groups above the segments add groupSegments each: k is 48 +
// 3·8 = 72 at most for up to 24,000 shared terms, hence an error of 10⁻⁶ at the very worst for
// cosines up to 0.9; above, c is recomputed. (Beyond, to 190,000 shared terms, it is 80.) Longer
// segments would be faster, by a tenth for 192 values on the Go source files, since each costs
// every document an addition to memory.
//
// The terms of histograms carry more roundings of their own, that of a share included: 4 for χ²,
// 2.4·10⁻⁷ of the sum, and 8 for Jensen-Shannon, 4.8·10⁻⁷. Their segments are so much shorter that
// k is 48 and 40, and all together stays below 10⁻⁶ for similarities up to 0.9.
const (
	segmentMost          = 48 // values of a document; the mean one has two thirds, unless one term has more
	segmentChiSquare     = 24
	segmentJensenShannon = 16
)

// A Head is a possible choice of the terms that the dense panels hold, with what the cost model
// says of it.
type Head struct {
	Terms     int           // number of terms, the most frequent ones
	Segments  int           // pieces that they are cut into
	Predicted time.Duration // time for all dot products of the symmetric half on one core
}

// headPlan holds choices of head for one set of documents, and where each segment begins. The last
// segment of a head ends with it.
type headPlan struct {
	heads  []Head
	bounds []int
}

// planHead divides the terms into segments, from the most frequent on, and predicts what the dot
// products cost for heads of 16 terms, and 1.25 times as many, and so on.
//
// With n documents, panels of R, and document frequencies f in falling order, of which the first H
// are in the head,
//
//	head = n/R · (Σ_{r<H} f_r · HeadValue + Σ_{r far} f_r · HeadFar + n·segments · HeadDocument)
//	tail = Σ_{r≥H} f_r² · TailMatch + Σ_{r≥H} f_r · n/TailDocs · TailList
//
// where those ranks are far that lie behind what half of the first-level cache holds of their
// segment; and where the dense panel outgrows the second-level cache, it is read once more from the
// third for every block of documents. The symmetric half takes half of it. A most > 0 limits the
// terms.
func planHead(k *asm.Kernels, pair pairing, byRank *sparse.CSR, most int) headPlan {
	docs := byRank.Cols
	longest, typical := int32(pair.segment), float64(pair.segment)*2/3 // of a segment: any document's, the mean one's
	n, width := float64(docs), float64(k.Panel)
	plan, caches := headPlan{bounds: []int{0}}, asm.UsedCaches()
	limit := byRank.Rows()
	if most > 0 {
		limit = min(limit, most)
	}
	var rest, matches float64 // of the tail
	for r := range byRank.Rows() {
		f := float64(byRank.Offsets[r+1] - byRank.Offsets[r])
		rest += f
		matches += f * f
	}
	add := func(terms, segments int, values, far float64) {
		cost := n / width * (values*pair.cost.HeadValue + far*pair.cost.HeadFar +
			n*float64(segments)*pair.cost.HeadDocument)
		cost += matches*pair.cost.TailMatch + rest*max(n/TailDocs, 1)*pair.cost.TailList
		if panel := 4 * width * float64(terms); panel > float64(caches.L2)/2 {
			cost += n / width * n / blockDocs * panel * pair.cost.L3Byte
		}
		plan.heads = append(plan.heads, Head{terms, segments, time.Duration(cost / 2)})
	}
	add(0, 0, 0, 0)

	near := caches.L1 / 2 / (4 * k.Panel) // terms of a segment that stay in the first-level cache
	count := make([]int32, docs)          // values of each document in the segment under way
	var values, far, mean float64         // of the head, beyond near, and of the segment in the mean document
	first, greatest, next := 0, int32(0), 16.0
	for r := range limit {
		list, _ := byRank.Row(r)
		f := float64(len(list))
		for _, d := range list {
			count[d]++
			greatest = max(greatest, count[d])
		}
		if r > first && (mean+f/n > typical || greatest > longest || (r+1-first)*k.Panel > 1<<16) {
			plan.bounds = append(plan.bounds, r)
			clear(count)
			for _, d := range list {
				count[d]++
			}
			first, mean, greatest = r, 0, 1
		}
		values += f
		mean += f / n
		rest -= f
		matches -= f * f
		if r-first >= near {
			far += f
		}
		if float64(r+1) >= next || r+1 == limit {
			next *= 1.25
			add(r+1, len(plan.bounds), values, far)
			if last := plan.heads[len(plan.heads)-1]; most == 0 && last.Predicted > 2*plan.best().Predicted {
				break // far beyond the best choice
			}
		}
	}
	return plan
}

// best returns the choice of the least predicted time.
func (p headPlan) best() Head {
	best := p.heads[0]
	for _, h := range p.heads {
		if h.Predicted < best.Predicted {
			best = h
		}
	}
	return best
}

// layoutFor chooses the head for the columns: by the cost model, or of the given number of terms,
// below 0 for none.
func (b *Backend) layoutFor(ctx context.Context, x *sparse.Embedded, terms int) (*layout, *sparse.CSR, error) {
	rank := sparse.Ranks(sparse.Order(x.DocumentFrequency()))
	byRank, err := sparse.ByRank(ctx, &x.CSR, rank, b.workers)
	if err != nil {
		return nil, nil, err
	}
	l := &layout{b.kernels.Panel, []int{0}, rank}
	if terms < 0 {
		return l, byRank, nil
	}
	plan := planHead(b.kernels, b.pairing, byRank, terms)
	head := plan.heads[len(plan.heads)-1]
	if terms == 0 {
		head = plan.best()
	}
	if head.Terms > 0 {
		l.bounds = append(plan.bounds[:head.Segments:head.Segments], head.Terms)
	}
	b.heads = plan.heads
	return l, byRank, nil
}

// Heads returns what the cost model predicts for the possible choices of the head, in the order of
// their number of terms. That of the least predicted time is taken unless Options.HeadTerms says
// otherwise.
func (b *Backend) Heads() []Head { return b.heads }

// HeadTerms returns the number of terms in the dense head.
func (b *Backend) HeadTerms() int { return b.layout.head() }
