package kernel

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// Powers that are a simpler kernel are computed as that, to the bit of its value, and keep the specification that was written.
func TestRaised(t *testing.T) {
	for spec, simple := range map[string]string{
		"power(rbf:gamma=0.5,0.25)":                 "rbf:gamma=0.125",
		"power(rbf:gamma=0.5,3)":                    "rbf:gamma=1.5",
		"power(diffusion:t=0.5,0.5)":                "diffusion:t=1",
		"power(ngd-exp:t=0.5,4)":                    "ngd-exp:t=0.125",
		"power(hellinger:gamma=2,0.5)":              "hellinger:gamma=1",
		"power(chi2:gamma=2,0.5)":                   "chi2:gamma=1",
		"power(js:t=2,0.5)":                         "js:t=4",
		"power(exp(ned),0.5)":                       "exp(0.5*ned)",
		"power(exp(0.5*ned + 2*linear),0.5)":        "exp(0.25*ned + linear)",
		"power(power(linear,2),3)":                  "power(linear,6)",
		"power(power(arccos:n=1,0.5),2)":            "arccos:n=1",
		"power(power(arccos:n=1,0.5),0.5)":          "power(arccos:n=1,0.25)",
		"power(4*rbf:gamma=0.5,0.5)":                "2*rbf:gamma=0.25",
		"power(product(rbf:gamma=1,ngd-exp),0.5)":   "product(rbf:gamma=0.5,ngd-exp:t=2,embed=tf)",
		"power(power(linear,2),0.5)":                "", // which is |k|, not k
		"power(polynomial:gamma=1,degree=2,1.5)":    "",
		"power(product(rbf:gamma=1,linear),2)":      "",
		"power(product(rbf:gamma=1,exp(linear)),2)": "", // of which one part may be beyond float32 where the other is 0
		"power(1e-3*exp(linear),10)":                "", // as here
		"power(10*rbf:gamma=1,60)":                  "", // whose weight would be beyond float32
		"power(rbf,0.5)":                            "", // its gamma is still open
	} {
		k := MustParse(spec).(*compiled)
		if f := k.form.(powered); (f.same == nil) != (simple == "") {
			t.Errorf("%s is computed as %v, expected %q", spec, f.same, simple)
			continue
		} else if f.same == nil {
			continue
		} else if want := MustParse(simple); !Equal(f.same, want) && f.same.String() != simple {
			t.Errorf("%s is computed as %s, expected %s", spec, f.same, want)
		}
		if again := MustParse(k.String()); !Equal(again, k) || !strings.HasPrefix(k.String(), "power(") {
			t.Errorf("%s becomes %s", spec, k)
		}
		same := MustParse(simple).(component)
		for _, c := range []float64{0, 1e-9, 0.3, 1, 1.5} {
			if got, want := k.Eval(c, 1.2, 0.7), same.Eval(c, 1.2, 0.7); got != want {
				t.Errorf("%s at c = %v is %v, %s is %v", spec, c, got, simple, want)
			}
			// The definition: a few ulp, times the exponent.
			inner := k.form.(powered).of[0].Eval(c, 1.2, 0.7)
			if got, want := k.Eval(c, 1.2, 0.7), math.Pow(math.Abs(inner), k.form.(powered).p); !(math.Abs(got-want) <= 100*ulp*want) {
				t.Errorf("%s at c = %v is %v, by definition %v", spec, c, got, want)
			}
		}
		if got, want := k.Properties(), same.Properties(); got.Definite != want.Definite || got.NonNegative != want.NonNegative || got.UsesNorms != want.UsesNorms {
			t.Errorf("%s: %+v, expected what %s has, %+v", spec, got, simple, want)
		}
	}
	// A gamma that is left open is filled in before.
	k := Resolve(MustParse("power(rbf,0.5)"), 8).(*compiled)
	if f := k.form.(powered); f.same != Kernel(MustParse("rbf:gamma=0.0625")) {
		t.Errorf("%s is computed as %v", k, f.same)
	}
	// A root of a square is nowhere below 0.
	if v := MustParse("power(power(linear,2),0.5)").Eval(1.5, 1, 1); v != 0.5 {
		t.Errorf("the root of the square of -0.5 is %v", v)
	}
	for _, spec := range []string{"power(rbf:gamma=1,0.3)", "power(rbf,0.3)", "power(ngd-exp,0.7)", "power(exp(ned),0.1)"} {
		if p := PropertiesOf(MustParse(spec)); p.Definite != Positive || p.Source != sourceDivisible {
			t.Errorf("%s: %+v", spec, p)
		}
	}
	// Powers come from elsewhere than from being infinitely divisible.
	for spec, source := range map[string]string{"power(diffusion:t=4,0.5)": PropertiesOf(MustParse("diffusion")).Source, "power(power(linear,2),3)": sourceProduct,
		"power(power(arccos:n=1,4),0.5)": sourceProduct, "power(power(arccos:n=1,0.5),2)": PropertiesOf(MustParse("arccos:n=1")).Source} {
		if p := PropertiesOf(MustParse(spec)); p.Source != source {
			t.Errorf("%s: source %q, expected %q", spec, p.Source, source)
		}
	}
	if p := PropertiesOf(MustParse("power(diffusion:t=4,0.5)")); p.Definite != NotProven || p.Unrefuted {
		t.Errorf("the diffusion kernel of t = 8 is held for %+v", p)
	}
}

// Powers have values in float32 where those of parts have none.
func TestPowersOfProducts(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"power(product(rbf:gamma=1,exp(linear)),2)", "power(1e-3*exp(0.1*linear),10)", "power(10*rbf:gamma=1,60)"} {
			k := MustParse(spec)
			for _, c := range []float32{0, 0.1, 0.5, 1} {
				for _, x := range []float32{0.5, 1, 2, 9} {
					y := []float32{0.6, 1.5, 2, 9}
					dst := make([]float32, len(y))
					k.mapTo(table, dst, []float32{c, c, c, c}, []float32{x}, y)
					for j, y := range y {
						want := k.Eval(float64(c), float64(x), float64(y))
						bound := min(k.Error(float64(c), float64(x), float64(y)), 1e-3*want+underflow) // the error is infinite where a part leaves float32
						if !(math.Abs(float64(dst[j])-want) <= bound) && !(want > math.MaxFloat32) {
							t.Errorf("%s, c = %v, norms %v and %v: found %v, expected %v, bound %v", spec, c, x, y, dst[j], want, bound)
						}
					}
				}
			}
		}
	})
}

// Whole powers are right however great they are, by squaring or beyond.
func TestWholePower(t *testing.T) {
	for _, c := range []struct{ v, p, want float64 }{{3, 4, 81}, {-2, 3, -8}, {0.5, device.MostPower, 0}, {-1, 1<<40 + 1, -1}, {-1, 1 << 40, 1}, {0.5, 1e20, 0}, {1, 1e300, 1}, {2, 1e20, math.Inf(1)}} {
		if got := table.WholePower(c.v, c.p); got != c.want {
			t.Errorf("%v^%v: found %v, expected %v", c.v, c.p, got, c.want)
		}
		if got := power1(nil, c.p).raise(c.v); got != c.want {
			t.Errorf("raised to %v: %v gives %v, expected %v", c.p, c.v, got, c.want)
		}
	}
}
