package solver

import "slices"

// Sums adds up the decision values of all machines for a few objects while their kernel values arrive, so that these needn't be kept. It belongs to one goroutine.
type Sums struct {
	p     *Predictor
	width int       // objects
	sums  []float64 // [machine][object]
	done  []int     // by machine: how many of its coefficients have been added
}

// NewSums returns room for the sums of width objects. The columns of the predictor must be so ordered that those of each machine's support increase, as those of
// [Classifier.Support] do.
func (p *Predictor) NewSums(width int) (*Sums, error) {
	for i, at := range p.at {
		for s := 1; s < len(at); s++ {
			if at[s] <= at[s-1] {
				return nil, errUser("column %d of machine %d stands behind column %d, expected increasing ones", at[s], i, at[s-1])
			}
		}
	}
	return &Sums{p: p, width: width, sums: make([]float64, len(p.at)*width), done: make([]int, len(p.at))}, nil
}

// SumsBytes returns the memory that Sums for width objects take.
func (p *Predictor) SumsBytes(width int) int64 { return int64(len(p.at)) * 8 * int64(width+1) }

// Start begins with new objects.
func (s *Sums) Start() {
	clear(s.done)
	clear(s.sums)
	for i, m := range s.p.c.Machines {
		if m != nil {
			sum := s.of(i)
			for r := range sum {
				sum[r] = -m.Rho
			}
		}
	}
}

func (s *Sums) of(machine int) []float64 { return s.sums[machine*s.width : (machine+1)*s.width] }

// Add adds what some columns contribute: values[c*width+r] is K(x_r, column first+c). Every column comes once, in order.
func (s *Sums) Add(first int, values []float32) {
	end := int32(first + len(values)/s.width)
	for i, at := range s.p.at {
		from := s.done[i]
		if from == len(at) || at[from] >= end { // most machines have nothing to do with most columns
			continue
		}
		n, _ := slices.BinarySearch(at[from:], end)
		s.p.k.RowSums(s.of(i), values, first, at[from:from+n], s.p.c.Machines[i].Coef[from:from+n])
		s.done[i] = from + n
	}
}

// Result sets dst[i] to the decision value of machine i for object r, when all columns have been added: Σ Coef·K - Rho, summed in float64 in the order of the support, each
// operation rounded by itself. A machine that is nil decides 0. It depends neither on the other objects nor on how the columns were divided.
func (s *Sums) Result(r int, dst []float64) {
	for i := range dst {
		dst[i] = s.sums[i*s.width+r]
	}
}
