package machines

import (
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/solver/svm"
)

// colorsOf counts the colours of a picture.
func colorsOf(t *testing.T, path string) map[color.RGBA]int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.RGBA]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, g, b, a := picture.At(x, y).RGBA()
			count[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}]++
		}
	}
	return count
}

// surfaceOf is the report of a search with some mean accuracies, line by line; 0 is a point that is
// missing.
func surfaceOf(c []float64, means map[string][]float64, kernels ...string) *gridReport {
	r := &gridReport{Measure: svm.Accuracy, Folds: 5, c: c, numbers: []numbers{{}}}
	for _, k := range kernels {
		for i, m := range means[k] {
			if m == 0 {
				continue
			}
			r.Rows = append(r.Rows, gridRow{Kernel: k, C: c[i], Mean: report.Number(m), SD: 0.01})
		}
	}
	r.Best = &r.Rows[0]
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Mean > r.Best.Mean {
			r.Best = row
		}
	}
	return r
}

// A surface has the least error in the darkest colour and a red frame, the greatest in the
// lightest, and nothing where a point is missing.
func TestSurface(t *testing.T) {
	r := surfaceOf([]float64{1, 10}, map[string][]float64{"diffusion:t=1": {0.9, 0.8}, "diffusion:t=2": {0.5, 0}},
		"diffusion:t=1", "diffusion:t=2")
	path := filepath.Join(t.TempDir(), "a.png")
	if err := writeSurface(path, r); err != nil {
		t.Fatal(err)
	}
	count := colorsOf(t, path)
	dark, light, red := count[shade(0).(color.RGBA)], count[shade(1).(color.RGBA)],
		count[color.RGBA{0xd6, 0x27, 0x28, 0xff}]
	middle := count[shade(math.Log(2)/math.Log(5)).(color.RGBA)] // an error of 20 % between 10 % and 50 %
	if dark < 2000 || light < 2000 || red < 300 || middle < 2000 || dark > light {
		t.Errorf("%d dark, %d middle, %d light, %d red pixels", dark, middle, light, red)
	}
	s := newSurface(r)
	if s.lines[1] != "diffusion:t=1" || s.best != [2]int{1, 0} || !(s.errors[1][0] > 9.99 && s.errors[1][0] < 10.01) ||
		s.errors[0][1] == s.errors[0][1] ||
		s.deviations[1][1] != 1 {
		t.Errorf("%+v", s)
	}
}

// One C makes a curve over what the kernels differ in, or their names.
func TestCurve(t *testing.T) {
	for _, c := range []struct {
		kernels []string
		over    string
		first   string
	}{
		{[]string{"diffusion:t=1", "diffusion:t=12", "diffusion:t=15"}, "diffusion:t", "1"},
		{[]string{"diffusion:t=1", "ngd-exp:t=2", "linear"}, "", "diffusion:t=1"},
		{[]string{"rbf:gamma=1,embed=tf-l2", "rbf:gamma=2,embed=tf-l2", "rbf:gamma=3,embed=tf-l1"}, "",
			"rbf:gamma=1,embed=tf-l2"},
	} {
		means := map[string][]float64{c.kernels[0]: {0.5}, c.kernels[1]: {0.7}, c.kernels[2]: {0.6}}
		r := surfaceOf([]float64{1}, means, c.kernels...)
		own := newSurface(r).curve()
		if own.over != c.over || own.names[0] != c.first || own.best != 1 || !(own.errors[0] == 50) {
			t.Errorf("%v: %+v", c.kernels, own)
		}
		path := filepath.Join(t.TempDir(), "a.png")
		if err := writeSurface(path, r); err != nil {
			t.Fatal(err)
		}
		if red := colorsOf(t, path)[color.RGBA{0xd6, 0x27, 0x28, 0xff}]; red < 20 {
			t.Errorf("%d red pixels: the best isn't marked", red)
		}
	}
	r := surfaceOf([]float64{1, 10, 100}, map[string][]float64{"linear": {0.5, 0.7, 0.9}}, "linear")
	if own := newSurface(r).curve(); own.over != "C" || own.names[2] != "100" || own.best != 2 {
		t.Errorf("%+v", own)
	}
}
