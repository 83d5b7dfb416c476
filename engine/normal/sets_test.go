package normal

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// A set without points is named before memory is asked for, whatever number of sets there is, and
// coordinates beyond those of the points are 0.
func TestFitOfSetsWithoutPoints(t *testing.T) {
	good := func() *sparse.CSR {
		return &sparse.CSR{
			Cols:    5,
			Offsets: []int64{0, 2, 4, 6, 8},
			Terms:   []uint32{1, 4, 1, 4, 1, 4, 1, 4},
			Values:  []float32{1, 2, 3, 5, -1, 2, 7, 7},
		}
	}
	of := []int32{0, 0, 1, 1}
	if _, err := Fit(t.Context(), good(), of, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := FitIn(t.Context(), good(), of, 2, []uint32{1, 4, 4}); err == nil {
		t.Error("a column twice: no error")
	}
	for _, sets := range []int{3, math.MaxInt32, math.MaxInt} {
		var spread *SpreadError
		if _, err := Fit(t.Context(), good(), of, sets); !errors.As(err, &spread) || spread.Set != 2 ||
			spread.Points != 0 {
			t.Errorf("%d sets: %v", sets, err)
		}
	}
	// Columns that the points don't have are 0, and so many that there are take no memory.
	wide := good()
	wide.Cols = 1 << 32
	x := musttest.Get(FitIn(t.Context(), wide, of, 2, []uint32{0, 1, math.MaxUint32}))(t)
	if want := []float64{0, 2, 0}; !slices.Equal(x.Mean(0), want) {
		t.Errorf("mean %v, expected %v", x.Mean(0), want)
	}
	if _, err := Fit(t.Context(), wide, of, 2); err != nil {
		t.Error(err)
	}
}
