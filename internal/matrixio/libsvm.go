package matrixio

import (
	"io"
	"strconv"
)

// libsvmWriter writes LIBSVM's format of precomputed kernels, which svm-train reads with -t 4. Row
// i is
//
//	label 0:i 1:k(i,1) 2:k(i,2) ... n:k(i,n)
//
// with i counted from 1. Values have the smallest number of digits that identifies the float32.
// Source: the README of LIBSVM, "Precomputed Kernels".
type libsvmWriter struct {
	w      io.Writer
	labels []string // one number per row as text; nil if all labels are 0
	row    int      // index of the next row
	buf    []byte
}

func (w *libsvmWriter) WriteRow(row []float32) error {
	b := w.buf[:0]
	if w.labels == nil {
		b = append(b, '0')
	} else {
		b = append(b, w.labels[w.row]...)
	}
	b = append(b, " 0:"...)
	w.row++
	b = strconv.AppendInt(b, int64(w.row), 10)
	for j, v := range row {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(j+1), 10)
		b = append(b, ':')
		b = appendFloat(b, v)
	}
	w.buf = append(b, '\n')
	_, err := w.w.Write(w.buf)
	return err
}

func appendFloat(b []byte, v float32) []byte { return strconv.AppendFloat(b, float64(v), 'g', -1, 32) }
