package bench

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Labels of points that crowd in a corner of the picture find room beside each other.
func TestLabelsDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l := &labeller{area: vg.Rectangle{Max: vg.Point{X: 600, Y: 400}}}
	var points []vg.Point
	for range 12 {
		p := vg.Point{X: vg.Length(20 + 60*r.Float64()), Y: vg.Length(20 + 60*r.Float64())}
		points = append(points, p)
		l.taken = append(l.taken, around(p, 4, 4))
	}
	var boxes []vg.Rectangle
	for _, p := range points {
		boxes = append(boxes, l.place(p, 90, 11))
	}
	for i, a := range boxes {
		if a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > 600 || a.Max.Y > 400 {
			t.Errorf("label %d is outside of the picture", i)
		}
		for j, b := range boxes[:i] {
			if overlaps(a, b, 0) {
				t.Errorf("labels %d and %d overlap", i, j)
			}
		}
		for j, p := range points {
			if overlaps(a, around(p, 4, 4), 0) {
				t.Errorf("label %d covers point %d", i, j)
			}
		}
	}
}
