package matrixio

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
)

// Writer writes the rows of a matrix in order. The caller closes the underlying writer.
type Writer interface {
	// WriteRow writes the next row, one finite value per column. After an error the output is
	// incomplete.
	WriteRow(row []float32) error
}

// Header describes a matrix to write.
type Header struct {
	Rows    int
	Cols    int      // number of columns; 0 for a symmetric matrix
	Labels  []string // one number per row, for libsvm; nil if all labels are 0
	Comment string   // one line, for formats with comments
}

// MinBytes returns a lower bound on the size of the file in bytes. A value takes 4 bytes in npy, at
// least 4 in libsvm ("j:v" and a blank), and at least 2 in MatrixMarket, which holds half of a
// symmetric matrix.
func (h Header) MinBytes(format string) int64 {
	values := float64(h.Rows) * float64(cmp.Or(h.Cols, h.Rows))
	each := map[string]float64{"npy": 4, "libsvm": 4, "mm": 1}[format]
	return int64(min(each*values, math.MaxInt64/2))
}

// Formats returns the names of the formats of [NewWriter].
func Formats() []string { return []string{"npy", "libsvm", "mm"} }

// NewWriter returns a writer of the given format. It writes the format's header to w.
func NewWriter(format string, w io.Writer, h Header) (Writer, error) {
	switch format {
	case "npy":
		_, err := w.Write(NPYHeader("<f4", fmt.Sprintf("(%d, %d)", h.Rows, cmp.Or(h.Cols, h.Rows))))
		return &npyWriter{w: w}, err
	case "libsvm":
		return &libsvmWriter{w: w, labels: h.Labels}, nil
	case "mm":
		if h.Cols > 0 {
			return nil, fmt.Errorf("format mm supports only symmetric matrices; use npy or libsvm")
		}
		return newMatrixMarketWriter(w, h.Rows, h.Comment)
	}
	return nil, fmt.Errorf("unknown format %q; valid formats are %s", format, strings.Join(Formats(), ", "))
}

// FormatOf returns the format for a file name's extension, or "" if the extension is unknown.
func FormatOf(path string) string {
	for _, e := range []struct{ ending, format string }{{".npy", "npy"}, {".mtx", "mm"}, {".mm", "mm"},
		{".svm", "libsvm"}, {".libsvm", "libsvm"}} {
		if strings.HasSuffix(strings.ToLower(path), e.ending) {
			return e.format
		}
	}
	return ""
}
