package matrixio

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// table returns a matrix with the given columns in each row. Values depend on row and column.
func table(cols int, rows ...[]uint32) *SparseMatrix {
	return &SparseMatrix{Rows: len(rows), Cols: cols, Row: func(i int) ([]uint32, []float32) {
		var values []float32
		for _, j := range rows[i] {
			values = append(values, float32(i+1)/float32(j+3))
		}
		return rows[i], values
	}}
}

// A written matrix is read unchanged by package sparse and, if it is installed, by SciPy.
func TestCompressed(t *testing.T) {
	dir := t.TempDir()
	for name, m := range map[string]*SparseMatrix{
		"some":  table(5, []uint32{1, 4}, nil, []uint32{0, 1, 2, 3, 4}, []uint32{4}),
		"empty": table(3, nil, nil),
		"none":  table(0),
	} {
		var b bytes.Buffer
		musttest.NoError(t, m.WriteNPZ(&b))
		path := filepath.Join(dir, name+".npz")
		musttest.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
		if name == "none" {
			continue // no documents, which readers reject
		}
		c, err := corpus.Read(t.Context(), path, corpus.Options{})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i := range m.Rows {
			columns, values := m.Row(i)
			if at, v := c.Documents.Row(i); !slices.Equal(at, columns) || !slices.Equal(v, values) {
				t.Errorf("%s: row %d: %v at %v, expected %v at %v", path, i, v, at, values, columns)
			}
		}
	}
	out, err := exec.Command("python3", "-c", `
import sys
try:
    import scipy.sparse
except ImportError:
    print("no scipy")
    sys.exit()
m = scipy.sparse.load_npz(sys.argv[1])
m.check_format()
print(m.format, m.dtype, m.shape, m.nnz, m.toarray()[2].tolist(), scipy.sparse.load_npz(sys.argv[2]).shape)
`, filepath.Join(dir, "some.npz"), filepath.Join(dir, "none.npz")).CombinedOutput()
	want := "csr float32 (4, 5) 8 [1.0, 0.75, 0.6000000238418579, 0.5, 0.4285714328289032] (0, 0)\n"
	if err != nil || strings.HasPrefix(string(out), "no scipy") {
		t.Skipf("SciPy isn't there: %v %s", err, out)
	}
	if string(out) != want {
		t.Errorf("SciPy reads %s, expected %s", out, want)
	}
}

func TestCompressedFullDisk(t *testing.T) {
	for room := range 600 {
		musttest.WantError(table(5, []uint32{1, 4}).WriteNPZ(&brokenDisk{left: room}))(t,
			fmt.Sprintf("room for %d bytes", room))
	}
}
