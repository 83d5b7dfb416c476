package matrixio

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
)

// Writer writes the rows of a matrix, in order, to a writer that the caller closes.
type Writer interface {
	// WriteRow writes the next row, a value for each column, all finite. After an error the matrix isn't complete.
	WriteRow(row []float32) error
}

// Header is what a format wants to know beforehand.
type Header struct {
	Rows    int
	Cols    int      // 0 for as many as rows, of a symmetric matrix
	Labels  []string // one a row, for libsvm: numbers as text, finite; nil stands for 0 everywhere
	Comment string   // one line, for formats with comments
}

// MinBytes returns a lower bound on the size of the file in bytes. A value takes 4 bytes in npy, at least 4 in libsvm
// ("j:v" and a blank), and at least 2 in MatrixMarket, which holds half of a symmetric matrix.
func (h Header) MinBytes(format string) int64 {
	values := float64(h.Rows) * float64(cmp.Or(h.Cols, h.Rows))
	each := map[string]float64{"npy": 4, "libsvm": 4, "mm": 1}[format]
	return int64(min(each*values, math.MaxInt64/2))
}

// Formats lists the names that NewWriter knows.
func Formats() []string { return []string{"npy", "libsvm", "mm"} }

// NewWriter returns a writer of the given format, having written the format's header to w.
func NewWriter(format string, w io.Writer, h Header) (Writer, error) {
	switch format {
	case "npy":
		_, err := w.Write(NPYHeader("<f4", fmt.Sprintf("(%d, %d)", h.Rows, cmp.Or(h.Cols, h.Rows))))
		return &npy{w: w}, err
	case "libsvm":
		return &libsvm{w: w, labels: h.Labels}, nil
	case "mm":
		if h.Cols > 0 {
			return nil, fmt.Errorf("format mm is that of symmetric matrices, expected npy or libsvm")
		}
		return newMatrixMarket(w, h.Rows, h.Comment)
	}
	return nil, fmt.Errorf("format %q is unknown, expected one of %s", format, strings.Join(Formats(), ", "))
}

// FormatOf returns the format that a file name's ending stands for, or "".
func FormatOf(path string) string {
	for _, e := range []struct{ ending, format string }{{".npy", "npy"}, {".mtx", "mm"}, {".mm", "mm"},
		{".svm", "libsvm"}, {".libsvm", "libsvm"}} {
		if strings.HasSuffix(strings.ToLower(path), e.ending) {
			return e.format
		}
	}
	return ""
}
