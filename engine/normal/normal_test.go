package normal

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func TestFitNormals(t *testing.T) {
	// Columns 0 and 3 are 0 for all; a stored zero counts as none; set 1 comes first.
	m := &sparse.CSR{
		Cols:    4,
		Offsets: []int64{0, 2, 3, 4, 5},
		Terms:   []uint32{1, 3, 2, 1, 2},
		Values:  []float32{4, 0, 6, 2, 2},
	}
	x := musttest.Get(Fit(t.Context(), m, []int32{1, 0, 1, 0}, 2))(t)
	if x.P() != 2 || x.Mean(0)[0] != 0 || x.Mean(0)[1] != 4 || x.Mean(1)[0] != 3 || x.Mean(1)[1] != 0 ||
		!(math.Abs(x.Sigma(0)-math.Sqrt2) <= 1e-15) ||
		!(math.Abs(x.Sigma(1)-math.Sqrt(0.5)) <= 1e-15) {
		t.Errorf("means %v and %v, deviations %v and %v on R^%d", x.Mean(0), x.Mean(1), x.Sigma(0), x.Sigma(1), x.P())
	}
	var spread *SpreadError
	if _, err := Fit(t.Context(), m, []int32{1, 0, 1, 1}, 2); !errors.As(err, &spread) || spread.Set != 0 ||
		spread.Points != 1 {
		t.Errorf("a set of one point: %v", err)
	}
	if _, err := Fit(t.Context(), m, []int32{1, 0, 1, 0}, 3); !errors.As(err, &spread) || spread.Set != 2 ||
		spread.Points != 0 {
		t.Errorf("a set without points: %v", err)
	}
	for _, of := range [][]int32{{1, 0, 1}, {1, 0, 1, 2}, {1, 0, 1, -1}} {
		if _, err := Fit(t.Context(), m, of, 2); err == nil || errors.As(err, &spread) {
			t.Errorf("sets %v: %v", of, err)
		}
	}
	if _, err := Fit(t.Context(), &sparse.CSR{Cols: 3, Offsets: []int64{0, 0, 0}}, []int32{0, 0}, 1); err == nil ||
		!strings.Contains(err.Error(), "without a coordinate") {
		t.Errorf("points at 0: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, m, []int32{1, 0, 1, 0}, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// embeddedRaw embeds vectors as they are.
func embeddedRaw(t *testing.T, m *sparse.CSR) *sparse.Embedded {
	return enginetest.Embedded(t, sparse.Embedding{}, m)
}

// Distributions as vectors are those of before, to float32; a mean that is 0 for all keeps its
// coordinate.
func TestNormalsAsVectors(t *testing.T) {
	m := &sparse.CSR{
		Cols:    6,
		Offsets: []int64{0, 2, 4, 6, 8},
		Terms:   []uint32{1, 4, 1, 4, 1, 4, 1, 4},
		Values:  []float32{1, 0.1, -1, 0.3, 3, 7, -3, 5},
	}
	x := musttest.Get(Fit(t.Context(), m, []int32{0, 0, 1, 1}, 2))(t)
	v := musttest.Get(x.Vectors(9))(t)
	musttest.Do(t, v.Validate())
	e := embeddedRaw(t, v)
	y := musttest.Get(Of(e))(t)
	if y.P() != 2 || y.Len() != 2 {
		t.Fatalf("%d distributions on R^%d", y.Len(), y.P())
	}
	for i := range 2 {
		for k, want := range x.Mean(i) {
			if got := y.Mean(i)[k]; !(math.Abs(got-want) <= 0x1p-24*math.Abs(want)+0x1p-149) {
				t.Errorf("mean %d of distribution %d is %v, expected %v", k, i, got, want)
			}
		}
		if got, want := y.Sigma(i), x.Sigma(i); !(math.Abs(got-want) <= 0x1p-24*want) {
			t.Errorf("the deviation of distribution %d is %v, expected %v", i, got, want)
		}
	}
	again, err := y.Vectors(9)
	if err != nil || again.NNZ() != v.NNZ() {
		t.Fatal(again, err)
	}
	// Others by the same coordinates: column 1 isn't in use here, column 0 doesn't count, column 4
	// does.
	other := &sparse.CSR{Cols: 5, Offsets: []int64{0, 2, 3}, Terms: []uint32{0, 4, 4}, Values: []float32{100, 1, 3}}
	z, err := FitIn(t.Context(), other, []int32{0, 0}, 1, []uint32{1, 4})
	if err != nil || z.P() != 2 || z.Mean(0)[0] != 0 || z.Mean(0)[1] != 2 ||
		!(math.Abs(z.Sigma(0)-math.Sqrt(0.5)) <= 1e-15) {
		t.Errorf("distributions %+v, error %v", z, err)
	}
	if _, err := x.Vectors(4); err == nil || !strings.Contains(err.Error(), "above 4") {
		t.Errorf("deviations in a column of the points: %v", err)
	}
	v.Values[2] = 0 // σ of the first
	if _, err := Of(embeddedRaw(t, v)); err == nil || !strings.Contains(err.Error(), "vector 1 has the deviation 0") {
		t.Errorf("a distribution without a deviation: %v", err)
	}
	if _, err := Of(enginetest.Embedded(t, sparse.Embedding{Norm: sparse.NormL2}, v)); err == nil ||
		!strings.Contains(err.Error(), "tf-l2, expected distributions of sets of points") {
		t.Errorf("another embedding: %v", err)
	}
	huge := &sparse.CSR{
		Cols:    1,
		Offsets: []int64{0, 1, 2},
		Terms:   []uint32{0, 0},
		Values:  []float32{math.MaxFloat32, -math.MaxFloat32},
	}
	if x, err = Fit(t.Context(), huge, []int32{0, 0}, 1); err != nil {
		t.Fatal(err)
	}
	if v, err := x.Vectors(1); err != nil || v.Values[1] != math.MaxFloat32 {
		t.Errorf("the greatest deviation: %v, %v", v, err)
	}
}
