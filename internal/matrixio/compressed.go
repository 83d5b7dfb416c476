package matrixio

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// SparseMatrix is a sparse matrix that is written row by row. Row returns the column indices of row
// i in ascending order, and their values, which must be finite. Both slices are valid until the
// next call of Row.
type SparseMatrix struct {
	Rows, Cols int
	Row        func(i int) (columns []uint32, values []float32)
}

func (m *SparseMatrix) visitRows(visit func(i int, columns []uint32, values []float32) error) error {
	for i := range m.Rows {
		columns, values := m.Row(i)
		if err := visit(i, columns, values); err != nil {
			return err
		}
	}
	return nil
}

func (m *SparseMatrix) countValues() (n int64, err error) {
	err = m.visitRows(func(_ int, columns []uint32, _ []float32) error { n += int64(len(columns)); return nil })
	return n, err
}

// WriteNPZ writes a CSR matrix in the format of scipy.sparse.save_npz, a zip file of five arrays,
// for scipy.sparse.load_npz. It calls Row four times per row.
func (m *SparseMatrix) WriteNPZ(w io.Writer) error {
	n, err := m.countValues()
	if err != nil {
		return err
	}
	archive := zip.NewWriter(w)
	member := func(name, of, shape string, write func(w *bufio.Writer) error) error {
		f, err := archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		b := bufio.NewWriter(f)
		if _, err := b.Write(NPYHeader(of, shape)); err != nil {
			return err
		}
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	}
	put := func(w io.Writer, v any) error { return binary.Write(w, binary.LittleEndian, v) }
	index, long := "<i4", n > math.MaxInt32 || m.Cols > math.MaxInt32
	if long {
		index = "<i8"
	}
	number := func(w *bufio.Writer, v int64) error {
		b := w.AvailableBuffer()
		if long {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		_, err := w.Write(b)
		return err
	}
	for _, f := range []struct {
		name, of, shape string
		write           func(w *bufio.Writer) error
	}{
		{"indices", index, fmt.Sprintf("(%d,)", n), func(w *bufio.Writer) error {
			return m.visitRows(func(_ int, columns []uint32, _ []float32) (err error) {
				for _, j := range columns {
					if err = number(w, int64(j)); err != nil {
						break
					}
				}
				return err
			})
		}},
		{"indptr", index, fmt.Sprintf("(%d,)", m.Rows+1), func(w *bufio.Writer) error {
			end := int64(0)
			if err := number(w, end); err != nil {
				return err
			}
			return m.visitRows(func(_ int, columns []uint32, _ []float32) error {
				end += int64(len(columns))
				return number(w, end)
			})
		}},
		{"format", "|S3", "()", func(w *bufio.Writer) error { return put(w, []byte("csr")) }},
		{"shape", "<i8", "(2,)", func(w *bufio.Writer) error { return put(w, []int64{int64(m.Rows), int64(m.Cols)}) }},
		{"data", "<f4", fmt.Sprintf("(%d,)", n), func(w *bufio.Writer) error {
			return m.visitRows(func(_ int, _ []uint32, values []float32) (err error) {
				for _, v := range values {
					_, err = w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), math.Float32bits(v)))
					if err != nil {
						break
					}
				}
				return err
			})
		}},
	} {
		if err := member(f.name, f.of, f.shape, f.write); err != nil {
			return err
		}
	}
	return archive.Close()
}
