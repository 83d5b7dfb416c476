package cho

import (
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

func deslanted(t *testing.T, image []float32) []float32 {
	t.Helper()
	m := &sparse.CSR{Cols: larochelle.PixelCount, Offsets: []int64{0}}
	for k, v := range image {
		if v != 0 {
			m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, v)
		}
	}
	m.Offsets = append(m.Offsets, int64(len(m.Values)))
	to := deslant(&corpus.Corpus{Documents: m}).Documents
	musttest.NoError(t, to.Validate())
	out := make([]float32, larochelle.PixelCount)
	terms, values := to.Row(0)
	for k, term := range terms {
		out[term] = values[k]
	}
	return out
}

// deslant moves the mean column of each row and the centre of mass to the centre, and keeps the
// mass if nothing leaves the image. Upright centred images and empty images don't change. Values
// stay in [0, 1] even for pixels in the corners.
func TestDeslant(t *testing.T) {
	const side = larochelle.ImageSize
	line := func(x, y, slope float64) []float32 { // 11 rows around (x, y), each a pixel distributed over two columns
		image := make([]float32, larochelle.PixelCount)
		for d := -5.; d <= 5; d++ {
			left, share := math.Modf(x + slope*d)
			at := int(y+d)*side + int(left)
			image[at] = float32((1 - share) * (16 + d) / 32)
			image[at+1] = float32(share * (16 + d) / 32)
		}
		return image
	}
	centred := make([]float32, larochelle.PixelCount) // two rows and columns, mirrored
	for k, v := range []float32{0.25, 0.75, 0.5, 1} {
		at := (11+k/2)*side + 11 + k%2
		centred[at], centred[at+5-2*(k%2)] = v, v
		at += (5 - 2*(k/2)) * side
		centred[at], centred[at+5-2*(k%2)] = v, v
	}
	for name, image := range map[string][]float32{
		"in the middle": centred, "nothing": make([]float32, larochelle.PixelCount),
	} {
		for k, v := range deslanted(t, image) {
			if !(math.Abs(float64(v-image[k])) <= math.Exp2(-22)) {
				t.Errorf("%s: pixel %d,%d is %v, expected %v", name, k/side, k%side, v, image[k])
			}
		}
	}
	row := make([]float32, larochelle.PixelCount)
	for x := 3; x < 12; x++ {
		row[5*side+x] = float32(x) / 32
	}
	images := map[string][]float32{"one row": row}
	for _, slope := range []float64{-2, -0.5, 0, 0.25, 1, 1.5} {
		images[fmt.Sprintf("slope %v", slope)] = line(14, 14, slope)
		images[fmt.Sprintf("slope %v, off the middle", slope)] = line(15.25, 17, slope)
	}
	for name, image := range images {
		want, mass, meanY := 0., 0., 0.
		for _, v := range image {
			want += float64(v)
		}
		got := deslanted(t, image)
		for y := range side {
			here, x := 0., 0.
			for k, v := range got[y*side : (y+1)*side] {
				here, x = here+float64(v), x+float64(k)*float64(v)
			}
			// The mean column of each row is on the line, so the shear equals the line's slope.
			// Pixels are float32.
			if x /= here; here > 0 && !(math.Abs(x-(side-1)/2.) <= math.Exp2(-16)) {
				t.Errorf("%s, row %d: at column %v, expected the middle", name, y, x)
			}
			mass, meanY = mass+here, meanY+here*float64(y)
		}
		if !(math.Abs(mass-want) <= math.Exp2(-20)) {
			t.Errorf("%s: mass %v, expected %v", name, mass, want)
		}
		if meanY /= mass; !(math.Abs(meanY-(side-1)/2.) <= math.Exp2(-16)) {
			t.Errorf("%s: at row %v in the mean, expected the middle", name, meanY)
		}
	}
	corners := make([]float32, larochelle.PixelCount)
	corners[0], corners[1], corners[larochelle.PixelCount-1], corners[14*side] = 1, 0.5, 1, 0.25
	for k, v := range deslanted(t, corners) {
		if !(v >= 0 && v <= 1) {
			t.Errorf("corners: pixel %d is %v", k, v)
		}
	}
}

// Families of chapter 4 use deslanted digits, and other families use raw digits of the same
// documents. With the setting slanted, all families use raw digits.
func TestDeslantedDigits(t *testing.T) {
	folder := standIns(t)
	p := &settings{Kernels: families}
	parts := p.variants(&datasets[0])
	if len(parts) != 2 || parts[0].name != "mnist" || parts[1].name != "mnist-deslanted" ||
		len(parts[0].families)+len(parts[1].families) != len(families) {
		t.Fatalf("%+v", parts)
	}
	var read []*trainTestSplit
	for _, s := range parts {
		r := &repro.Env{DataDir: folder, Seed: 1}
		read = append(read, musttest.Get(s.read(t.Context(), r, repro.TermSettings{}, 100, 50))(t))
	}
	before, after := 0., 0.
	for k, part := range []*corpus.Corpus{read[0].train, read[0].test} {
		other := []*corpus.Corpus{read[1].train, read[1].test}[k]
		for i := range part.Documents.Rows() {
			slope, _, _ := slant(other.Documents.Row(i))
			was, _, _ := slant(part.Documents.Row(i))
			before, after = before+math.Abs(was), after+math.Abs(slope)
			if part.Labels.Classes(i)[0] != other.Labels.Classes(i)[0] {
				t.Errorf("document %d: another class", i)
			}
		}
	}
	if !(after < 0.75*before) { // parts of many of these images are near the border and leave the image
		t.Errorf("slopes of %v in the mean became %v", before/150, after/150)
	}
	p.Slanted = true
	if parts := p.variants(&datasets[0]); len(parts) != 1 || parts[0].name != "mnist" ||
		len(parts[0].families) != len(families) {
		t.Errorf("slanted: %+v", parts)
	}
}
