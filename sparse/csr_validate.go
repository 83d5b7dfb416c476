package sparse

import (
	"context"
	"fmt"
	"math"
	"runtime"
)

// mostCols is the greatest number of columns that terms can number.
const mostCols = 1 << 32

// Validate reports the first violation of the invariants that are stated at [CSR], or nil: of the
// matrix as a whole, then of the first bad row. A value that isn't finite is a [*ValueError].
//
// This is where a matrix becomes trusted: what Validate accepts, nothing that takes a matrix can
// read beyond. It never panics. It takes one pass, over several goroutines where there are many
// values.
func (m *CSR) Validate() error {
	if err := m.validateShape(); err != nil {
		return err
	}
	return m.eachRow(func(i int) error { return m.validateRow(i) })
}

// mustBeValid panics with what Validate reports.
func (m *CSR) mustBeValid() {
	if err := m.Validate(); err != nil {
		panic(err.Error())
	}
}

// mustHaveRow panics where the matrix has no row i, or what is to be one can't be read.
func (m *CSR) mustHaveRow(i int) {
	if i < 0 || i >= m.Rows() {
		panic(fmt.Sprintf("sparse: row %d of a matrix of %d rows", i, m.Rows()))
	}
	if len(m.Terms) != len(m.Values) {
		panic(fmt.Sprintf("sparse: a matrix of %d terms and %d values", len(m.Terms), len(m.Values)))
	}
	if err := m.validateSpan(i); err != nil {
		panic(err.Error())
	}
}

// validateShape checks what takes no pass: the slices' lengths, the ends of the offsets and the
// number of columns.
func (m *CSR) validateShape() error {
	switch {
	case m == nil:
		return fmt.Errorf("sparse: no matrix, expected one")
	case m.Cols < 0 || int64(m.Cols) > mostCols:
		return fmt.Errorf("sparse: %d columns, expected 0 to %d", m.Cols, int64(mostCols))
	case len(m.Offsets) == 0:
		return fmt.Errorf("sparse: no offsets, expected one more than there are rows, the first of them 0")
	case m.Offsets[0] != 0:
		return fmt.Errorf("sparse: the first offset is %d, expected 0", m.Offsets[0])
	case len(m.Terms) != len(m.Values) || m.Offsets[len(m.Offsets)-1] != int64(len(m.Values)):
		return fmt.Errorf("sparse: %d terms and %d values, expected as many of each as the last offset says, %d",
			len(m.Terms), len(m.Values), m.Offsets[len(m.Offsets)-1])
	}
	return nil
}

// validateRow checks one row of a matrix whose shape is valid: its offsets and what lies between
// them.
func (m *CSR) validateRow(i int) error {
	if err := m.validateSpan(i); err != nil {
		return err
	}
	terms, values := m.Row(i)
	return validateValues(i, terms, values, int64(m.Cols))
}

// validateSpan checks the two offsets of a row.
func (m *CSR) validateSpan(i int) error {
	lo, hi := m.Offsets[i], m.Offsets[i+1]
	switch {
	case lo < 0 || lo > int64(len(m.Values)):
		return fmt.Errorf("sparse: row %d: begins at offset %d, expected 0 to %d", i, lo, len(m.Values))
	case hi < lo:
		return fmt.Errorf("sparse: row %d: ends at offset %d, expected at least %d, where it begins", i, hi, lo)
	case hi > int64(len(m.Values)):
		return fmt.Errorf("sparse: row %d: ends at offset %d, expected at most %d, the number of values",
			i, hi, len(m.Values))
	}
	return nil
}

// validateValues checks that the columns of a row ascend below cols and that its values are finite.
func validateValues(i int, terms []uint32, values []float32, cols int64) error {
	const exponent = 0xff << 23 // all bits set: infinite, or not a number
	last := int64(-1)
	for k, t := range terms {
		if int64(t) <= last {
			return fmt.Errorf("sparse: row %d: index %d is not above %d", i, t, last)
		}
		if last = int64(t); math.Float32bits(values[k])&exponent == exponent {
			return &ValueError{Row: i, Term: t, Value: values[k], Expected: "a finite value"}
		}
	}
	if last >= cols {
		return fmt.Errorf("sparse: row %d: index %d is not below the number of columns, %d", i, last, cols)
	}
	return nil
}

// eachRow returns the error of the first row for which check has one. It works on several
// goroutines where there are many values.
func (m *CSR) eachRow(check func(i int) error) error {
	const chunk, few = 512, 1 << 15 // rows of a task; values that one goroutine checks sooner
	n := m.Rows()
	first := func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			if err := check(i); err != nil {
				return err
			}
		}
		return nil
	}
	if len(m.Values) < few || n <= chunk {
		return first(0, n)
	}
	bad := make([]error, (n+chunk-1)/chunk)
	err := parallel(context.Background(), runtime.GOMAXPROCS(0), len(bad), func(c int) {
		bad[c] = first(c*chunk, min(n, (c+1)*chunk))
	})
	if err != nil {
		return err
	}
	for _, err := range bad {
		if err != nil {
			return err
		}
	}
	return nil
}
