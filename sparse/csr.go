package sparse

// CSR is a sparse matrix in compressed sparse row form: row i, a document, holds the value
// Values[k] in column Terms[k] for Offsets[i] <= k < Offsets[i+1], columns strictly ascending
// within a row.
//
// Values are finite; a stored zero is allowed and means the same as an absent value. Offsets are
// 64-bit, so that the number of stored values may exceed 2³¹.
//
// A matrix may be filled by hand. Functions of this module that return an error check it with
// [CSR.Validate]; methods that return none leave that to their caller, and panic where an index
// they need is out of range.
type CSR struct {
	Cols    int       // number of columns, at most 2³²; every term index is below it
	Offsets []int64   // Rows()+1 offsets into Terms and Values, the first of them 0
	Terms   []uint32  // column of each stored value
	Values  []float32 // the stored values
}

// Rows returns the number of rows.
func (m *CSR) Rows() int { return max(len(m.Offsets)-1, 0) }

// NNZ returns the number of stored values.
func (m *CSR) NNZ() int64 { return int64(len(m.Values)) }

// Row returns the columns and values of row i, which the caller must not change. It panics where
// there is no row i.
func (m *CSR) Row(i int) (terms []uint32, values []float32) {
	lo, hi := m.Offsets[i], m.Offsets[i+1]
	return m.Terms[lo:hi:hi], m.Values[lo:hi:hi]
}

// LongestRow returns the greatest number of values that a row stores. It panics where offsets
// aren't those of a row.
func (m *CSR) LongestRow() int {
	longest := int64(0)
	for i := range m.Rows() {
		m.mustHaveRow(i)
		longest = max(longest, m.Offsets[i+1]-m.Offsets[i])
	}
	return int(longest)
}

// Bytes returns the memory that the matrix holds, in bytes.
func (m *CSR) Bytes() int64 {
	return int64(len(m.Offsets))*8 + int64(len(m.Terms))*4 + int64(len(m.Values))*4
}

// SelectRows returns a new matrix with the given rows of m, in the given order; a row may occur
// more than once. It panics where m has no such row, before it copies any.
func (m *CSR) SelectRows(rows []int) *CSR {
	out := &CSR{Cols: m.Cols, Offsets: make([]int64, 1, len(rows)+1)}
	var nnz int64
	for _, i := range rows {
		m.mustHaveRow(i)
		nnz += m.Offsets[i+1] - m.Offsets[i]
	}
	out.Terms = make([]uint32, 0, nnz)
	out.Values = make([]float32, 0, nnz)
	for _, i := range rows {
		t, v := m.Row(i)
		out.Terms = append(out.Terms, t...)
		out.Values = append(out.Values, v...)
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}

// DocumentFrequency returns, for each column, the number of rows that hold a value other than zero
// in it.
//
// m must be as [CSR.Validate] wants it: DocumentFrequency panics with what it reports.
func (m *CSR) DocumentFrequency() []int32 {
	m.mustBeValid()
	return m.documentFrequency()
}

func (m *CSR) documentFrequency() []int32 {
	df := make([]int32, m.Cols)
	for k, t := range m.Terms {
		if m.Values[k] != 0 {
			df[t]++
		}
	}
	return df
}
