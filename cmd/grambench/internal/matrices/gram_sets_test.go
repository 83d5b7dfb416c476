package matrices

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Where memory doesn't hold the matrix it is written in stripes, which gives the same file.
func TestSetsInStripes(t *testing.T) {
	const sets = 700
	m := &sparse.CSR{Cols: 1, Offsets: []int64{0}}
	var of []int32
	for i := range 2 * sets {
		m.Terms, m.Values = append(m.Terms, 0), append(m.Values, float32(i%97+i/sets*(1+i%13)))
		m.Offsets = append(m.Offsets, int64(i+1))
		of = append(of, int32(i%sets))
	}
	x := musttest.Get(normal.Fit(t.Context(), m, of, sets))(t)
	k := musttest.Get(engine.NewHyperbolic(t.Context(), kernel.Hyperbolic{T: 1}, x, engine.Options{}))(t)
	var files [][]byte
	for method, memory := range map[string]cli.ByteSize{"matrix": 1 << 30, "stripes": 4*sets*sets - 1} {
		g := &gram{}
		g.Memory = memory
		row := &gramRow{File: filepath.Join(t.TempDir(), "K.npy"), Format: "npy", Method: "matrix"}
		musttest.Do(t, g.writeSets(t.Context(), &cli.Progress{}, k, 0, matrixio.Header{Rows: sets}, row))
		if row.Method != method {
			t.Errorf("with %d bytes the method is %s, expected %s", memory, row.Method, method)
		}
		data := musttest.Get(os.ReadFile(row.File))(t)
		files = append(files, data)
	}
	if len(files[0]) < 4*sets*sets || !bytes.Equal(files[0], files[1]) {
		t.Errorf("files of %d and %d bytes, expected the same of both methods", len(files[0]), len(files[1]))
	}
	g := &gram{}
	g.Memory = 4 * sets * stripeOfSets
	row := &gramRow{File: filepath.Join(t.TempDir(), "K.npy"), Format: "npy", Method: "matrix"}
	if err := g.writeSets(t.Context(), &cli.Progress{}, k, 1, matrixio.Header{Rows: sets}, row); err == nil {
		t.Error("memory that doesn't hold a stripe is enough")
	}
}
