package kernel

import (
	"errors"
	"strings"
	"testing"
)

func TestParseHyperbolic(t *testing.T) {
	for spec, want := range map[string]Hyperbolic{
		"hyperbolic":                      {T: 1},
		" hyperbolic : t=0.5, n=3 ":       {T: 0.5, N: 3},
		"hyperbolic:n=auto,constant=none": {T: 1},
		"hyperbolic:constant=full,t=1e-3": {T: 1e-3, Full: true},
	} {
		h, err := ParseHyperbolic(spec)
		if err != nil || h != want || !IsHyperbolic(spec) {
			t.Errorf("%q is %+v, %v, expected %+v", spec, h, err, want)
		}
		if again, err := ParseHyperbolic(h.String()); err != nil || again != h {
			t.Errorf("%q prints as %q, which parses to %+v, %v", spec, h, again, err)
		}
	}
	for spec, want := range map[string]struct {
		column          int
		found, expected string
	}{
		"hyperbole":                {1, "hyperbole", "hyperbolic"},
		"hyperbolic:t=0":           {14, "t=0", "a number above 0"},
		"hyperbolic:n=0":           {14, "n=0", "auto, or a whole number from 1"},
		"hyperbolic:n=1e9":         {14, "n=1e9", "a whole number"},
		"hyperbolic:constant=half": {21, "constant=half", "none or full"},
		"hyperbolic:embed=tf":      {12, `unknown key "embed"`, "t, n, constant"},
		"hyperbolic:t=1,t=2":       {16, "t a second time", "each key once"},
		"hyperbolic + linear":      {12, `"+ linear"`, "or the end"},
		"hyperbolic:":              {12, "the end", "one of the keys of hyperbolic: t, n, constant"},
	} {
		_, err := ParseHyperbolic(spec)
		var e *SpecError
		if !errors.As(err, &e) || e.Column != want.column || !strings.Contains(e.Found, want.found) ||
			!strings.Contains(e.Expected, want.expected) {
			t.Errorf("%q: %v, expected column %d, %q, %q", spec, err, want.column, want.found, want.expected)
		}
	}
	if IsHyperbolic("diffusion") || IsHyperbolic("hyperbolically") {
		t.Error("other names count as hyperbolic")
	}
	for _, info := range SetKernels() {
		if _, err := ParseHyperbolic(info.Examples[0]); err != nil || len(info.Params) != 3 || info.Summary == "" {
			t.Errorf("%+v: %v", info, err)
		}
	}
}
