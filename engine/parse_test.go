package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

func TestParseKernel(t *testing.T) {
	sphere, counts := in{sparse.Sphere}, in{sparse.Embedding{}}
	tfidf := in{sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}}
	for spec, want := range map[string]Kernel{
		"c":                                  hellinger{sphere},
		"bhattacharyya":                      bhattacharyya{sphere},
		"diffusion":                          diffusion{sphere, 0.5},
		"diffusion:t=0.25":                   diffusion{sphere, 0.25},
		" diffusion : t = 2.5e-1 ":           diffusion{sphere, 0.25},
		"diffusion:t=1e+2,embed=tfidf-l2":    diffusion{tfidf, 100},
		"diffusion:t=0.123456789012345678":   diffusion{sphere, 0.12345678901234568},
		"ngd":                                ngd{sphere, 0},
		"ngd:shift=-0":                       ngd{sphere, 0},
		"ngd:shift=pi":                       ngd{sphere, math.Pi},
		"ngd-exp:t=0.5":                      ngdExp{sphere, 0.5},
		"linear":                             linear{counts},
		"linear:embed=tfidf-l2":              linear{tfidf},
		"polynomial":                         polynomial{counts, 0, 0, 3},
		"polynomial:gamma=2,coef0=1":         polynomial{counts, 2, 1, 3},
		"polynomial:degree=2,r=-1.5,gamma=1": polynomial{counts, 1, -1.5, 2},
		"rbf":                                gaussian{counts, 0},
		"rbf:gamma=0.125":                    gaussian{counts, 0.125},
		"sigmoid:r=1":                        sigmoid{counts, 0, 1},
		"arccos":                             arccos{counts, 1},
		"arccos:n=2,embed=tf":                arccos{counts, 2},
	} {
		k, err := ParseKernel(spec)
		if err != nil || k != want {
			t.Errorf("ParseKernel(%q) = %#v, %v, expected %#v", spec, k, err, want)
			continue
		}
		if again, err := ParseKernel(k.String()); err != nil || again != k || strings.Contains(k.String(), "-0") {
			t.Errorf("%q prints as %q, which parses to %#v, %v", spec, k, again, err)
		}
	}
}

func TestParseKernelErrors(t *testing.T) {
	for spec, want := range map[string]struct {
		column          int
		found, expected string
	}{
		"":                            {1, "the end", "one of diffusion, ngd"},
		"difusion":                    {1, `unknown kernel "difusion"`, `(did you mean "diffusion"?)`},
		"svm":                         {1, `unknown kernel "svm"`, "one of diffusion, ngd"},
		"diffusion t=1":               {11, `"t=1"`, "a colon and one of the keys of diffusion: t, embed"},
		"diffusion:":                  {11, "the end", "one of the keys of diffusion: t, embed"},
		"diffusion:t":                 {12, "the end", `= and a value behind "t"`},
		"diffusion:t=":                {13, "the end", `a value for "t"`},
		"diffusion:t=0":               {13, "t=0", "a number above 0"},
		"diffusion:t=-1":              {13, "t=-1", "a number above 0"},
		"diffusion:t=1e-30":           {13, "t=1e-30", "from 1e-18"},
		"diffusion:t=1e999":           {13, "t=1e999", "a number above 0"},
		"diffusion:t=nan":             {13, "t=nan", "a number above 0"},
		"diffusion:t=inf":             {13, "t=inf", "a number above 0"},
		"diffusion:t=0x1p-2":          {13, "t=0x1p-2", "a number above 0"},
		"diffusion:t=1_0":             {13, "t=1_0", "a number above 0"},
		"diffusion:t=1,":              {15, "the end", "one of the keys"},
		"diffusion:t=1,t=2":           {15, "t a second time", "each key once"},
		"diffusion:gamma=1":           {11, `unknown key "gamma"`, "one of the keys of diffusion: t, embed"},
		"diffusion:t=1 linear":        {15, `"linear"`, "a comma and another key, or the end"},
		"diffusion:t=1,embed=tf-l3":   {21, "embed=tf-l3", "one of tf, tf-sqrt"},
		"polynomial:r=1,coef0=1":      {16, "r a second time", "each key once"},
		"polynomial:degre=2":          {12, `unknown key "degre"`, `(did you mean "degree"?)`},
		"polynomial:degree=2.5":       {19, "degree=2.5", "a whole number from 0 to 64"},
		"polynomial:degree=-1":        {19, "degree=-1", "a whole number"},
		"rbf:gamma=0":                 {11, "gamma=0", "a number above 0"},
		"arccos:n=3":                  {10, "n=3", "a whole number from 0 to 2"},
		"ngd:shift=2pi":               {11, "shift=2pi", "a number, or pi"},
		"0.5*linear":                  {1, `"0"`, "one of diffusion"},
		"product(linear,arccos:n=1)":  {1, `unknown kernel "product"`, "one of diffusion"},
		"diffusion:t=1e+1+linear":     {17, `"+linear"`, "a comma and another key, or the end"},
		"linear + diffusion:t=1e+1+1": {8, `"+ diffusion:t=1e+1+1"`, "the end"},
	} {
		k, err := ParseKernel(spec)
		var e *SpecError
		if !errors.As(err, &e) {
			t.Errorf("ParseKernel(%q) = %v, %v, expected a SpecError", spec, k, err)
			continue
		}
		if e.Column != want.column || !strings.Contains(e.Found, want.found) || !strings.Contains(e.Expected, want.expected) {
			t.Errorf("ParseKernel(%q): %v\nexpected column %d, %q, %q", spec, err, want.column, want.found, want.expected)
		}
	}
}

func TestResolve(t *testing.T) {
	for spec, want := range map[string]string{
		"rbf":                         "rbf:gamma=0.01",
		"rbf:gamma=3":                 "rbf:gamma=3",
		"polynomial":                  "polynomial:gamma=0.01,r=0,degree=3",
		"sigmoid:r=2,embed=tf-l2":     "sigmoid:gamma=0.01,r=2,embed=tf-l2",
		"diffusion:t=1,embed=tf-sqrt": "diffusion:t=1,embed=tf-sqrt",
	} {
		if got := Resolve(MustParseKernel(spec), 100).String(); got != want {
			t.Errorf("Resolve(%q, 100) = %q, expected %q", spec, got, want)
		}
	}
	for _, name := range []string{"rbf", "polynomial", "sigmoid"} {
		if v := MustParseKernel(name).Eval(0.5, 1, 1); v == v {
			t.Errorf("%s without gamma has the value %v, expected NaN", name, v)
		}
	}
}

// Help texts promise what the parser does: every example parses, every default is what leaving the key out gives.
func TestCatalogue(t *testing.T) {
	var names []string
	for _, info := range Catalogue() {
		names = append(names, info.Name)
		if len(info.Examples) == 0 || info.Summary == "" {
			t.Errorf("%s: no example or no summary", info.Name)
		}
		for _, e := range info.Examples {
			if k, err := ParseKernel(e); err != nil || k.String() != e && k.String() != e+":embed="+k.Embedding().String() &&
				!strings.Contains(e, "polynomial") && !strings.Contains(e, "sigmoid") {
				t.Errorf("%s: example %q parses to %v, %v", info.Name, e, k, err)
			}
		}
		for _, q := range info.Params {
			bare := MustParseKernel(info.Name)
			if q.Default == "1/terms" {
				continue
			}
			for _, key := range append([]string{q.Key}, q.Aliases...) {
				if k, err := ParseKernel(info.Name + ":" + key + "=" + q.Default); err != nil || k != bare {
					t.Errorf("%s: default of %s gives %v, %v, expected %v", info.Name, key, k, err, bare)
				}
			}
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("Catalogue lists %v, Names %v", names, Names())
	}
}

// Whatever is written: no panic, an error that points into the text, or a kernel that prints as something that parses to the same.
func FuzzParseKernel(f *testing.F) {
	for _, info := range Catalogue() {
		for _, e := range info.Examples {
			f.Add(e)
		}
	}
	f.Add("ngd:shift=pi,embed=tfidf-l2-sqrt")
	f.Add("polynomial:gamma=1e+03,coef0=-2.5E-1,degree=64")
	f.Add("product(arccos:n=1,arccos:n=0)")
	f.Add("0.5*diffusion:t=0.5 + 0.5*linear")
	f.Fuzz(func(t *testing.T, spec string) {
		k, err := ParseKernel(spec)
		var e *SpecError
		switch {
		case err == nil:
			again, err := ParseKernel(k.String())
			if err != nil || again != k || again.String() != k.String() {
				t.Fatalf("%q is %v, which parses to %v, %v", spec, k, again, err)
			}
		case !errors.As(err, &e) || e.Column < 1 || e.Column > len(spec)+1 || e.Expected == "":
			t.Fatalf("%q: error %v", spec, err)
		}
	})
}
