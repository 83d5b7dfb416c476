package cho

import (
	"math"
	"testing"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/cmd/grambench/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

// deslanted returns the image that deslant makes of one.
func deslanted(t *testing.T, image []float32) []float32 {
	t.Helper()
	m := &sparse.CSR{Cols: larochelle.Pixels, Offsets: []int64{0}}
	for k, v := range image {
		if v != 0 {
			m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, v)
		}
	}
	m.Offsets = append(m.Offsets, int64(len(m.Values)))
	to := deslant(&sparse.Corpus{Documents: m}).Documents
	if err := to.Validate(); err != nil {
		t.Fatal(err)
	}
	out := make([]float32, larochelle.Pixels)
	terms, values := to.Row(0)
	for k, term := range terms {
		out[term] = values[k]
	}
	return out
}

// An upright line, one row and nothing at all stay as they are; a slanted line becomes upright with
// the same mass in each row; what lies askew in the corners stays in the image.
func TestDeslant(t *testing.T) {
	const side = larochelle.Side
	line := func(slope float64) []float32 { // a pixel thick, on one column of a row or on two
		image := make([]float32, larochelle.Pixels)
		for y := 9; y <= 19; y++ {
			left, share := math.Modf(14 + slope*float64(y-14))
			at := y*side + int(left)
			image[at] = float32((1 - share) * float64(y) / 32)
			image[at+1] = float32(share * float64(y) / 32)
		}
		return image
	}
	row := make([]float32, larochelle.Pixels)
	for x := 3; x < 12; x++ {
		row[5*side+x] = float32(x) / 32
	}
	for name, image := range map[string][]float32{
		"upright": line(0), "one row": row, "nothing": make([]float32, larochelle.Pixels),
	} {
		for k, v := range deslanted(t, image) {
			if !(math.Abs(float64(v-image[k])) <= math.Exp2(-22)) {
				t.Errorf("%s: pixel %d,%d is %v, expected %v", name, k/side, k%side, v, image[k])
			}
		}
	}
	for _, slope := range []float64{-2, -0.5, 0.25, 1, 1.5} {
		image := line(slope)
		got := deslanted(t, image)
		// The mean column of a row is on the line, so the shear is that of the line.
		at, n := math.Inf(1), 0.
		for y := 9; y <= 19; y++ {
			mass, x := 0., 0.
			for k, v := range got[y*side : (y+1)*side] {
				mass, x = mass+float64(v), x+float64(k)*float64(v)
			}
			want := float64(y) / 32
			if !(math.Abs(mass-want) <= math.Exp2(-22)) {
				t.Errorf("slope %v, row %d: mass %v, expected %v", slope, y, mass, want)
			}
			if x /= mass; n > 0 && !(math.Abs(x-at) <= math.Exp2(-16)) {
				t.Errorf("slope %v, row %d: at column %v, the row above at %v", slope, y, x, at)
			}
			at, n = x, n+1
		}
	}
	corners := make([]float32, larochelle.Pixels)
	corners[0], corners[1], corners[larochelle.Pixels-1], corners[14*side] = 1, 0.5, 1, 0.25
	for k, v := range deslanted(t, corners) {
		if !(v >= 0 && v <= 1) {
			t.Errorf("corners: pixel %d is %v", k, v)
		}
	}
}

// Chapter 4's families have deslanted digits, the others raw ones, and with -slanted all have raw
// ones: the same documents in the same parts.
func TestDeslantedSet(t *testing.T) {
	folder := standIns(t)
	p := &protocol{train: 100, test: 50, families: repro.AllOf(families...), text: repro.Preparation{MinDF: 1}}
	parts := p.parts(&sets[0])
	if len(parts) != 2 || parts[0].name != "mnist" || parts[1].name != "mnist-deslanted" ||
		len(parts[0].families)+len(parts[1].families) != len(families) {
		t.Fatalf("%+v", parts)
	}
	var read []*data
	for _, s := range parts {
		d, err := p.read(t.Context(), &repro.Run{Data: folder, Seed: 1}, &s)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, d)
	}
	raw, straight := read[0], read[1]
	before, after := 0., 0.
	for k, part := range []*sparse.Corpus{raw.train, raw.test} {
		other := []*sparse.Corpus{straight.train, straight.test}[k]
		if part.Documents.Rows() != other.Documents.Rows() {
			t.Fatalf("%d and %d documents", part.Documents.Rows(), other.Documents.Rows())
		}
		for i := range part.Documents.Rows() {
			terms, values := other.Documents.Row(i)
			slope, _ := slant(terms, values)
			was, _ := slant(part.Documents.Row(i))
			before, after = before+math.Abs(was), after+math.Abs(slope)
			if part.Labels.Of(i)[0] != other.Labels.Of(i)[0] {
				t.Errorf("document %d: another class", i)
			}
		}
	}
	if !(after < before/2) { // much of these images reaches the border, and leaves them
		t.Errorf("slopes of %v in the mean became %v", before/150, after/150)
	}
	p.slanted = true
	if parts := p.parts(&sets[0]); len(parts) != 1 || parts[0].name != "mnist" ||
		len(parts[0].families) != len(families) {
		t.Errorf("-slanted: %+v", parts)
	}
}
