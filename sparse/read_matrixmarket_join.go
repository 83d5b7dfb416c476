package sparse

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// joinEntries sorts the entries into rows. Where an entry occurs twice it reports the first that
// repeats another.
func joinEntries(ctx context.Context, opt *Options, h marketHeader, pieces []*entryPiece) (*CSR, *SyntaxError, error) {
	m := &CSR{Cols: int(h.cols), Offsets: make([]int64, h.rows+1)}
	for _, p := range pieces {
		for _, row := range p.rows {
			m.Offsets[row+1]++
		}
	}
	for i := range h.rows {
		m.Offsets[i+1] += m.Offsets[i]
	}
	nnz := m.Offsets[h.rows]
	m.Terms, m.Values = make([]uint32, nnz), make([]float32, nnz)
	next := slices.Clone(m.Offsets)
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for k, row := range p.rows {
			at := next[row]
			next[row]++
			m.Terms[at], m.Values[at] = p.cols[k], p.values[k]
		}
	}
	var repeated atomic.Bool
	const chunk = 1024
	err := parallel(ctx, opt.Workers, (m.Rows()+chunk-1)/chunk, func(c int) {
		var s rowSorter
		for i := c * chunk; i < min(m.Rows(), (c+1)*chunk) && ctx.Err() == nil; i++ {
			terms, values := m.Row(i)
			s.sort(terms, values)
			for k := 1; k < len(terms); k++ {
				if terms[k] == terms[k-1] {
					repeated.Store(true)
				}
			}
		}
	})
	if err != nil || !repeated.Load() {
		return m, nil, err
	}
	return nil, firstRepeated(m, pieces), nil
}

// firstOfFew finds the first entry of the file that repeats another, where there are few entries
// for the rows.
func firstOfFew(ctx context.Context, pieces []*entryPiece) (*SyntaxError, error) {
	seen := map[[2]uint32]struct{}{}
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k, row := range p.rows {
			entry := [2]uint32{row, p.cols[k]}
			if _, twice := seen[entry]; twice {
				return p.again(k), nil
			}
			seen[entry] = struct{}{}
		}
	}
	return nil, nil
}

// again is the error of an entry that repeats another.
func (p *entryPiece) again(k int) *SyntaxError {
	return &SyntaxError{
		Line:     p.firstLine + int64(p.line(k)),
		Found:    fmt.Sprintf("row %d, column %d again", p.rows[k]+1, p.cols[k]+1),
		Expected: "every entry once",
	}
}

// firstRepeated finds the first entry of the file that repeats another; in m, sorted, the two are
// neighbours.
func firstRepeated(m *CSR, pieces []*entryPiece) *SyntaxError {
	met := map[[2]uint32]bool{} // the entries that occur twice, true once one of them was met
	for i := range m.Rows() {
		terms, _ := m.Row(i)
		for k := 1; k < len(terms); k++ {
			if terms[k] == terms[k-1] {
				met[[2]uint32{uint32(i), terms[k]}] = false
			}
		}
	}
	for _, p := range pieces {
		for k, row := range p.rows {
			entry := [2]uint32{row, p.cols[k]}
			switch before, twice := met[entry]; {
			case before:
				return p.again(k)
			case twice:
				met[entry] = true
			}
		}
	}
	return nil
}
