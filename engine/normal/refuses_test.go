package normal

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// Points that somebody filled by hand are checked before anything is read, and the number of sets
// before memory is asked for.
func TestFitNormalsRefuses(t *testing.T) {
	good := func() *sparse.CSR {
		return &sparse.CSR{
			Cols:    5,
			Offsets: []int64{0, 2, 4, 6, 8},
			Terms:   []uint32{1, 4, 1, 4, 1, 4, 1, 4},
			Values:  []float32{1, 2, 3, 5, -1, 2, 7, 7},
		}
	}
	of, columns := []int32{0, 0, 1, 1}, []uint32{1, 4}
	if _, err := Fit(t.Context(), good(), of, 2); err != nil {
		t.Fatal(err)
	}
	type call struct {
		ctx     context.Context
		points  *sparse.CSR
		of      []int32
		sets    int
		columns []uint32
	}
	for want, spoil := range map[string]func(c *call){
		"row 1: index 1 is not above 1":      func(c *call) { c.points.Terms[3] = 1 },
		"row 3: index 9 is not below":        func(c *call) { c.points.Terms[7] = 9 },
		"row 2, term 1: found NaN":           func(c *call) { c.points.Values[4] = float32(math.NaN()) },
		"row 1: ends at offset 1":            func(c *call) { c.points.Offsets[2] = 1 },
		"no matrix":                          func(c *call) { c.points = nil },
		"nil context":                        func(c *call) { c.ctx = nil },
		"sets of 3 points, expected those":   func(c *call) { c.of = c.of[:3] },
		"-1 sets":                            func(c *call) { c.sets = -1 },
		"belongs to set 1, expected one fro": func(c *call) { c.sets = 1 },
		"point 2 belongs to set -1":          func(c *call) { c.of = []int32{0, 0, -1, 1} },
	} {
		c := call{t.Context(), good(), of, 2, columns}
		spoil(&c)
		_, err := Fit(c.ctx, c.points, c.of, c.sets)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Fit: %v, expected %q", err, want)
		}
		if _, err := FitIn(c.ctx, c.points, c.of, c.sets, c.columns); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("FitIn: %v, expected %q", err, want)
		}
	}
	for want, columns := range map[string][]uint32{"no column": nil, "column 1 behind 4": {4, 1},
		"column 4 behind 4": {1, 4, 4}} {
		if _, err := FitIn(t.Context(), good(), of, 2, columns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("columns %v: %v, expected %q", columns, err, want)
		}
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
	x, err := FitIn(t.Context(), wide, of, 2, []uint32{0, 1, math.MaxUint32})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 2, 0}; !slices.Equal(x.Mean(0), want) {
		t.Errorf("mean %v, expected %v", x.Mean(0), want)
	}
	if _, err := Fit(t.Context(), wide, of, 2); err != nil {
		t.Error(err)
	}
}
