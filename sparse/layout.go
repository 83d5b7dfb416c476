package sparse

import (
	"context"
	"fmt"
	"slices"
)

// Layout is the order and the division of the columns that panel dot products want: columns
// renumbered by falling document frequency, so that a column's number is its rank; the first ranks,
// the head, in segments, are multiplied through dense panels of Panel documents; the others, the
// tail, through posting lists.
//
// Words are distributed by Zipf's law: nearly all matches between two documents come from the few
// most frequent terms. Sums are taken from the rarest term to the most frequent one, so that small
// products meet small sums.
//
// Segments hold at most 65536/Panel ranks, so that an offset into a segment of a panel fits 16
// bits. [Layout.Validate] checks this.
type Layout struct {
	Panel  int      // documents in a panel
	Bounds []int    // segment s of the head holds the ranks Bounds[s] <= rank < Bounds[s+1]; Bounds[0] is 0, the last at most Cols
	Cols   int      // number of columns
	Rank   []uint32 // Rank[column], a permutation
}

// Segments returns the number of segments that the head has.
func (l *Layout) Segments() int { return max(len(l.Bounds)-1, 0) }

// Head returns the number of ranks in the head.
func (l *Layout) Head() int {
	if len(l.Bounds) == 0 {
		return 0
	}
	return l.Bounds[l.Segments()]
}

// offsets is how many places of a panel a 16-bit offset can tell apart.
const offsets = 1 << 16

// Validate reports the first violation of what is stated at [Layout], or nil. It takes time and
// memory in proportion to Cols.
func (l *Layout) Validate() error {
	switch {
	case l == nil:
		return fmt.Errorf("sparse: no layout, expected one")
	case l.Panel < 1 || l.Panel > offsets:
		return fmt.Errorf("sparse: layout with panels of %d documents, expected 1 to %d", l.Panel, offsets)
	case len(l.Bounds) == 0 || l.Bounds[0] != 0:
		return fmt.Errorf("sparse: layout with the bounds %v, expected 0 as the first",
			l.Bounds[:min(len(l.Bounds), 1)])
	case l.Cols < 0 || len(l.Rank) != l.Cols:
		return fmt.Errorf("sparse: layout with %d ranks of %d columns, expected one for each", len(l.Rank), l.Cols)
	}
	for s := range l.Segments() {
		switch lo, hi := l.Bounds[s], l.Bounds[s+1]; {
		case hi < lo || hi > l.Cols:
			return fmt.Errorf("sparse: layout: segment %d ends at rank %d, expected %d to %d", s, hi, lo, l.Cols)
		case hi-lo > offsets/l.Panel:
			return fmt.Errorf("sparse: layout: segment %d has %d ranks, expected at most %d for panels of %d documents",
				s, hi-lo, offsets/l.Panel, l.Panel)
		}
	}
	return permutation(l.Rank)
}

// permutation checks that a list holds every number below its length once.
func permutation(list []uint32) error {
	seen := make([]bool, len(list))
	for k, j := range list {
		switch {
		case int64(j) >= int64(len(list)):
			return fmt.Errorf("sparse: place %d of a permutation has %d, expected 0 to %d", k, j, len(list)-1)
		case seen[j]:
			return fmt.Errorf("sparse: place %d of a permutation has %d a second time", k, j)
		}
		seen[j] = true
	}
	return nil
}

// Order returns the columns in the order of falling document frequency, equal ones in their own
// order.
func Order(df []int32) []uint32 {
	order := make([]uint32, len(df))
	for j := range order {
		order[j] = uint32(j)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return int(df[b]) - int(df[a]) })
	return order
}

// Ranks inverts an order of columns: the result r has r[order[i]] = i. It panics where order isn't
// a permutation.
func Ranks(order []uint32) []uint32 {
	if err := permutation(order); err != nil {
		panic(err.Error())
	}
	rank := make([]uint32, len(order))
	for r, j := range order {
		rank[j] = uint32(r)
	}
	return rank
}

// ByRank returns the transpose of a matrix with its rows in the order of ranks: row r holds the
// documents, ascending, that have the column of rank r, and their values. It works on a number of
// goroutines, 0 standing for one a processor.
//
// Errors: a matrix that [CSR.Validate] refuses, more rows than terms can number, ranks that aren't
// a permutation of the columns, the end of ctx.
func ByRank(ctx context.Context, m *CSR, rank []uint32, workers int) (*CSR, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if n := m.Rows(); int64(n) > mostCols {
		return nil, fmt.Errorf("sparse: a matrix of %d rows, expected at most %d to be columns", n, int64(mostCols))
	}
	if len(rank) != m.Cols {
		return nil, fmt.Errorf("sparse: %d ranks, expected %d, one for each column", len(rank), m.Cols)
	}
	if err := permutation(rank); err != nil {
		return nil, err
	}
	workers, err := goroutines(workers)
	if err != nil {
		return nil, err
	}
	return transpose(ctx, m, rank, workers)
}
