package solver

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/tiles"
)

// Support returns the rows of the matrix that any machine has a coefficient for, increasing: the
// objects that a kernel value is needed with for a prediction.
func (c *Classifier) Support() []int {
	var all []int
	for _, m := range c.Machines {
		if m != nil {
			all = append(all, m.Support...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Predictor computes the decision values of all machines of a classifier at once. It may be used
// concurrently. The machines, which it keeps, must not be changed.
type Predictor struct {
	c       *Classifier
	k       *asm.Kernels
	columns int
	at      [][]int32 // by machine: the columns of its support
}

// NewPredictor returns a predictor for kernel values in columns: columns[s] is the row of the
// matrix that column s is for, all different. They hold at least what [Classifier.Support] returns,
// and may be that, or all documents in any order. k nil means asm.Best(); all give the same bits. A
// machine with another number of coefficients than of support vectors is an error, too.
func (c *Classifier) NewPredictor(columns []int, k *asm.Kernels) (*Predictor, error) {
	if k == nil {
		k = asm.Best()
	}
	if len(columns) > math.MaxInt32 {
		return nil, errUser("%d columns of kernel values, expected at most %d", len(columns), math.MaxInt32)
	}
	where := make(map[int]int32, len(columns))
	for s, row := range columns {
		if _, twice := where[row]; twice {
			return nil, errUser("document %d has two columns of kernel values", row)
		}
		where[row] = int32(s)
	}
	p := &Predictor{c: c, k: k, columns: len(columns), at: make([][]int32, len(c.Machines))}
	for i, m := range c.Machines {
		if m == nil {
			continue
		}
		if len(m.Support) != len(m.Coef) {
			return nil, errUser("machine %d has %d support vectors with %d coefficients, expected as many",
				i, len(m.Support), len(m.Coef))
		}
		for _, row := range m.Support {
			s, ok := where[row]
			if !ok {
				return nil, errUser("document %d has a coefficient in machine %d but no column of kernel values", row, i)
			}
			p.at[i] = append(p.at[i], s)
		}
	}
	return p, nil
}

// predictBlock is how many objects are decided together: their kernel values are transposed, so
// that a coefficient meets a row of them in the first-level cache.
const predictBlock = 128

// Decide sets dst[r][i] to the decision value of machine i for object r, whose kernel values are
// rows[r][s] = K(x_r, column s): Σ Coef·K - Rho, summed in float64 in the order of the support. A
// machine that is nil decides 0. The result for an object doesn't depend on the others, nor on the
// number of workers, of which there is at least one. Errors: rows or dst of other lengths.
func (p *Predictor) Decide(rows [][]float32, dst [][]float64, workers int) error {
	if len(dst) != len(rows) {
		return errUser("room for the decision values of %d objects, expected %d", len(dst), len(rows))
	}
	for r := range rows {
		if len(rows[r]) != p.columns {
			return errUser("object %d has %d kernel values, expected %d", r, len(rows[r]), p.columns)
		}
		if len(dst[r]) != len(p.at) {
			return errUser("room for %d decision values of object %d, expected %d", len(dst[r]), r, len(p.at))
		}
	}
	blocks := (len(rows) + predictBlock - 1) / predictBlock
	workers = max(1, min(workers, blocks))
	turned := make([][]float32, workers)
	return tiles.Run(context.Background(), workers, blocks, func(_ context.Context, w, block int) error {
		if turned[w] == nil {
			turned[w] = make([]float32, p.columns*predictBlock)
		}
		lo := block * predictBlock
		hi := min(lo+predictBlock, len(rows))
		p.block(rows[lo:hi], dst[lo:hi], turned[w])
		return nil
	})
}

// block decides up to predictBlock objects.
func (p *Predictor) block(rows [][]float32, dst [][]float64, turned []float32) {
	sum := make([]float64, predictBlock)
	transpose(turned, rows, p.columns)
	for i, m := range p.c.Machines {
		clear(sum)
		if m != nil {
			for r := range sum {
				sum[r] = -m.Rho
			}
			p.k.RowSums(sum, turned, 0, p.at[i], m.Coef)
		}
		for r := range dst {
			dst[r][i] = sum[r]
		}
	}
}

// transpose sets dst[s*predictBlock+r] to rows[r][s], by strips of columns that a cache line holds.
func transpose(dst []float32, rows [][]float32, columns int) {
	const strip = 16
	for lo := 0; lo < columns; lo += strip {
		hi := min(lo+strip, columns)
		for r, row := range rows {
			for s, v := range row[lo:hi] {
				dst[(lo+s)*predictBlock+r] = v
			}
		}
	}
}

// Decide returns the class that the scheme's rule finds from the decision values of an object: in
// one-vs-one the class with the most votes, the first of several, where a machine votes for its
// first class above 0 and for the other otherwise; in one-vs-rest the class of the greatest value.
// For separate labels there is no one class: see [Classifier.LabelsOf]. NaN is neither above 0 nor
// the greatest.
//
// It panics unless there is a decision value of each machine, and the machines are those of the
// scheme.
func (c *Classifier) Decide(decisions []float64) int {
	if err := c.fits(len(decisions)); err != nil {
		panic(fmt.Sprintf("Classifier.Decide: %v", err))
	}
	if c.Scheme != OneVsOne {
		best := 0
		for i, v := range decisions {
			if v > decisions[best] || math.IsNaN(decisions[best]) {
				best = i
			}
		}
		return best
	}
	votes := make([]int, c.Classes)
	i := 0
	for a := range c.Classes {
		for b := a + 1; b < c.Classes; b++ {
			switch {
			case c.Machines[i] == nil:
			case decisions[i] > 0:
				votes[a]++
			default:
				votes[b]++
			}
			i++
		}
	}
	best := 0
	for a, v := range votes {
		if v > votes[best] {
			best = a
		}
	}
	return best
}

// LabelsOf appends the labels whose decision values are above 0 to dst, in increasing order. It
// panics unless the scheme is [Labels] and there is a decision value of each machine.
func (c *Classifier) LabelsOf(dst []int, decisions []float64) []int {
	if c.Scheme != Labels {
		panic(fmt.Sprintf("Classifier.LabelsOf: scheme %s, expected %s", c.Scheme, Labels))
	}
	if err := c.fits(len(decisions)); err != nil {
		panic(fmt.Sprintf("Classifier.LabelsOf: %v", err))
	}
	for i, v := range decisions {
		if v > 0 {
			dst = append(dst, i)
		}
	}
	return dst
}
