package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

func TestDecades(t *testing.T) {
	var labels []string
	ticks := decades(0.3, 2e9)
	for _, tick := range ticks {
		if tick.Value < 0.3 || tick.Value > 2e9 {
			t.Errorf("a tick at %v", tick.Value)
		}
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if want := []string{"1", "10", "100", "1 k", "10 k", "100 k", "1 M", "10 M", "100 M", "1 G"}; !slices.Equal(labels, want) {
		t.Errorf("labels are %q, expected %q", labels, want)
	}
	if want := 7 + 9*9 + 2; len(ticks) != want { // 0.3 to 0.9, nine decades, 1e9 and 2e9
		t.Error(fmt.Sprint(len(ticks), " ticks, expected ", want))
	}
}
