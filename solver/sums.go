package solver

import (
	"math"
	"slices"
)

// Sums adds up the decision values of all machines for a few objects while their kernel values
// arrive, so that these needn't be kept. It belongs to one goroutine.
type Sums struct {
	p     *Predictor
	width int       // objects
	next  int       // the column that comes next
	sums  []float64 // [machine][object]
	done  []int     // by machine: how many of its coefficients have been added
}

// NewSums returns room for the sums of width objects, at least one, and begins with the first. The
// columns of the predictor must be so ordered that those of each machine's support increase, as
// those of [Classifier.Support] do.
func (p *Predictor) NewSums(width int) (*Sums, error) {
	if width < 1 || width > math.MaxInt32 {
		return nil, errUser("sums for %d objects, expected 1 to %d", width, math.MaxInt32)
	}
	for i, at := range p.at {
		for s := 1; s < len(at); s++ {
			if at[s] <= at[s-1] {
				return nil, errUser("column %d of machine %d stands behind column %d, expected increasing ones", at[s], i, at[s-1])
			}
		}
	}
	s := &Sums{p: p, width: width, sums: make([]float64, len(p.at)*width), done: make([]int, len(p.at))}
	s.Start()
	return s, nil
}

// SumsBytes returns the memory that Sums for width objects take.
func (p *Predictor) SumsBytes(width int) int64 { return int64(len(p.at)) * 8 * int64(width+1) }

// Start begins with new objects.
func (s *Sums) Start() {
	s.next = 0
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

// Add adds what some columns contribute: values[c*width+r] is K(x_r, column first+c). Every column
// comes once, in order: first is the column behind the last one of the call before, 0 after
// [Sums.Start], or nothing is added and the error says so. So it is with values that aren't whole
// columns, or more than there are.
func (s *Sums) Add(first int, values []float32) error {
	columns := len(values) / s.width
	switch {
	case first != s.next:
		return errUser("columns from %d on, expected those from %d on, which come next", first, s.next)
	case len(values)%s.width != 0:
		return errUser("%d values of columns for %d objects, expected a multiple", len(values), s.width)
	case columns > s.p.columns-first:
		return errUser("columns %d to %d, expected at most %d columns", first, first+columns-1, s.p.columns)
	}
	s.next += columns
	end := int32(s.next)
	for i, at := range s.p.at {
		from := s.done[i]
		if from == len(at) || at[from] >= end { // most machines have nothing to do with most columns
			continue
		}
		n, _ := slices.BinarySearch(at[from:], end)
		s.p.k.RowSums(s.of(i), values, first, at[from:from+n], s.p.c.Machines[i].Coef[from:from+n])
		s.done[i] = from + n
	}
	return nil
}

// Result sets dst[i] to the decision value of machine i for object r, when all columns have been
// added: Σ Coef·K - Rho, summed in float64 in the order of the support, each operation rounded by
// itself. A machine that is nil decides 0. It depends neither on the other objects nor on how the
// columns were divided. Errors: an object that isn't there, dst of another length than there are
// machines, columns that haven't been added.
func (s *Sums) Result(r int, dst []float64) error {
	switch {
	case r < 0 || r >= s.width:
		return errUser("object %d of sums for %d objects", r, s.width)
	case len(dst) != len(s.p.at):
		return errUser("room for %d decision values, expected %d, one of each machine", len(dst), len(s.p.at))
	case s.next != s.p.columns:
		return errUser("%d of %d columns have been added, expected all before a result", s.next, s.p.columns)
	}
	for i := range dst {
		dst[i] = s.sums[i*s.width+r]
	}
	return nil
}
