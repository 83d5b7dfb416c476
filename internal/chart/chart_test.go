package chart

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

func TestLogarithmic(t *testing.T) {
	var axis plot.Axis
	Logarithmic(report.Rate, &axis)
	var labels []string
	ticks := axis.Tick.Marker.Ticks(0.3, 2e9)
	for _, tick := range ticks {
		if tick.Value < 0.3 || tick.Value > 2e9 {
			t.Errorf("a tick at %v", tick.Value)
		}
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if want := []string{"1", "10", "100", "1 k", "10 k", "100 k", "1 M", "10 M", "100 M", "1 G"}; !slices.Equal(
		labels,
		want,
	) {
		t.Errorf("labels are %q, expected %q", labels, want)
	}
	if want := 7 + 9*9 + 2; len(ticks) != want { // 0.3 to 0.9, nine decades, 1e9 and 2e9
		t.Errorf("%d ticks, expected %d", len(ticks), want)
	}
}

// Marks are multiples of round steps, 0 among them where the axis has it; whole numbers where these are asked for.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		least, most, step float64
		want              string
	}{
		{-2.6, 10.4, 0, "0 5 10"}, {-16, 8, 0, "-15 -10 -5 0 5"}, {-0.11, 0.85, 0, "0 0.2 0.4 0.6 0.8"},
		{1, 2, 1, "1 2"}, {0, 100, 0, "0 20 40 60 80 100"}, {-9.5, 21.5, 0, "0 10 20"},
	} {
		var got []string
		for _, tick := range (Steps{c.step}).Ticks(c.least, c.most) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %v to %v: %q, expected %s", c.least, c.most, got, c.want)
		}
	}
}

// The legend begins behind the last point, on axes of either kind.
func TestBesideLegend(t *testing.T) {
	for _, ratio := range []bool{false, true} {
		p := New("", "x", "y")
		p.X.Min, p.X.Max = 1, 100
		if ratio {
			Logarithmic(func(float64) string { return "" }, &p.X)
		}
		BesideLegend(p, 15, "a name of twenty lett")
		if at := p.X.Norm(100); !(at > 0.5 && at < 0.8) {
			t.Errorf("logarithmic: %v: the last point at %v of the axis", ratio, at)
		}
	}
}

// The ending of a name tells the form of a picture.
func TestSaveForms(t *testing.T) {
	for name, begin := range map[string]string{"a.svg": "<?xml", "a.SVG": "<?xml", "a.png": "\x89PNG"} {
		p := New("", "x", "y")
		Curve(p, "a", Gray, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, true)
		path := filepath.Join(t.TempDir(), name)
		musttest.Do(t, Save(path, 10, 10, p))
		if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), begin) {
			t.Errorf("%s begins with %q, %v", name, b[:min(len(b), 8)], err)
		}
	}
}
