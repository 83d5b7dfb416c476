package cho

import (
	"errors"
	"testing"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/cmd/grambench/internal/repro/reprotest"
)

// A family of several curves names the curve, one of a single curve doesn't say its name twice.
func TestChoNote(t *testing.T) {
	points := []repro.Point{{X: 0.5, Y: 3}, {X: 1, Y: 2.5}}
	for _, c := range []struct{ family, curve, want string }{
		{bias, bias, "mnist, bias: test error 3.00, 2.50 % for bias / mean norm from 0.5 to 1; the least at 1"},
		{composed, "degree 1",
			"mnist, composed, degree 1: test error 3.00, 2.50 % for layers from 0.5 to 1; the least at 1"},
	} {
		if got := note("mnist", c.family, &repro.Curve{Name: c.curve, Points: points}); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

// Curves are there where two points are: what is said beforehand is what is drawn.
func TestChoCurves(t *testing.T) {
	for _, of := range []struct {
		args   []string
		figure bool
	}{
		{[]string{"-kernels", "plain"}, false},
		{[]string{"-kernels", "composed", "-layers", "1"}, false},
		{[]string{"-kernels", "composed", "-layers", "2"}, true},
		{[]string{"-kernels", "product", "-factors", "2"}, false},
		{[]string{"-kernels", "product,composed", "-factors", "2", "-layers", "1"}, true},
		{[]string{"-kernels", "degree", "-fractions", "0.5"}, true},
		{[]string{"-kernels", "bias", "-biases", "0.5"}, false},
	} {
		args := append([]string{"-sets", "rectangles", "-train", "12", "-test", "5", "-c", "1", "-degrees", "1"},
			of.args...)
		report, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Seed: 1}, args...)
		if err != nil || len(report.Figures) > 0 != of.figure {
			t.Fatalf("%q: %v, or figures where none are expected, or none: %v", of.args, err, of.figure)
		}
		_, err = reprotest.Do(t.Context(), t, Experiment, &repro.Run{Seed: 1, Plot: true}, args...)
		var usage repro.UsageError
		if errors.As(err, &usage) == of.figure {
			t.Errorf("%q, with curves asked for: %v", of.args, err)
		}
	}
}
