package chart

import (
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// colorsOf counts the colours of a picture.
func colorsOf(t *testing.T, path string) map[color.RGBA]int {
	t.Helper()
	f := musttest.Get(os.Open(path))(t)
	defer f.Close()
	picture := musttest.Get(png.Decode(f))(t)
	count := map[color.RGBA]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, g, b, a := picture.At(x, y).RGBA()
			count[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}]++
		}
	}
	return count
}

// A surface has the least error in the darkest colour and a red frame, the greatest in the
// lightest, and nothing where a point is missing.
func TestSurface(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	nan := math.NaN()
	s := &Surface{
		Columns: []string{"1", "10"}, Lines: []string{"diffusion:t=2", "diffusion:t=1"}, Digits: "%.2f",
		Errors: [][]float64{{50, nan}, {10, 20}}, Deviations: [][]float64{{1, nan}, {1, 1}}, Best: [2]int{1, 0},
	}
	musttest.Do(t, s.Save(path))
	count := colorsOf(t, path)
	dark, light, red := count[shade(0).(color.RGBA)], count[shade(1).(color.RGBA)],
		count[color.RGBA{0xd6, 0x27, 0x28, 0xff}]
	middle := count[shade(math.Log(2)/math.Log(5)).(color.RGBA)] // an error of 20 % between 10 % and 50 %
	if dark < 2000 || light < 2000 || red < 300 || middle < 2000 || dark > light {
		t.Errorf("%d dark, %d middle, %d light, %d red pixels", dark, middle, light, red)
	}
}

// One C makes a curve over what the kernels differ in, or their names; one kernel one over C.
func TestCurve(t *testing.T) {
	for _, c := range []struct {
		kernels []string // from above
		over    string
		first   string
	}{
		{[]string{"diffusion:t=1", "diffusion:t=12", "diffusion:t=15"}, "diffusion:t", "1"},
		{[]string{"diffusion:t=1", "ngd-exp:t=2", "linear"}, "", "diffusion:t=1"},
		{[]string{"rbf:gamma=1,embed=tf-l2", "rbf:gamma=2,embed=tf-l2", "rbf:gamma=3,embed=tf-l1"}, "",
			"rbf:gamma=1,embed=tf-l2"},
	} {
		slices.Reverse(c.kernels)
		s := &Surface{
			Columns: []string{"1"}, Lines: c.kernels, Errors: [][]float64{{40}, {30}, {50}},
			Deviations: [][]float64{{1}, {1}, {1}}, Best: [2]int{1, 0},
		}
		own := s.curve()
		if own.over != c.over || own.names[0] != c.first || own.best != 1 || !(own.errors[0] == 50) {
			t.Errorf("%v: %+v", c.kernels, own)
		}
		path := filepath.Join(t.TempDir(), "a.png")
		musttest.Do(t, s.Save(path))
		if red := colorsOf(t, path)[color.RGBA{0xd6, 0x27, 0x28, 0xff}]; red < 20 {
			t.Errorf("%d red pixels: the best isn't marked", red)
		}
	}
	s := &Surface{
		Columns: []string{"1", "10", "100"}, Lines: []string{"linear"}, Errors: [][]float64{{50, 30, 10}},
		Deviations: make([][]float64, 1), Best: [2]int{0, 2},
	}
	if own := s.curve(); own.over != "C" || own.names[2] != "100" || own.best != 2 {
		t.Errorf("%+v", own)
	}
}
