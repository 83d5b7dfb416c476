package params

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

type loss int

func (l loss) String() string { return []string{"square", "hinge"}[l] }

type shared struct {
	C    float64 `param:"c" default:"1" above:"0" max:"100" flag:""`
	Seed uint64  `param:"seed" flag:""`
}

type settings struct {
	shared
	K       int     `param:"k" default:"5" min:"1" help:"neighbours"`
	Count   int     `param:"m" default:"4096" min:"1" max:"5000" auto:"-1" help:"landmarks"`
	Loss    loss    `param:"loss" max:"1" help:"loss"`
	Stop    float64 `param:"tolerance" default:"1e-3" above:"0" below:"1" help:"tolerance"`
	Uniform bool    `param:"uniform" help:"one vote each"`
	Chosen  float64 `param:"chosen" above:"0" auto:"0" help:"a choice"`
	Other   int
}

func TestParse(t *testing.T) {
	for _, q := range []struct{ list, spec, wrong string }{
		{"", "", ""},
		{"k=5,m=4096,loss=square,tolerance=0.001,chosen=auto", "", ""},
		{"k=7, uniform=true ,loss=hinge", ":k=7,loss=hinge,uniform=true", ""},
		{"m=auto,chosen=2,c=3", ":m=auto,chosen=2", ""},
		{"k=0", "", "k must be an integer of at least 1, got 0"},
		{"k=1.5", "", "k must be an integer of at least 1, got 1.5"},
		{"m=5001", "", "m must be an integer from 1 to 5000, or auto, got 5001"},
		{"m=-1", "", "m must be an integer from 1 to 5000, or auto, got -1"},
		{"loss=log", "", "loss must be square or hinge, got log"},
		{"tolerance=NaN", "", "tolerance must be a number above 0 and below 1, got NaN"},
		{"tolerance=1", "", "tolerance must be a number above 0 and below 1, got 1"},
		{"uniform=maybe", "", "uniform must be true or false, got maybe"},
		{"c=101", "", "c must be a number above 0 and at most 100, got 101"},
		{"k", "", `"k" is not of the form parameter=value`},
		{"k=1,k=2", "", "parameter k occurs twice"},
		{"Other=1", "", `unknown parameter "Other"; valid parameters are c, seed, k, m, loss, tolerance, uniform, chosen`},
	} {
		var s settings
		err := Parse(&s, q.list)
		if (err == nil) != (q.wrong == "") || err != nil && err.Error() != q.wrong {
			t.Errorf("%s: %v, expected %q", q.list, err, q.wrong)
		}
		if got := Spec(&s); err == nil && got != q.spec {
			t.Errorf("%s: specification %q, expected %q", q.list, got, q.spec)
		}
		var again settings
		if err == nil && (Parse(&again, strings.TrimPrefix(q.spec, ":")) != nil || Spec(again) != q.spec) {
			t.Errorf("%s: %q isn't read as it is written", q.list, q.spec)
		}
	}
}

func TestResolve(t *testing.T) {
	s := settings{K: 3, Count: -1}
	musttest.NoError(t, Resolve(&s))
	if want := (settings{shared{1, 0}, 3, -1, 0, 1e-3, false, 0, 0}); s != want {
		t.Errorf("%+v, expected %+v", s, want)
	}
	for _, bad := range []settings{
		{K: -1}, {Count: -2}, {Loss: -1}, {Loss: 2}, {Stop: math.NaN()}, {Chosen: math.Inf(1)},
	} {
		musttest.WantError(Resolve(&bad))(t, bad)
	}
}

// hiding hides the parameter k.
type hiding struct{ settings }

func (hiding) HiddenNames() []string { return []string{"k"} }

func TestHelp(t *testing.T) {
	first := HelpRow{"k", "neighbours: an integer of at least 1", "5"}
	if rows := Help(&settings{K: 9}); len(rows) != 6 || rows[0] != first || rows[1].Default != "4096" {
		t.Errorf("%q", fmt.Sprint(rows))
	}
	if Has(hiding{}, "k") || !Has(hiding{}, "c") || Has(nil, "c") || slices.Contains(Names(hiding{}), "k") {
		t.Error("hidden parameters are found, or others aren't")
	}
}
