package kernel

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

func TestParseKernelErrors(t *testing.T) {
	for spec, want := range map[string]struct {
		column          int
		found, expected string
	}{
		"":         {1, "the end", "the name of a kernel (diffusion, ngd"},
		"difusion": {1, `"difusion" (did you mean "diffusion"?)`, "the name of a kernel"},
		"svm":      {1, `"svm"`, "the name of a kernel (diffusion, ngd"},
		"diffusion t=1": {11, `"t=1"`,
			"a colon and a key of diffusion (t, order, n, form, cutoff, constant, embed)"},
		"sum(c):embed=tf sum(c)": {17, `"sum(c)"`, "a comma and another key, a plus and another kernel, or the end"},
		"ngd:embed=tf ngd":       {14, `"ngd"`, "a comma and another key"},
		"(ngd + c):embed=tf":     {10, `":embed=tf"`, "a colon and a key of c"},
		"diffusion:": {11, "the end",
			"a key of diffusion (t, order, n, form, cutoff, constant, embed)"},
		"diffusion:t":        {12, "the end", `= and a value after "t"`},
		"diffusion:t=":       {13, "the end", `a value for "t"`},
		"diffusion:t=0":      {13, "t=0", "a number above 0"},
		"diffusion:t=-1":     {13, "t=-1", "a number above 0"},
		"diffusion:t=1e-30":  {13, "t=1e-30", "1e-18 to"},
		"diffusion:t=1e999":  {13, "t=1e999", "a number above 0"},
		"diffusion:t=nan":    {13, "t=nan", "a number above 0"},
		"diffusion:t=inf":    {13, "t=inf", "a number above 0"},
		"diffusion:t=0x1p-2": {13, "t=0x1p-2", "a number above 0"},
		"diffusion:t=1_0":    {13, "t=1_0", "a number above 0"},
		"diffusion:t=1,":     {15, "the end", "a key of diffusion"},
		"diffusion:t=1,t=2":  {15, "another t", "each key only once"},
		"diffusion:gamma=1": {11, `"gamma"`,
			"a key of diffusion (t, order, n, form, cutoff, constant, embed)"},
		"diffusion:t=1 linear": {15, `"linear"`,
			"a comma and another key, a plus and another kernel, or the end"},
		"diffusion:t=1,embed=tf-l3":      {21, "embed=tf-l3", "an embedding (tf, tf-sqrt"},
		"polynomial:r=1,coef0=1":         {16, "another r", "each key only once"},
		"polynomial:degre=2":             {12, `"degre" (did you mean "degree"?)`, "a key of polynomial"},
		"polynomial:degree=2.5":          {19, "degree=2.5", "a whole number from 0 to 64"},
		"polynomial:degree=-1":           {19, "degree=-1", "a whole number"},
		"rbf:gamma=0":                    {11, "gamma=0", "a number above 0"},
		"arccos:n=-0.5":                  {10, "n=-0.5", "a number from -0.499 to 28"},
		"arccos:sigma=1":                 {8, "sigma=1", "n=0"},
		"arccos:n=1,bias=0.3":            {12, "bias=0.3", "n=0"},
		"arccos:n=0,sigma=0":             {18, "sigma=0", "a number above 0"},
		"arccos:n=29":                    {10, "n=29", "from -0.499 to 28"},
		"arccos:n=2,sigma=1":             {12, "sigma=1", "n=0"},
		"ngd-power:beta=1.5":             {16, "beta=1.5", "above 0 and up to 1"},
		"ned:beta=2.5":                   {10, "beta=2.5", "above 0 and up to 2"},
		"chi2:embed=tf-l1-sqrt":          {1, "chi2:embed=tf-l1-sqrt", "tf-l1-chi2"},
		"0.5*diffusion + 0.5*js":         {21, "js", "histograms"},
		"diffusion:order=1,form=printed": {11, "order=1", "order=0"},
		"ngd:shift=2pi":                  {11, "shift=2pi", "a number, or pi"},
		"linear + diffusion:t=1e+1+1":    {28, "the end", "* and a kernel"},
		"linear + ":                      {10, "the end", "the name of a kernel"},
		"0*linear":                       {1, "0", "a nonzero number"},
		"2linear":                        {1, "2linear", "a nonzero number"},
		"-linear":                        {1, "-linear", "a nonzero number"},
		"1e-30*linear":                   {1, "1e-30", "1e-18 to"},
		"2*3":                            {3, `"3"`, "the name of a kernel (diffusion"},
		"product":                        {8, "the end", "parentheses with kernels"},
		"product()":                      {9, `")"`, "the name of a kernel"},
		"product(linear": {15, "the end",
			"a comma and another part of product, or a closing parenthesis"},
		"product(linear,)":                             {16, `")"`, "the name of a kernel"},
		"product(linear,2)":                            {17, `")"`, "* and a kernel"},
		"product(linear):t=2":                          {17, `"t"`, "a key of product (embed)"},
		"product(embed=tf)":                            {9, `"embed"`, "the name of a kernel (diffusion"},
		"linear)":                                      {7, `")"`, "a plus and another kernel, or the end"},
		"(linear":                                      {8, "the end", "a closing parenthesis"},
		"linear(linear)":                               {7, `"(linear)"`, "a colon and a key of linear"},
		"power(linear):q=2":                            {15, `"q"`, "a key of power (p, embed)"},
		"power(linear):p=2,p=2":                        {19, "another p", "each key only once"},
		"power(linear,linear)":                         {1, "power of 2 kernels", "a kernel"},
		"power(linear):p=0.5":                          {7, "linear", "nonnegative"},
		"power(linear):p=0":                            {17, "p=0", "a number above 0"},
		"normalise(ngd)":                               {11, "ngd", "k(x, x) > 0"},
		"normalise(linear + ngd)":                      {11, "linear + ngd", "k(x, x) > 0"},
		"compose(sigmoid,arccos)":                      {9, "sigmoid", "k(x, x) > 0"},
		"compose(arccos,ngd):layers=3":                 {16, "ngd", "below another layer"},
		"compose(arccos,linear):layers=1":              {16, "linear", "at most layers=1"},
		"compose(compose(arccos):layers=30):layers=30": {9, "compose(arccos):layers=30", "at most 512 kernels"},
		"compose(linear):layers=33":                    {24, "layers=33", "from 0 to 32"},
		"product(linear:embed=tf-l2,arccos:embed=tf)":  {41, "embed=tf", "embed=tf-l2 again"},
		"arccos:layers=0":                              {15, "layers=0", "a whole number from 1 to 32"},
		"compose(linear + linear:embed=tf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + " +
			"rbf + rbf + rbf):layers=31": {9, "linear + linear", "at most 512 kernels"},
		"diffusion:order=1,n=3000000000": {21, "n=3000000000",
			"terms-1, or a whole number from 1 to 2147483647"},
		strings.Repeat("(", 20) + "linear": {17, "another parenthesis", "at most 16"},
	} {
		k, err := Parse(spec)
		var e *SpecError
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v, %v, expected a SpecError", spec, k, err)
			continue
		}
		if strings.Count(err.Error(), "expected") != 1 || strings.Count(err.Error(), "found") != 1 {
			t.Errorf("Parse(%q) says what it found or expected more than once: %v", spec, err)
		}
		if e.Column != want.column || !strings.Contains(e.Found, want.found) ||
			!strings.Contains(e.Expected, want.expected) {
			t.Errorf("Parse(%q): %v\nexpected column %d, %q, %q", spec, err, want.column, want.found, want.expected)
		}
	}
}

// Numbers are formatted with the smallest number of digits that identifies them, and large integers
// without an exponent.
func TestFormatNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -1: "-1", 0.5: "0.5", 46844: "46844", 1234567: "1234567",
		1000001: "1000001", 2147483647: "2147483647", -2147483647: "-2147483647",
		1e6: "1e+06", 1e18: "1e+18", 1e-18: "1e-18", 0.0001: "0.0001", 1e100: "1e+100", math.Pi: "pi", 1e18 +
			1024: "1000000000000001000"} {
		if got := formatNumber(v); got != want {
			t.Errorf("%v is written %s, expected %s", v, got, want)
		}
		if again, ok := parseNumber(formatNumber(v)); !ok || again != v {
			t.Errorf("%v is written %s, which is read as %v", v, formatNumber(v), again)
		}
	}
}

// Equivalent specifications give equal kernels with the same String.
func TestParseKernel(t *testing.T) {
	for _, pair := range [][2]string{
		{"c", "c"},
		{"bhattacharyya", "bhattacharyya"},
		{"diffusion", "diffusion:t=0.5"},
		{"diffusion:t=0.25", "diffusion:t=0.25"},
		{" diffusion : t = 2.5e-1 ", "diffusion:t=0.25"},
		{"diffusion:t=1e+2,embed=tfidf-l2", "diffusion:t=100,embed=tfidf-l2"},
		{"diffusion:t=0.123456789012345678", "diffusion:t=0.12345678901234568"},
		{"ngd", "ngd:shift=0"},
		{"ngd:shift=-0", "ngd:shift=0"},
		{"ngd:shift=pi", "ngd:shift=pi"},
		{"ngd-exp:t=0.5", "ngd-exp:t=0.5"},
		{"linear", "linear"},
		{"linear:embed=tfidf-l2", "linear:embed=tfidf-l2"},
		{"polynomial", "polynomial:r=0,degree=3"},
		{"polynomial:gamma=2,coef0=1", "polynomial:gamma=2,r=1,degree=3"},
		{"polynomial:degree=2,r=-1.5,gamma=1", "polynomial:gamma=1,r=-1.5,degree=2"},
		{"rbf", "rbf"},
		{"rbf:gamma=0.125", "rbf:gamma=0.125"},
		{"sigmoid:r=1", "sigmoid:r=1"},
		{"arccos", "arccos:n=1"},
		{"arccos:n=2,embed=tf", "arccos:n=2"},
		{"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(arccos:n=1,arccos:n=0,arccos:n=0)"},
		{" product ( arccos : n = 1 , arccos : n = 0 ) ", "product(arccos:n=1,arccos:n=0)"},
		{"product(linear)", "product(linear)"},
		{"((linear))", "linear"},
		{"1*linear", "linear"},
		{"linear+linear", "linear + linear"},
		{"sum(linear,rbf)", "linear + rbf"},
		{"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.5 + 0.5*linear"},
		{"2*(linear + arccos:n=0)", "2*(linear + arccos:n=0)"},
		{"2*(3*linear)", "2*(3*linear)"},
		{"-.5*linear + 1e+1*rbf:gamma=2e+0+linear", "-0.5*linear + 10*rbf:gamma=2 + linear"},
		{"arccos:n=1,layers=1", "arccos:n=1"},
		{"arccos:layers=3,n=1", "arccos:n=1,layers=3"},
		{"compose(arccos:n=1):layers=3", "compose(arccos:n=1):layers=3"},
		{"compose(arccos,compose(arccos,arccos))", "compose(arccos:n=1,compose(arccos:n=1,arccos:n=1))"},
		{"arccos:n=0,sigma=.5,layers=2", "arccos:n=0,layers=2,sigma=0.5"},
		{"arccos:n=0,bias=0", "arccos:n=0"},
		{"arccos:sigma=2,bias=-.5,n=0", "arccos:n=0,bias=-0.5,sigma=2"},
		{"arccos:n=0,sigma=none", "arccos:n=0"},
		{"compose(arccos:n=3,arccos:n=3):layers=0", "compose(arccos:n=3,arccos:n=3)"},
		{"arccos:n=0.5,layers=2,embed=tf-l2", "arccos:n=0.5,layers=2,embed=tf-l2"},
		{"compose(arccos:n=2,arccos:n=-.25):layers=3", "compose(arccos:n=2,arccos:n=-0.25):layers=3"},
		{"compose(linear,arccos:n=0,layers=3)", "compose(linear,arccos:n=0,layers=3)"},
		{"compose(arccos:n=0,layers=2,linear)", "compose(arccos:n=0,layers=2,linear)"},
		{"compose(linear,2*arccos:n=0):layers=3", "compose(linear,2*arccos:n=0):layers=3"},
		{"compose(linear + (2*arccos:n=0)):layers=3", "compose(linear + (2*arccos:n=0)):layers=3"},
		{"product(linear,arccos:n=0,layers=3)", "product(linear,arccos:n=0,layers=3)"},
		{"power(linear)", "power(linear):p=2"},
		{"power(linear):p=1", "power(linear):p=1"},
		{"power(rbf:gamma=1):p=0.5", "power(rbf:gamma=1):p=0.5"},
		{"normalise(exp(power(linear)))", "normalise(exp(power(linear):p=2))"},
		{"product(diffusion,linear)", "product(diffusion:t=0.5,linear)"},
		{"product(diffusion,linear:embed=tf-l2)", "product(diffusion:t=0.5,embed=tf-l2,linear)"},
		{"product(diffusion,linear):embed=tf-l2", "product(diffusion:t=0.5,embed=tf-l2,linear)"},
		{"product(diffusion,linear:embed=tf-l2)", "product(diffusion:t=0.5,embed=tf-l2,linear)"},
		{"product(diffusion:embed=tf-l2,linear:embed=tf-l2):embed=tf-l2",
			"product(diffusion:t=0.5,embed=tf-l2,linear)"},
		{"linear + linear:embed=tf-l1-sqrt", "linear:embed=tf-l1-sqrt + linear"},
		{"exp(compose(ngd:shift=1,linear))", "exp(compose(ngd:shift=1,linear))"},
	} {
		spec, want := pair[0], pair[1]
		k, err := Parse(spec)
		if err != nil || k.String() != want {
			t.Errorf("Parse(%q) = %v, %v, expected %s", spec, k, err, want)
			continue
		}
		if again, err := Parse(want); err != nil || !Equal(again, k) {
			t.Errorf("%q parses to %v, %v, another kernel than %q", want, again, err, spec)
		}
	}
	tf := sparse.Embedding{Norm: sparse.NormL2}
	for spec, want := range map[string]sparse.Embedding{"product(diffusion,linear)": tf, "linear + rbf:embed=tf": {},
		"diffusion": tf} {
		if k, err := ParseIn(spec, tf); err != nil || k.Embedding() != want {
			t.Errorf("ParseIn(%q) = %v, %v, expected the embedding %v", spec, k, err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	for spec, want := range map[string]string{
		"rbf":                         "rbf:gamma=0.01",
		"2*rbf + exp(polynomial:r=1)": "2*rbf:gamma=0.01 + exp(polynomial:gamma=0.01,r=1,degree=3)",
		"rbf:gamma=3":                 "rbf:gamma=3",
		"polynomial":                  "polynomial:gamma=0.01,r=0,degree=3",
		"sigmoid:r=2,embed=tf-l2":     "sigmoid:gamma=0.01,r=2,embed=tf-l2",
		"diffusion:t=1,embed=tf-sqrt": "diffusion:t=1,embed=tf-sqrt",
	} {
		if got := Resolve(MustParse(spec), 100).String(); got != want {
			t.Errorf("Resolve(%q, 100) = %q, expected %q", spec, got, want)
		}
	}
	for _, name := range []string{"rbf", "polynomial", "sigmoid"} {
		if v := MustParse(name).Eval(0.5, 1, 1); v == v {
			t.Errorf("%s without gamma has the value %v, expected NaN", name, v)
		}
	}
}

// Help texts agree with the parser: every example parses, and every default equals an omitted key.
func TestCatalogue(t *testing.T) {
	var names []string
	for _, info := range Catalogue() {
		names = append(names, info.Name)
		if len(info.Examples) == 0 || info.Summary == "" {
			t.Errorf("%s: no example or no summary", info.Name)
		}
		for _, e := range info.Examples {
			k, err := Parse(e)
			if err != nil {
				t.Errorf("%s: example %q gives %v", info.Name, e, err)
			} else if again, err := Parse(k.String()); err != nil || !Equal(again, k) {
				t.Errorf("%s: example %q is %v, which parses to %v, %v", info.Name, e, k, again, err)
			}
		}
		bare := info.Name
		if info.Operands != "" {
			bare += "(linear)"
		}
		for _, q := range info.Params {
			if strings.Contains(q.Default, "1/terms") || strings.Contains(q.Default, "first part") {
				continue
			}
			for _, key := range append([]string{q.Key}, q.Aliases...) {
				if k, err := Parse(bare + ":" + key + "=" + q.Default); err != nil || !Equal(k, MustParse(bare)) {
					t.Errorf("%s: default of %s gives %v, %v, expected %v", info.Name, key, k, err, MustParse(bare))
				}
			}
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("Catalogue lists %v, Names %v", names, Names())
	}
}

// Any text gives an error with a position in the text, or a kernel whose String parses to the same
// kernel, and never a panic.
func FuzzParseKernel(f *testing.F) {
	for _, info := range Catalogue() {
		for _, e := range info.Examples {
			f.Add(e)
		}
	}
	f.Add("ngd:shift=pi,embed=tfidf-l2-sqrt")
	f.Add("polynomial:gamma=1e+03,coef0=-2.5E-1,degree=64")
	f.Add("2*(linear + power(exp(linear:embed=tf-l2)):p=3) + -.5e-3*compose(arccos:n=0,(2*arccos:n=1,layers=2)):layers=5")
	f.Add("normalise(linear + arccos:n=1):embed=tf-l1")
	f.Add("((((linear))))")
	f.Fuzz(func(t *testing.T, spec string) {
		k, err := Parse(spec)
		var e *SpecError
		switch {
		case err == nil:
			again, err := Parse(k.String())
			if err != nil || !Equal(again, k) || again.String() != k.String() {
				t.Fatalf("%q is %v, which parses to %v, %v", spec, k, again, err)
			}
		case !errors.As(err, &e) || e.Column < 1 || e.Column > len(spec)+1 || e.Expected == "":
			t.Fatalf("%q: error %v", spec, err)
		}
	})
}
