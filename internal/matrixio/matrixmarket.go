package matrixio

import (
	"fmt"
	"io"
	"strings"
)

// matrixMarketWriter writes MatrixMarket's array format for symmetric matrices: the lower triangle,
// column by column, one value per line. By symmetry, column j below the diagonal equals row j right
// of the diagonal, so rows are written in order. Source: Boisvert, Pozo and Remington, The Matrix
// Market Exchange Formats, NISTIR 5935 (1996).
type matrixMarketWriter struct {
	w   io.Writer
	row int // index of the next row
	buf []byte
}

func newMatrixMarketWriter(w io.Writer, n int, comment string) (*matrixMarketWriter, error) {
	head := "%%MatrixMarket matrix array real symmetric\n"
	if comment != "" {
		head += "% " + strings.ReplaceAll(comment, "\n", " ") + "\n"
	}
	_, err := fmt.Fprintf(w, "%s%d %d\n", head, n, n)
	return &matrixMarketWriter{w: w}, err
}

func (w *matrixMarketWriter) WriteRow(row []float32) error {
	w.buf = w.buf[:0]
	for _, v := range row[w.row:] {
		w.buf = append(appendFloat(w.buf, v), '\n')
	}
	w.row++
	_, err := w.w.Write(w.buf)
	return err
}
