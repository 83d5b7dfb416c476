package sparse

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// CSR is a sparse matrix in compressed sparse row format. Row i, a document, has the value
// Values[k] in column Terms[k] for Offsets[i] <= k < Offsets[i+1]. Columns are strictly increasing
// within a row. Values are finite, and a stored zero is equivalent to an absent value. The number
// of stored values may exceed 2³¹.
//
// The fields may be set directly. Functions that return an error check the rows that they read, as
// [CSR.Validate] does. Other methods require a valid matrix.
type CSR struct {
	Cols    int      // number of columns, at most 2³²; every term index is smaller
	Offsets []int64  // Rows()+1 offsets into Terms and Values, starting with 0
	Terms   []uint32 // column of each stored value
	Values  []float32
	Views   []View // column blocks that are embedded separately, in ascending order; nil for none

	dfSource *CSR // documents that define document frequencies (see [CSR.FoldRows]); nil for the matrix itself
}

// FromDense returns the matrix with the nonzero values of data, where data[i*cols+j] is the value
// in row i and column j. It fails if rows or cols is negative, if cols exceeds [MaxCols], if
// len(data) isn't rows*cols, or if a value isn't finite.
func FromDense(rows, cols int, data []float32) (*CSR, error) {
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/cols || len(data) != rows*cols {
		return nil, fmt.Errorf("sparse: %d values do not match a %d×%d matrix", len(data), rows, cols)
	}
	m := &CSR{Cols: cols, Offsets: make([]int64, rows+1)}
	for i := range rows {
		for _, v := range data[i*cols : (i+1)*cols] {
			if v != 0 {
				m.Offsets[i+1]++
			}
		}
	}
	m.Allocate()
	at := 0
	for k, v := range data {
		if v != 0 {
			m.Terms[at], m.Values[at] = uint32(k%cols), v
			at++
		}
	}
	return m, m.Validate()
}

// Rows returns the number of rows.
func (m *CSR) Rows() int { return max(len(m.Offsets)-1, 0) }

// NNZ returns the number of stored values.
func (m *CSR) NNZ() int64 { return int64(len(m.Values)) }

// Row returns the columns and values of row i, which the caller must not change.
func (m *CSR) Row(i int) (terms []uint32, values []float32) {
	lo, hi := m.Offsets[i], m.Offsets[i+1]
	return m.Terms[lo:hi:hi], m.Values[lo:hi:hi]
}

// MaxRowLen returns the maximum number of stored values in a row.
func (m *CSR) MaxRowLen() int {
	longest := int64(0)
	for i := range m.Rows() {
		longest = max(longest, m.Offsets[i+1]-m.Offsets[i])
	}
	return int(longest)
}

// Bytes returns the size of the matrix in bytes.
func (m *CSR) Bytes() int64 {
	return int64(len(m.Offsets))*8 + int64(len(m.Terms))*4 + int64(len(m.Values))*4
}

// SelectRows returns a matrix of the rows rows[0], rows[1], … of m. A row may be repeated.
func (m *CSR) SelectRows(rows []int) *CSR {
	out := &CSR{Cols: m.Cols, Offsets: make([]int64, len(rows)+1), Views: m.Views, dfSource: m.dfSource}
	for k, i := range rows {
		out.Offsets[k+1] = m.Offsets[i+1] - m.Offsets[i]
	}
	out.Allocate()
	for k, i := range rows {
		terms, values := m.Row(i)
		copy(out.Terms[out.Offsets[k]:], terms)
		copy(out.Values[out.Offsets[k]:], values)
	}
	return out
}

// FoldRows is like SelectRows, for the training set of a fold in cross-validation. Embeddings
// fitted to the result use the terms and document frequencies of all rows of m. Embeddings that
// scale columns or use labels use only the selected rows.
func (m *CSR) FoldRows(rows []int) *CSR {
	out := m.SelectRows(rows)
	out.dfSource = cmp.Or(m.dfSource, m)
	return out
}

// EmptyRowCount returns the number of rows without nonzero values.
func (m *CSR) EmptyRowCount() (count int) {
	for i := range m.Rows() {
		_, values := m.Row(i)
		if !slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
			count++
		}
	}
	return count
}

// Allocate converts row lengths, stored in Offsets[i+1] for row i, to offsets by a prefix sum, and
// allocates Terms and Values accordingly.
func (m *CSR) Allocate() {
	for i := range m.Rows() {
		m.Offsets[i+1] += m.Offsets[i]
	}
	nnz := m.Offsets[m.Rows()]
	m.Terms, m.Values = make([]uint32, nnz), make([]float32, nnz)
}

// MaxTerms returns an upper bound on the number of nonempty columns.
func (m *CSR) MaxTerms() int { return min(m.Cols, len(m.Terms)) }

// DocumentFrequency returns the number of rows with a nonzero value, per column.
func (m *CSR) DocumentFrequency() []int32 {
	df := make([]int32, m.Cols)
	for k, t := range m.Terms {
		if m.Values[k] != 0 {
			df[t]++
		}
	}
	return df
}

// BlockSize is the number of documents whose dot products are computed together. Column ranges of a
// Gram matrix start at multiples of BlockSize.
const BlockSize = 128

// MaxCols is the maximum number of columns of a matrix.
const MaxCols = 1 << 32

// Validate returns an error if the matrix violates the rules of [CSR]. If only rows are invalid,
// the error describes the first invalid row. For a value that isn't finite, the error is a
// [*ValueError]. Reading a valid matrix never goes out of bounds. Validate never panics.
func (m *CSR) Validate() error {
	if err := m.validateShape(); err != nil {
		return err
	}
	return m.checkRows(m.validateRow)
}

// validateShape checks the lengths, the first and last offset, the number of columns and the views,
// in constant time.
func (m *CSR) validateShape() error {
	switch {
	case m == nil:
		return fmt.Errorf("sparse: matrix is nil")
	case m.Cols < 0 || int64(m.Cols) > MaxCols:
		return fmt.Errorf("sparse: Cols must be between 0 and %d, got %d", int64(MaxCols), m.Cols)
	case len(m.Offsets) == 0 || m.Offsets[0] != 0:
		return fmt.Errorf("sparse: Offsets must start with 0, got %v", m.Offsets[:min(len(m.Offsets), 1)])
	case len(m.Terms) != len(m.Values) || m.Offsets[len(m.Offsets)-1] != int64(len(m.Values)):
		return fmt.Errorf("sparse: got %d terms and %d values, but the last offset is %d",
			len(m.Terms), len(m.Values), m.Offsets[len(m.Offsets)-1])
	}
	return validateViews(m.Views, m.Cols)
}

// validateRow checks that the offsets of row i are valid, that its columns increase and are below
// Cols, and that its values are finite. The shape must be valid.
func (m *CSR) validateRow(i int) error {
	lo, hi := m.Offsets[i], m.Offsets[i+1]
	if lo < 0 || hi < lo || hi > int64(len(m.Values)) {
		return fmt.Errorf("sparse: row %d: offsets must be ascending and at most %d, got %d and %d", i, len(m.Values),
			lo, hi)
	}
	const exponent = 0xff << 23 // exponent bits, which are all set if a value is infinite or NaN
	last := int64(-1)
	terms, values := m.Row(i)
	for k, t := range terms {
		if int64(t) <= last {
			return fmt.Errorf("sparse: row %d: index %d follows %d, but indices must increase", i, t, last)
		}
		if last = int64(t); math.Float32bits(values[k])&exponent == exponent {
			return &ValueError{i, t, values[k], "finite"}
		}
	}
	if last >= int64(m.Cols) {
		return fmt.Errorf("sparse: row %d: index %d is out of range for %d columns", i, last, m.Cols)
	}
	return nil
}

// checkRows checks rows concurrently and returns the error of the first invalid row.
func (m *CSR) checkRows(check func(i int) error) error {
	return run.ForEachChunk(context.Background(), run.NumWorkers(0), m.Rows(), func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := check(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// TermFrequencies returns the columns with nonzero values, ascending, and the number of nonzero
// values in each. Its memory is proportional to the number of stored values, not to the number of
// columns as for [CSR.DocumentFrequency], because hashed features or a malicious file may have many
// more columns.
func (m *CSR) TermFrequencies() (terms []uint32, df []int32) {
	if int64(m.Cols) <= maxTableLen(m.NNZ()) {
		for t, n := range m.DocumentFrequency() {
			if n > 0 {
				terms, df = append(terms, uint32(t)), append(df, n)
			}
		}
		return terms, df
	}
	seen := make([]uint32, 0, len(m.Terms))
	for k, t := range m.Terms {
		if m.Values[k] != 0 {
			seen = append(seen, t)
		}
	}
	slices.Sort(seen)
	for k, t := range seen {
		if k == 0 || t != seen[k-1] {
			terms, df = append(terms, t), append(df, 0)
		}
		df[len(df)-1]++
	}
	return terms, df
}

// LimitDF removes the values of terms whose document frequency is outside [minDF, maxDF], in place.
// Column indices don't change.
func (m *CSR) LimitDF(minDF, maxDF int) {
	terms, df := m.TermFrequencies()
	var kept []uint32
	for j, n := range df {
		if minDF <= int(n) && int(n) <= maxDF {
			kept = append(kept, terms[j])
		}
	}
	table := newTermTable(kept, m.NNZ())
	var to, from int64
	for i := range m.Rows() {
		end := m.Offsets[i+1]
		for ; from < end; from++ {
			if _, ok := table.find(m.Terms[from]); ok {
				m.Terms[to], m.Values[to] = m.Terms[from], m.Values[from]
				to++
			}
		}
		m.Offsets[i+1] = to
	}
	m.Terms, m.Values = m.Terms[:to:to], m.Values[:to:to]
}

// maxTableLen returns the maximum length of a table that is indexed by column, for a matrix of nnz
// stored values.
func maxTableLen(nnz int64) int64 { return nnz + 1<<20 }

// termTable finds terms in an ascending list. Unless the terms are contiguous, it uses a table
// indexed by term if the table is small enough, otherwise binary search.
type termTable struct {
	terms      []uint32
	contiguous bool     // true if the terms are 0, 1, 2, ...
	positions  []uint32 // index+1 of each term, 0 for terms outside the list; nil if contiguous, or for binary search
}

// isFor reports whether the table was made for this slice of terms.
func (t *termTable) isFor(terms []uint32) bool {
	return t != nil && len(t.terms) == len(terms) && (len(terms) == 0 || &t.terms[0] == &terms[0])
}

func newTermTable(terms []uint32, nnz int64) *termTable {
	t := &termTable{terms: terms}
	if len(terms) == 0 {
		return t
	}
	if t.contiguous = int(terms[len(terms)-1]) == len(terms)-1; t.contiguous {
		return t
	}
	if last := int64(terms[len(terms)-1]); last < maxTableLen(nnz) {
		t.positions = make([]uint32, last+1)
		for j, term := range terms {
			t.positions[term] = uint32(j) + 1
		}
	}
	return t
}

func (t *termTable) find(term uint32) (uint32, bool) {
	if t.contiguous {
		return term, int64(term) < int64(len(t.terms))
	}
	if t.positions != nil {
		if int64(term) >= int64(len(t.positions)) {
			return 0, false
		}
		p := t.positions[term]
		return p - 1, p > 0
	}
	j, ok := slices.BinarySearch(t.terms, term)
	return uint32(j), ok
}

// RowSorter sorts the entries of rows by term. It reuses its buffer.
type RowSorter struct {
	entries []uint64 // term and value bits of each entry, so that sorting moves both
}

// Sort sorts the entries of a row by term in place.
func (s *RowSorter) Sort(terms []uint32, values []float32) {
	if slices.IsSorted(terms) {
		return
	}
	s.entries = s.entries[:0]
	for k, t := range terms {
		s.entries = append(s.entries, uint64(t)<<32|uint64(math.Float32bits(values[k])))
	}
	slices.Sort(s.entries)
	for k, x := range s.entries {
		terms[k], values[k] = uint32(x>>32), math.Float32frombits(uint32(x))
	}
}
