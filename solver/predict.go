package solver

import (
	"slices"
	"sync"

	"github.com/gramengine/gram/asm"
)

// Support returns the rows of the matrix that any machine has a coefficient for, increasing: the objects that a kernel value is needed with for a
// prediction.
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

// Predictor computes the decision values of all machines of a classifier at once. It may be used concurrently.
type Predictor struct {
	c       *Classifier
	k       *asm.Kernels
	columns int
	at      [][]int32 // by machine: the columns of its support
}

// NewPredictor returns a predictor for kernel values in columns: columns[s] is the row of the matrix that column s is for, all different. They
// hold at least what [Classifier.Support] returns, and may be that, or all documents in any order. k nil means asm.Best(); all give the same bits.
func (c *Classifier) NewPredictor(columns []int, k *asm.Kernels) (*Predictor, error) {
	if k == nil {
		k = asm.Best()
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

// predictBlock is how many objects are decided together: their kernel values are transposed, so that a coefficient meets a row of them in the
// first-level cache.
const predictBlock = 128

// Decide sets dst[r][i] to the decision value of machine i for object r, whose kernel values are rows[r][s] = K(x_r, column s): Σ Coef·K - Rho, summed
// in float64 in the order of the support. A machine that is nil decides 0. The result for an object doesn't depend on the others, nor on the number of
// workers, which is at least 1.
func (p *Predictor) Decide(rows [][]float32, dst [][]float64, workers int) error {
	for r := range rows {
		if len(rows[r]) != p.columns {
			return errUser("object %d has %d kernel values, expected %d", r, len(rows[r]), p.columns)
		}
		if len(dst[r]) != len(p.c.Machines) {
			return errUser("room for %d decision values, expected %d", len(dst[r]), len(p.c.Machines))
		}
	}
	blocks := make(chan int, (len(rows)+predictBlock-1)/predictBlock)
	for lo := 0; lo < len(rows); lo += predictBlock {
		blocks <- lo
	}
	close(blocks)
	var all sync.WaitGroup
	for range max(1, min(workers, cap(blocks))) {
		all.Go(func() {
			turned := make([]float32, p.columns*predictBlock)
			sums := make([]float64, predictBlock)
			for lo := range blocks {
				hi := min(lo+predictBlock, len(rows))
				p.block(rows[lo:hi], dst[lo:hi], turned, sums)
			}
		})
	}
	all.Wait()
	return nil
}

// block decides up to predictBlock objects.
func (p *Predictor) block(rows [][]float32, dst [][]float64, turned []float32, sum []float64) {
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

// Decide returns the class that the scheme's rule finds from the decision values of an object: in one-vs-one the class with the most votes, the first of
// several, where a machine votes for its first class above 0 and for the other otherwise; in one-vs-rest the class of the greatest value.
// For separate labels there is no one class: see [Classifier.LabelsOf].
func (c *Classifier) Decide(decisions []float64) int {
	if c.Scheme != OneVsOne {
		best := 0
		for i, v := range decisions {
			if v > decisions[best] {
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

// LabelsOf appends the labels whose decision values are above 0 to dst.
func (c *Classifier) LabelsOf(dst []int, decisions []float64) []int {
	for i, v := range decisions {
		if v > 0 {
			dst = append(dst, i)
		}
	}
	return dst
}
