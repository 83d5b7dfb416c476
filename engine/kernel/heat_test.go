package kernel

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
)

// The kernel agrees with the formulas of the source in float64, for parameters within its range: ψ₀
// and ψ₁ of the 10-sphere, the cut-off and the factor.
func TestParametrix(t *testing.T) {
	const tm, n, a = 0.4, 10, 4.5
	for _, c := range []float64{0, 0.01, 0.2, 0.5, 0.9, 1, 1.4} {
		x := angle(c)
		gauss := math.Exp(-x * x / tm)
		zero, printed, first := 1.0, 1.0, a*a-a*(a-1)/3
		if c > 0 {
			zero, printed = math.Pow(math.Sin(x)/x, -a), math.Pow(math.Sin(2*x)/(2*x), -a)
			first = a*a - a*(a-1)*(1-x/math.Tan(x))/(x*x)
		}
		u := 2*2*x/3 - 1 // for a cut-off at 3
		bump := 1.0
		switch {
		case u >= 1:
			bump, printed = 0, 0
		case u > 0:
			bump = math.Exp(-1/(1-u)) / (math.Exp(-1/u) + math.Exp(-1/(1-u)))
		}
		for spec, want := range map[string]float64{
			"diffusion:t=0.4,order=0,n=10":                       gauss * zero,
			"diffusion:t=0.4,order=1,n=10":                       gauss * zero * (1 + tm/4*first),
			"diffusion:t=0.4,cutoff=3":                           gauss * bump,
			"diffusion:t=0.4,order=0,n=10,cutoff=3,form=printed": gauss * bump * printed,
			"diffusion:t=0.4,order=0,n=10,constant=full":         gauss * zero * math.Pow(4*math.Pi*tm, -n/2),
			"diffusion:t=0.4,n=10,constant=full":                 gauss * math.Pow(4*math.Pi*tm, -n/2),
		} {
			k := MustParse(spec)
			if got := k.Eval(c, 1, 1); !(math.Abs(got-want) <= 1e-11*want) {
				t.Errorf("%s at c = %v is %v, expected %v", spec, c, got, want)
			}
			// The input of a composition, 1 - k/k(0), is accurate for small values.
			c2, x2, y2 := k.(*kernel).feature(c, 1, 1)
			if want := max(1-k.Eval(c, 1, 1)/k.Eval(0, 1, 1), 0); !(math.Abs(c2-want) <= 1e-14) || x2 != y2 ||
				!(math.Abs(x2*y2-k.Eval(0, 1, 1)) <= 1e-15*x2*y2) {
				t.Errorf("%s: the feature at c = %v is %v, %v, %v, expected c2 = %v", spec, c, c2, x2, y2, want)
			}
			near, _, _ := k.(*kernel).feature(1e-20, 1, 1)
			if at, _, _ := k.(*kernel).feature(1e-9, 1, 1); !(math.Abs(near/1e-20-at/1e-9) <= 1e-7*at/1e-9) {
				t.Errorf("%s: the feature at c = 1e-20 is %v, at 1e-9 %v", spec, near, at)
			}
		}
	}
}

// n is the dimension of the simplex unless it is set. Kernels without n are unchanged. Equivalent
// specifications give equal kernels.
func TestParametrixResolves(t *testing.T) {
	for spec, want := range map[string]string{
		"diffusion:order=0":                             "diffusion:t=0.5,order=0,n=99",
		"diffusion:order=2,n=terms-1,constant=none":     "diffusion:t=0.5,order=2,n=99",
		"diffusion:order=2,n=7":                         "diffusion:t=0.5,order=2,n=7",
		"diffusion:cutoff=pi,embed=tf-l2":               "diffusion:t=0.5,cutoff=pi,embed=tf-l2",
		"diffusion:constant=full,t=2":                   "diffusion:t=2,n=99,constant=full",
		"diffusion:order=none,cutoff=none,form=derived": "diffusion:t=0.5",
		"normalise(diffusion:order=1)":                  "normalise(diffusion:t=0.5,order=1,n=99)",
		"diffusion:form=printed,order=0,cutoff=1,t=1":   "diffusion:t=1,order=0,n=99,form=printed,cutoff=1",
	} {
		k := Resolve(MustParse(spec), 100)
		if k.String() != want || !Equal(k, MustParse(want)) {
			t.Errorf("%s becomes %s, expected %s", spec, k, want)
		}
		if again, err := Parse(MustParse(spec).String()); err != nil || !Equal(again, MustParse(spec)) {
			t.Errorf("%s prints as %s, which parses to %v, %v", spec, MustParse(spec), again, err)
		}
		if v := k.Eval(0.3, 1, 1); !(v >= 0) {
			t.Errorf("%s has the value %v", k, v)
		}
	}
	for _, terms := range []int{0, 1, 2} {
		if k := Resolve(MustParse("diffusion:order=0"), terms); !Equal(k, MustParse("diffusion:order=0,n=1")) {
			t.Errorf("of %d terms the kernel is %s, expected the circle's", terms, k)
		}
	}
	if MustParse("diffusion:t=0.5").(*kernel).direct == nil {
		t.Error("the leading exponential has lost its map")
	}
	open := MustParse("diffusion:order=1")
	if c2, _, _ := open.(*kernel).feature(0.3, 1, 1); open.Eval(0.3, 1, 1) == open.Eval(0.3, 1, 1) || c2 == c2 ||
		PropertiesOf(open).Definiteness != UnprovenDefiniteness {
		t.Error("a kernel without its n has a value")
	}
}

func TestParametrixRefused(t *testing.T) {
	for spec, want := range map[string]struct {
		column          int
		found, expected string
	}{
		"diffusion:n=5":                               {11, "n=5", "order or constant=full with n"},
		"diffusion:form=printed":                      {11, "form=printed", "order=0 with form=printed"},
		"diffusion:order=0,form=printed":              {19, "form=printed", "a cutoff of at most pi"},
		"diffusion:order=0,form=printed,cutoff=3.2":   {19, "form=printed", "infinite at d = π"},
		"diffusion:order=1,form=printed,cutoff=3":     {11, "order=1", "order=0 with form=printed"},
		"diffusion:form=other":                        {16, "form=other", "derived or printed"},
		"diffusion:order=9":                           {17, "order=9", "none, or a whole number from 0 to 8"},
		"diffusion:order=-1":                          {17, "order=-1", "none, or"},
		"diffusion:order=1,n=0":                       {21, "n=0", "terms-1, or a whole number from 1"},
		"diffusion:order=1,n=2.5":                     {21, "n=2.5", "a whole number"},
		"diffusion:cutoff=7":                          {18, "cutoff=7", "up to 6.28"},
		"diffusion:constant=1":                        {20, "constant=1", "none or full"},
		"normalise(diffusion:order=6)":                {11, "diffusion:order=6", "k(x, x) > 0"},
		"normalise(diffusion:t=1e6,order=7,n=5)":      {11, "diffusion", "k(x, x) > 0"},
		"power(diffusion:order=1,n=20):p=0.5":         {7, "diffusion:order=1,n=20", "nonnegative"},
		"product(linear,diffusion:n=5,cutoff=1)":      {26, "n=5", "order or constant"},
		"product(diffusion:form=printed,order=0,ngd)": {19, "form=printed", "a cutoff"},
	} {
		_, err := Parse(spec)
		var e *SpecError
		if !errors.As(err, &e) || e.Column != want.column || !strings.HasPrefix(e.Found, want.found) ||
			!strings.Contains(e.Expected, want.expected) {
			t.Errorf("%s: error %v, expected column %d, %q, %q", spec, err, want.column, want.found, want.expected)
		}
	}
}

// Properties.Condition reports that values overflow or underflow float32.
func TestParametrixRange(t *testing.T) {
	for spec, want := range map[string]string{
		"diffusion:t=0.5,order=0,n=60000":              "values up to e^1.35",
		"diffusion:t=1e-4,order=0,n=60000":             "",
		"diffusion:t=0.5,order=0,n=300,constant=full":  "values of e^-275",
		"diffusion:t=1e-6,order=0,n=300,constant=full": "overflow float32",
		"diffusion:order=0":                            "",
	} {
		if got := PropertiesOf(MustParse(spec)).Condition; want == "" && strings.Contains(got, "float32") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %q, expected it to say %q", spec, got, want)
		}
	}
	// If values are 0, bounds are defined even for an exponent of 10¹⁸.
	if e := MustParse("diffusion:t=1e-18,order=0,n=10").Error(0.5, 1, 1); !(e <= 2.01*underflowError) {
		t.Errorf("the bound of a value that is 0 is %v", e)
	}
	if MustParse("diffusion:t=1e6,order=7,n=5").(*kernel).properties.PositiveDiagonal ||
		!MustParse("diffusion:order=5").(*kernel).properties.PositiveDiagonal {
		t.Error("which kernels have a positive diagonal is wrong")
	}
}

// Near the antipode the sum of ψ_k t^k may be negative. The table of logarithms then has holes, and
// values come from the formula. Tables with holes, and calls with c below and above 1, give the
// same bits as separate calls.
func TestParametrixHoles(t *testing.T) {
	for _, spec := range []string{"diffusion:t=100,order=3,n=20", "diffusion:t=0.05,order=1,n=200",
		"diffusion:t=1e-3,order=2,n=60000,embed=tf-l2"} {
		k := MustParse(spec).(*kernel)
		if table := k.g.table(); !table.IsLog || table.HoleValue == nil || table.Bits > 4 {
			t.Errorf("%s: the table is logarithmic: %v, has holes: %v, 2^%d intervals", spec, table.IsLog,
				table.HoleValue != nil, table.Bits)
		}
		below := 0
		var all []float32
		for c := float32(0); c < 2; c += 1.0 / 512 {
			all = append(all, c)
		}
		for _, isa := range enginetest.ISAs() {
			table := musttest.Get(asm.KernelsFor(isa))(t)
			dst := make([]float32, len(all))
			k.mapTo(table, dst, all, nil, nil)
			for i, c := range all {
				want, bound := k.Eval(float64(c), 1, 1), k.Error(float64(c), 1, 1)
				alone := []float32{c}
				k.mapTo(table, alone, alone, nil, nil)
				if math.Abs(want) <= math.MaxFloat32 && !(math.Abs(float64(dst[i])-want) <= bound) ||
					math.Float32bits(alone[0]) != math.Float32bits(dst[i]) {
					t.Errorf("isa=%s: %s at c = %v is %v, alone %v, expected %v, bound %v", isa, spec, c, dst[i],
						alone[0], want, bound)
				}
				if want < 0 {
					below++
				}
			}
		}
		if below == 0 {
			t.Errorf("%s is nowhere below 0: the test shows nothing", spec)
		}
	}
}
