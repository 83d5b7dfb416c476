package lmnn

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// squaredNorms returns the squared norm of each row. Computing ‖a‖² + ‖b‖² - 2⟨a,b⟩ from norms is
// several times faster than computing ‖a - b‖², but has a rounding error of about 2⁻⁵⁰(‖a‖² +
// ‖b‖²). Use [squaredDistance] if equal distances must compare equal.
func squaredNorms(z *mat.Dense) []float64 {
	n, _ := z.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = floats.Dot(z.RawRowView(i), z.RawRowView(i))
	}
	return out
}

// findImpostors sets p.impostors at L = w. For each document i, p.impostors lists the documents l
// of other classes with D(i, l) < 1 + slack + D(i, j) for a target j of i. Such a pair (i, l) is
// within reach. findImpostors returns the number of pairs within reach. It preselects candidates by
// block matrix products.
func (p *problem) findImpostors(ctx context.Context, w []float64, slack float64) (count int64, err error) {
	n, d := p.x.Dims()
	z, err := applyTransform(ctx, p.x, mat.NewDense(d, d, w))
	if err != nil {
		return 0, err
	}
	p.impostors = make([][]int32, n)
	norms := squaredNorms(z)
	var all atomic.Int64
	err = p.forEachRange(ctx, func(_, lo, hi int) error {
		limits := make([]float64, hi-lo)
		for i := lo; i < hi; i++ {
			widest := math.Inf(-1)
			for _, j := range p.targets[i*p.k : (i+1)*p.k] {
				if j >= 0 {
					widest = max(widest, squaredDistance(z.RawRowView(i), z.RawRowView(int(j))))
				}
			}
			limits[i-lo] = 1 + slack + widest
		}
		b := newBlockProducts(z, norms, hi-lo)
		for first := lo; first < hi; first += b.blockRows {
			end, found := min(first+b.blockRows, hi), 0
			err := b.visitBelow(ctx, first, end, limits[first-lo:end-lo], func(i, l int) {
				if p.y[l] != p.y[i] && norms[i]+norms[l]-2*floats.Dot(z.RawRowView(i), z.RawRowView(l)) < limits[i-lo] {
					p.impostors[i] = append(p.impostors[i], int32(l))
					found++
				}
			})
			if err != nil {
				return err
			}
			if found := all.Add(int64(found)); p.maxPairs > 0 && found > p.maxPairs {
				return fmt.Errorf("lmnn: more than %d pairs of documents violate a margin, which exceeds the memory limit; "+
					"use fewer documents or better columns", p.maxPairs)
			}
		}
		return nil
	})
	return all.Load(), err
}

type blockProducts struct {
	z                    *mat.Dense
	norms                []float64
	blockRows, blockCols int
	rowPanel, colPanel   []float64 // rows and columns of a block, transposed
	dots                 []float64
}

func newBlockProducts(z *mat.Dense, norms []float64, rows int) *blockProducts {
	n, d := z.Dims()
	b := &blockProducts{z: z, norms: norms, blockRows: min(rows, 128), blockCols: min(n, 64)}
	b.rowPanel, b.colPanel = make([]float64, b.blockRows*d), make([]float64, b.blockCols*d)
	b.dots = make([]float64, b.blockRows*b.blockCols)
	return b
}

// visitBelow calls visit for rows lo <= i < hi and, in ascending order, for all rows l whose
// squared distance from row i may be below limits[i-lo]. In any order of summation, the inner
// product of two vectors a and b of length d has an error of at most d·2⁻⁵³‖a‖‖b‖. So squared
// distances computed in two orders differ by at most 2d·2⁻⁵³(‖a‖² + ‖b‖²) plus several units of
// 2⁻⁵³.
func (b *blockProducts) visitBelow(ctx context.Context, lo, hi int, limits []float64, visit func(i, l int)) error {
	n, d := b.z.Dims()
	wrong := 4 * float64(d+8) * 0x1p-53
	transpose(b.rowPanel, b.blockRows, b.z, lo, hi)
	for first := 0; first < n; first += b.blockCols {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := min(first+b.blockCols, n)
		transpose(b.colPanel, b.blockCols, b.z, first, end)
		clear(b.dots)
		asmKernels.MultiplyWide(b.dots, b.blockCols, b.colPanel, b.blockCols, d, end-first, b.rowPanel, b.blockRows, hi-lo)
		for i := lo; i < hi; i++ {
			for at, dot := range b.dots[(i-lo)*b.blockCols:][:end-first] {
				norms := b.norms[i] + b.norms[first+at]
				if !(norms-2*dot >= limits[i-lo]+wrong*norms) {
					visit(i, first+at)
				}
			}
		}
	}
	return nil
}

var asmKernels = asm.BestKernels()

// transpose writes rows lo to hi-1 of z to the columns of the matrix dst, beginning with column 0.
func transpose(dst []float64, columns int, z *mat.Dense, lo, hi int) {
	for i := lo; i < hi; i++ {
		for c, v := range z.RawRowView(i) {
			dst[c*columns+i-lo] = v
		}
	}
}
