package solver

import (
	"math"
	"testing"
)

// The completed fraction rises from 0 to the number of problems and never decreases.
func TestDone(t *testing.T) {
	p := &runProgress{documents: 100}
	last := 0.0
	for _, c := range []struct {
		gap   float64
		steps int
		want  float64
	}{{2, 0, 0}, {2, 10, 0.1}, {2, 15, 0.25}, {math.Sqrt(2e-3), 500, 0.625}, {1, 1, 0.625}, {1.1e-3, 1, 0.99}} {
		got := p.advance(c.gap, 1e-3, c.steps)
		if !(math.Abs(got-c.want) <= 0.01) || got < last || got >= 1 {
			t.Errorf("violation %v: %v done after %v, expected %v", c.gap, got, last, c.want)
		}
		p.fraction, last = got, got
	}

	r := newReporter(func(Progress) {}, 2)
	one, two := &runProgress{}, &runProgress{}
	for i, c := range []struct {
		do   func()
		want float64
	}{
		{func() { r.setFraction(one, 0.5) }, 0.5}, {func() { r.setFraction(two, 0.25) }, 0.75},
		{func() { r.setFraction(one, 0) }, 0.75},
		{r.countSolved, 1.25}, {func() { r.setFraction(two, 0.5) }, 1.5},
		{func() { r.setFraction(two, 0); r.countSolved() }, 2},
	} {
		if c.do(); i != 3 && r.progress.Done != c.want || i == 3 && r.progress.Done < 1 {
			t.Errorf("call %d: %v done, expected %v", i, r.progress.Done, c.want)
		}
	}
}
