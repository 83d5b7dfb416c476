package kernel

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// arcBias is the arc-cosine kernel of degree 0 whose thresholds have a bias b, and may be smoothed
// besides,
//
//	k = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Θ(w·x - b) Θ(w·y - b)
//
// so that the length of documents counts: a long one is above a threshold more often. See
// arccosine.Biased for the formula. With smoothed thresholds, Φ((w·x - b)/σ), it is the same of the
// longer documents of [arcSmooth]. b → 0 gives the degree 0. Where an embedding scales all
// documents to norm 1, b is in units of that.
//
// Its map counts less than 2⁻¹¹⁶ as nothing, so that for b > 0 documents of norms (with smoothed
// thresholds, lengths) up to b/12.5 have 0 with all.
//
// Source: Cho's thesis, ch. 3, eq. 3.3-3.5 and 3.16.
type arcBias struct {
	single
	bias, sigma float64 // sigma 0 for steps
	kept        *keptColumns
}

func newBiased(e in, bias, sigma float64) component {
	return compile(arcBias{single{e}, bias, sigma, new(keptColumns)})
}

func (f arcBias) spec() string {
	if f.sigma == 0 {
		return format("arccos", f.e, pair{"n", 0}, pair{"bias", f.bias})
	}
	return format("arccos", f.e, pair{"n", 0}, pair{"bias", f.bias}, pair{"sigma", f.sigma})
}

// lengthened returns c and the norms with the coordinates that smooth thresholds.
func (f arcBias) lengthened(c, x, y float64) (c2, x2, y2 float64) {
	if f.sigma == 0 {
		return c, x, y
	}
	a, b := smoothNorm(x, f.sigma), smoothNorm(y, f.sigma)
	return smooth(c, x, y, f.sigma, a, b), a, b
}

func (f arcBias) value(c, x, y float64) float64 {
	c, x, y = f.lengthened(min(max(c, 0), 2), x, y)
	return arccosine.Biased(c, x, y, f.bias)
}

// differ returns arccosine.Differ of the lengthened documents.
func (f arcBias) differ(c, x, y float64) float64 {
	c, x, y = f.lengthened(c, x, y)
	return arccosine.Differ(c, x, y, f.bias)
}

// feature: with the diagonals p = k(x, x) and q = k(y, y),
//
//	c2 = ((p+q)/2 - k - (√p-√q)²/2) / √(pq)
//
// and (p+q)/2 - k is known by itself: for steps and one norm with full accuracy, otherwise to some
// 10⁻¹⁶ of p + q. A c2 above ½ is taken from the definition.
func (f arcBias) feature(c, x, y float64) (c2, x2, y2 float64) {
	p, q := f.value(0, x, x), f.value(0, y, y)
	x2, y2 = math.Sqrt(p), math.Sqrt(q)
	if p == 0 || q == 0 { // c stands for itself, but the kernel is nowhere below 0, and roots of it count on that
		return min(c, 1), x2, y2
	}
	if ratio := f.value(c, x, y) / (x2 * y2); !(ratio > 0.5) {
		return 1 - ratio, x2, y2
	}
	gap := f.differ(c, x, y)
	if f.sigma > 0 {
		gap -= (f.differ(0, x, x) + f.differ(0, y, y)) / 2
	}
	d := x2 - y2
	return min(max((gap-d*d)/(2*x2*y2), 0), 2), x2, y2
}

// properties: for b > 0 documents far shorter than b, and those without terms, are never above the
// threshold, and k(x, x) comes out as 0.
func (f arcBias) properties() Properties {
	p := nonNegative("an inner product of infinitely many biased threshold units", sourceCho+", ch. 3, eq. 3.3-3.5")
	if f.bias > 0 {
		p.Condition += "; 0 for documents shorter than bias/12.5"
	}
	return p
}

// lengthenedNorm returns the norm with the coordinate that smooths thresholds.
func (f arcBias) lengthenedNorm(x float32) float64 {
	if f.sigma == 0 {
		return float64(x)
	}
	return smoothNorm(float64(x), f.sigma)
}

// side writes the numbers of a document as asm.Kernels.BivariateTail wants them.
func (f arcBias) side(dst []float32, stride int, norm float32) {
	arccosine.AllSides().At(dst, stride, math.Abs(f.bias)/f.lengthenedNorm(norm), f.bias < 0)
}

// biasColumns are the columns of a block as asm.Kernels.BivariateTail wants them. To make them
// takes as long as to map some twenty rows.
type biasColumns struct {
	y     []float32 // the norms they are of
	gaps  []float64 // smoothGap of them, for smoothed thresholds
	sides []float32
}

// fill computes the columns of norms y, in the memory that s has.
func (s *biasColumns) fill(f arcBias, y []float32) *biasColumns {
	const group, size = asm.BivariateGroup, asm.BivariateGroup * asm.BivariateNumbers
	s.y, s.gaps = append(s.y[:0], y...), s.gaps[:0]
	need := (len(y) + group - 1) / group * size
	s.sides = slices.Grow(s.sides[:0], need)[:need]
	clear(s.sides[len(y)/group*size:]) // nothing may be left behind the last column that is no number
	for j, v := range y {
		if f.sigma > 0 {
			s.gaps = append(s.gaps, smoothGap(float64(v), f.sigma))
		}
		f.side(s.sides[j/group*size+j%group:], group, v)
	}
	return s
}

// keptColumns are columns that a kernel was given lately, for those who read single rows: at most 6
// MB. They are immutable.
type keptColumns [256]atomic.Pointer[biasColumns]

// of returns the columns of norms y, kept or new.
func (t *keptColumns) of(f arcBias, y []float32) *biasColumns {
	const odd = 0x9e3779b97f4a7c15
	var hash uint64
	for j := 0; j < len(y); j += 1 + len(y)/16 {
		hash = (hash ^ uint64(math.Float32bits(y[j]))) * odd
	}
	at := &t[hash>>32%uint64(len(t))]
	if s := at.Load(); s != nil && bytes.Equal(bits(s.y), bits(y)) {
		return s
	}
	s := new(biasColumns).fill(f, y)
	at.Store(s)
	return s
}

// bits returns the memory of v: norms are compared for every row, and so that takes no time.
func bits(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// fewRows is how many rows make it worth while to compute columns in scratch space rather than to
// keep them.
const fewRows = 16

// biasScratch is scratch space for a block.
type biasScratch struct {
	cols biasColumns
	one  [asm.BivariateNumbers]float32 // the row's side
	c    [chunk]float32
}

var biasScratches = sync.Pool{New: func() any { return new(biasScratch) }}

// rows hands a row to asm.Kernels.BivariateTail, with the numbers of its document and of the
// columns'.
func (f arcBias) rows(k *asm.Kernels, b *block) {
	if len(b.x) == 1 && len(b.y) == 1 && f.sigma == 0 && b.x[0] == b.y[0] {
		if dst, c := b.row(0); c[0] == 0 { // a diagonal is asked for value by value
			dst[0] = arccosine.AllSides().Diagonal(math.Abs(f.bias)/float64(b.x[0]), f.bias < 0)
			return
		}
	}
	s := biasScratches.Get().(*biasScratch)
	defer biasScratches.Put(s)
	var cols *biasColumns
	if len(b.x) < fewRows && len(b.y) >= asm.BivariateGroup {
		cols = f.kept.of(f, b.y)
	} else {
		cols = s.cols.fill(f, b.y)
	}
	for i, xi := range b.x {
		dst, c := b.row(i)
		f.row(k, s, cols, dst, c, xi)
	}
}

// row maps a row. dst may be c.
func (f arcBias) row(k *asm.Kernels, s *biasScratch, cols *biasColumns, dst, c []float32, x float32) {
	f.side(s.one[:], 1, x)
	if f.bias > 0 && s.one[0] >= asm.BivariateMost {
		clear(dst) // as the kernel would
		return
	}
	if f.sigma > 0 {
		smoothRow(s.c[:len(c)], c, smoothGap(float64(x), f.sigma), cols.gaps)
		c = s.c[:len(c)]
	}
	k.BivariateTail(dst, c, s.one[:], cols.sides)
}

// error is what asm.Kernels.BivariateTail states, more for a side's numbers and for h itself, which
// are rounded, see arccosine.SidesError, and the rounding of what a bias below 0 adds. A c that is
// smoothed is rounded, too. At the end there is the rounding of the result.
func (f arcBias) error(c, x, y float64) float64 {
	v := f.value(c, x, y)
	var moved float64
	if f.sigma > 0 {
		s, a, b := f.lengthened(c, x, y)
		at := arccosine.Biased(s, a, b, f.bias)
		moved = max(math.Abs(arccosine.Biased(s*(1-unit), a, b, f.bias)-at),
			math.Abs(arccosine.Biased(min(s*(1+unit), 2), a, b, f.bias)-at))
		c, x, y = s, a, b
	}
	err := arccosine.SidesError(c, math.Abs(f.bias)/x, math.Abs(f.bias)/y)
	if f.bias < 0 {
		err += unit * 6
	}
	return moved + err + unit*(v+moved+err) + underflow
}

func (f arcBias) layer() rowLayer {
	if f.sigma > 0 {
		return nil // value by value
	}
	return biasLayer{f}
}

// biasLayer is a layer of steps with a bias. c2 = 1 - k/√(pq), with the diagonals p and q, is
// computed from the values as long as that keeps digits: a c2 below biasClose is taken from the
// definition, and so is that of documents so much shorter than the bias that k is hardly more than
// rounding.
type biasLayer struct{ arcBias }

const (
	biasClose = 1.0 / 16
	biasShort = 0x1p-60 // of √(pq)
)

// biasLayerScratch is scratch space of a layer for a block.
type biasLayerScratch struct {
	biasScratch
	norms  [chunk]float64 // √k(y, y) of the columns
	values [chunk]float32
	wide   [chunk]float64
	table.Widener
}

// norm64 returns √k(x, x) of steps.
func (f biasLayer) norm64(x float32) float64 {
	tail := math.Erfc(math.Abs(f.bias) / float64(x) / math.Sqrt2)
	if f.bias < 0 {
		tail = 2 - tail
	}
	return math.Sqrt(tail)
}

func (f biasLayer) columns(all *layerScratch, y []float32) {
	if all.biased == nil {
		all.biased = new(biasLayerScratch)
	}
	all.biased.cols.fill(f.arcBias, y)
	for j, v := range y {
		all.biased.norms[j] = f.norm64(v)
	}
}

func (f biasLayer) row(k *asm.Kernels, all *layerScratch, dst, c []float32, x float32, y []float32) {
	m, root := all.biased, f.norm64(x)
	values, wide := m.values[:len(dst)], m.wide[:len(dst)]
	f.arcBias.row(k, &m.biasScratch, &m.cols, values, c, x)
	m.Widen(k, wide, values)
	for j, v := range wide {
		both := float64(root * m.norms[j])
		c2 := 1 - v/both
		if !(both >= biasShort && c2 >= biasClose) {
			c2, _, _ = f.feature(float64(c[j]), float64(x), float64(y[j]))
		}
		dst[j] = float32(c2)
	}
}

// error: that of the value, relative to the diagonal, and the rounding of the result. Near the
// limits either way may have been taken.
func (f biasLayer) error(c, x, y, c2 float64) float64 {
	err := unit*c2 + underflow
	if both := f.norm64(float32(x)) * f.norm64(float32(y)); both >= biasShort/2 && c2 >= biasClose*0.75 {
		err += bound(f.arcBias.error(c, x, y)) / both
	}
	return err
}
