package lafferty

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
)

// Figures 1 to 4: all points lie in the plane that is shown, every panel has its boundaries, and
// those of both geometries differ.
func TestGeometry(t *testing.T) {
	figures := musttest.Get(geometry(t.Context(), 1))(t)
	panels := 0
	for _, f := range figures {
		for _, p := range f.Panels {
			panels++
			for _, c := range p.Curves {
				if len(c.Points) == 0 {
					t.Errorf("%s: nothing of %q", p.Title, c.Name)
				}
				for _, at := range c.Points {
					if !(at.X >= -1e-9 && at.X <= 1+1e-9 && at.Y >= -1e-9 && at.Y <= 1+1e-9) {
						t.Fatalf("%s, %s: a point at %v, %v", p.Title, c.Name, at.X, at.Y)
					}
				}
			}
		}
	}
	if panels != 6 {
		t.Errorf("%d panels, expected 6", panels)
	}
	// The flat boundary of Figure 1 is the line at equal distances: through the middle of the two
	// points, at right angles.
	half := figures[0].Panels[0]
	a, b := half.Curves[0].Points[0], half.Curves[1].Points[0]
	off := func(c repro.Curve) (most float64) {
		for _, at := range c.Points {
			most = max(most, math.Abs((at.X-(a.X+b.X)/2)*(b.X-a.X)+(at.Y-(a.Y+b.Y)/2)*(b.Y-a.Y)))
		}
		return most
	}
	if flat, curved := off(half.Curves[2]), off(half.Curves[3]); !(flat <= 1e-4 && curved >= 0.05) {
		t.Errorf("off the straight line: %v by the Gaussian, %v by the hyperbolic kernel", flat, curved)
	}
	// The rounded simplex touches all edges, and no point of it is outside.
	for _, c := range figures[0].Panels[2].Curves[:2] {
		least := math.Inf(1)
		for _, at := range c.Points {
			edges := []float64{at.Y, (math.Sqrt(3)*at.X - at.Y) / 2, (math.Sqrt(3)*(1-at.X) - at.Y) / 2}
			for _, distance := range edges {
				least = min(least, distance)
			}
		}
		if !(math.Abs(least) <= 1e-9) {
			t.Errorf("%s comes as near to an edge as %v, expected 0", c.Name, least)
		}
	}
}
