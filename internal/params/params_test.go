package params

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
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
		{"k=0", "", "found k=0, expected a whole number of at least 1"},
		{"k=1.5", "", "found k=1.5, expected a whole number of at least 1"},
		{"m=5001", "", "found m=5001, expected a whole number from 1 to 5000, or auto"},
		{"m=-1", "", "found m=-1, expected a whole number from 1 to 5000, or auto"},
		{"loss=log", "", "found loss=log, expected square or hinge"},
		{"tolerance=NaN", "", "found tolerance=NaN, expected a number above 0 and below 1"},
		{"tolerance=1", "", "found tolerance=1, expected a number above 0 and below 1"},
		{"uniform=maybe", "", "found uniform=maybe, expected true or false"},
		{"c=101", "", "found c=101, expected a number above 0 and at most 100"},
		{"k", "", `found "k", expected parameter=value`},
		{"k=1,k=2", "", "found k twice, expected each parameter once"},
		{"Other=1", "", `found parameter "Other", expected one of c, seed, k, m, loss, tolerance, uniform, chosen`},
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
	if err := Resolve(&s); err != nil {
		t.Fatal(err)
	}
	if want := (settings{shared{1, 0}, 3, -1, 0, 1e-3, false, 0, 0}); s != want {
		t.Errorf("%+v, expected %+v", s, want)
	}
	for _, bad := range []settings{
		{K: -1}, {Count: -2}, {Loss: -1}, {Loss: 2}, {Stop: math.NaN()}, {Chosen: math.Inf(1)},
	} {
		if err := Resolve(&bad); err == nil {
			t.Errorf("%+v: accepted", bad)
		}
	}
}

// hiding hides the parameter k.
type hiding struct{ settings }

func (hiding) Hidden() []string { return []string{"k"} }

func TestHelp(t *testing.T) {
	first := Row{"k", "neighbours: a whole number of at least 1", "5"}
	if rows := Help(&settings{K: 9}); len(rows) != 6 || rows[0] != first || rows[1].Default != "4096" {
		t.Errorf("%q", fmt.Sprint(rows))
	}
	if Has(hiding{}, "k") || !Has(hiding{}, "c") || Has(nil, "c") || slices.Contains(Names(hiding{}), "k") {
		t.Error("hidden parameters are found, or others aren't")
	}
}
