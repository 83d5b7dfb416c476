package landmark

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// Grow doubles the landmarks until there is no gain or no time. The model equals Train's with the
// same number of landmarks.
func TestGrow(t *testing.T) {
	for _, scheme := range []solver.Scheme{solver.OneVsRest, solver.Labels} {
		c := texts(1500, 3, 8, scheme == solver.Labels)
		s := Settings{Scheme: scheme, C: 10}
		var told []Growth
		m, steps, err := Grow(t.Context(), c, s, Options{Workers: 2}, 0, 0, func(g Growth) { told = append(told, g) })
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) < 2 || !slices.Equal(told, steps) || steps[0].Landmarks != 256 || steps[1].Landmarks != 512 {
			t.Fatalf("steps %v, told %v", steps, told)
		}
		last := steps[len(steps)-1]
		if !(last.Gain <= last.Error) && last.Landmarks < 1350 {
			t.Errorf("ended at %v", last)
		}
		for i, g := range steps[1:] {
			if d := g.Right - steps[i].Right - g.Gain; !(d < 1e-12 && d > -1e-12) || !(steps[i].Right > 0.5) {
				t.Errorf("step %d: %v after %v", i+1, g, steps[i])
			}
		}
		s.Landmarks = m.Settings.Landmarks
		want := musttest.Get(Train(t.Context(), c, s, Options{Workers: 1}))(t)
		if !slices.Equal(want.Machines[0].Coefficients, m.Machines[0].Coefficients) {
			t.Error("other coefficients than those of Train")
		}
		m, steps, err = Grow(t.Context(), c, Settings{Scheme: scheme, C: 10}, Options{}, 1e9, 0, nil)
		if err != nil || len(steps) != 2 || m.Settings.Landmarks > 512 || steps[0].Stop != "" || steps[1].Stop == "" {
			t.Errorf("with a bound on work: %v, %v", steps, err)
		}
		m, steps, err = Grow(t.Context(), c, Settings{Scheme: scheme}, Options{}, 0, time.Nanosecond, nil)
		if err != nil || len(steps) != 1 || m.Settings.Landmarks != 256 {
			t.Errorf("in no time: %v, %v", steps, err)
		}
	}
	if _, _, err := Grow(t.Context(), texts(19, 2, 1, false), Settings{}, Options{}, 0, 0, nil); err == nil ||
		!strings.Contains(err.Error(), "expected at least 20") {
		t.Errorf("19 documents: %v", err)
	}
}

// Training and validation have different groups. Here, copies have random labels.
func TestGrowByGroups(t *testing.T) {
	one := texts(150, 2, 9, false)
	r, rows, groups := rand.New(rand.NewPCG(9, 9)), []int(nil), []int64(nil)
	for i := range one.Labels.IDs {
		one.Labels.IDs[i] = int32(r.IntN(2))
		for range 4 {
			rows, groups = append(rows, i), append(groups, int64(i))
		}
	}
	c := one.Select(rows)
	right := func() float64 {
		_, steps, err := Grow(t.Context(), c, Settings{C: 1000}, Options{}, 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		return steps[0].Right
	}
	copies := right()
	c.Groups = groups
	if groups := right(); !(copies > 0.85 && groups < 0.7) {
		t.Errorf("accuracy %v, by groups %v", copies, groups)
	}
}
