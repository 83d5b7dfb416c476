package matrixio

import (
	"fmt"
	"io"
	"strings"
)

// matrixMarket writes MatrixMarket's array format for symmetric matrices: the lower triangle,
// column by column, one value a line. Column j from the diagonal downwards is row j from the
// diagonal to the right, so rows can be written as they come. Source: Boisvert, Pozo and Remington,
// The Matrix Market Exchange Formats, NISTIR 5935 (1996).
type matrixMarket struct {
	*counter
	w   io.Writer
	buf []byte
}

func newMatrixMarket(w io.Writer, c *counter, comment string) (*matrixMarket, error) {
	head := "%%MatrixMarket matrix array real symmetric\n"
	if comment != "" {
		head += "% " + strings.ReplaceAll(comment, "\n", " ") + "\n"
	}
	_, err := fmt.Fprintf(w, "%s%d %d\n", head, c.rows, c.cols)
	return &matrixMarket{counter: c, w: w}, err
}

// WriteRow implements Writer.
func (w *matrixMarket) WriteRow(row []float32) error {
	i, err := w.next(row)
	if err != nil {
		return err
	}
	w.buf = w.buf[:0]
	for _, v := range row[i:] {
		w.buf = append(appendFloat(w.buf, v), '\n')
	}
	_, err = w.w.Write(w.buf)
	return err
}
