package repro

import (
	"math"
	"testing"
)

// Points at which two shares are equal lie on the line through a corner, and there are some on each
// of the lines that meet it.
func TestZerosInSimplex(t *testing.T) {
	points := ZerosInSimplex(func(a, b, _ float64) float64 { return a - b })
	if len(points) < zeroSteps {
		t.Errorf("%d points, expected one at least of each line of a direction", len(points))
	}
	for _, p := range points {
		if !(math.Abs(p.X-0.5) <= 1e-9 && p.Y >= -1e-9 && p.Y <= math.Sqrt(3)/2+1e-9) {
			t.Fatalf("%v, %v, expected a point on the middle line", p.X, p.Y)
		}
	}
	corners := Triangle().Points
	if first, last := corners[0], corners[len(corners)-1]; len(corners) != 4 || first.X != last.X || first.Y != last.Y ||
		corners[1].X != 1 || corners[2].X != 0.5 {
		t.Errorf("the triangle is %v", corners)
	}
}
