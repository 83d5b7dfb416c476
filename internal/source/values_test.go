package source

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

func TestValues(t *testing.T) {
	for s, want := range map[string]kernel.ParamGrid{
		"C=1,10,100":       {Name: "C", Values: []float64{1, 10, 100}},
		"c = 1, 1e2":       {Name: "C", Values: []float64{1, 100}},
		"NU=0.5":           {Name: "nu", Values: []float64{0.5}},
		"t=0.1..0.8*2":     {Name: "t", Values: []float64{0.1, 0.2, 0.4, 0.8}},
		"t=0.1..0.5+0.1":   {Name: "t", Values: []float64{0.1, 0.2, 0.3, 0.4, 0.5}},
		"C=1e3..1*0.1":     {Name: "C", Values: []float64{1000, 100, 10, 1}},
		"C=1..5*2":         {Name: "C", Values: []float64{1, 2, 4}},
		"t=5..0+-2.5":      {Name: "t", Values: []float64{5, 2.5, 0}},
		"C=1e-1..1e+1*10":  {Name: "C", Values: []float64{0.1, 1, 10}},
		"r=0..1e+1+1e+1":   {Name: "r", Values: []float64{0, 10}},
		"shift=0,pi":       {Name: "shift", Values: []float64{0, math.Pi}},
		"t=0.1,1..3+1,0.5": {Name: "t", Values: []float64{0.1, 1, 2, 3, 0.5}},
	} {
		got, err := ParseValues(s)
		if err != nil || got.Name != want.Name || !slices.Equal(got.Values, want.Values) {
			t.Errorf("%s: %v, %v, expected %v", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"C": "NAME=VALUE", "=1": "NAME=VALUE", "C=": "not a number", "C=1,,2": "not a number",
		"C=x": `"x" is not a number`, "C=1..10": "no step", "C=1..10*1": "must not be 1",
		"C=1..10*-2": "must be positive", "C=0..10*2": "must be positive", "C=10..1*10": "lead from 10 to 1",
		"C=1..2+0": "lead from 1 to 2", "C=1..2+-1": "lead from 1 to 2", "C=0..1+1e-9": "at most 1000", "C=1,1": "twice",
		"C=NaN": "not a number", "C=inf": "not a number", "C=1..2*x": "not a number", "C=x..2*2": "not a number",
		"C=1..x*2": "not a number",
	} {
		musttest.WantError(ParseValues(s))(t, s, want)
	}
}

// ParseValues doesn't panic or loop forever. It returns finite, distinct numbers, at most
// MaxValues.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"C=1,10", "t=0.1..1*2", "t=0..1+0.25", "C=1e3..1*0.1", "a=1..2*1.0000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseValues(s)
		if err == nil && (len(list.Values) == 0 || len(list.Values) > MaxValues) {
			t.Fatalf("%d values", len(list.Values))
		}
		for i, v := range list.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) || slices.Contains(list.Values[:i], v) {
				t.Fatalf("values %v", list.Values)
			}
		}
	})
}
