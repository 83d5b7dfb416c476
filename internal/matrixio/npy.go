package matrixio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// npyWriter writes NumPy's format, version 1.0: magic string, version number, header length,
// header, then the values row by row as little-endian float32. The header ends at a multiple of 64
// bytes, so that numpy.load can map the file into memory. Source: NumPy Enhancement Proposal 1.
type npyWriter struct {
	w   io.Writer
	buf []byte
}

// NPYHeader returns the header of an array. of is the element type. of and shape are in NumPy's
// notation.
func NPYHeader(of, shape string) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", of, shape)
	const before = 6 + 2 + 2 // magic, version, length
	for (before+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(header)))
	return append(b, header...)
}

func (w *npyWriter) WriteRow(row []float32) error {
	w.buf = w.buf[:0]
	for _, v := range row {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(v))
	}
	_, err := w.w.Write(w.buf)
	return err
}
