package kernel

import (
	"math"
	"strings"
	"testing"
)

// A kernel with the property Decreasing decreases in c, up to the last bits of its values.
func TestFalling(t *testing.T) {
	specs := []string{
		"power(ngd):p=3", "power(bhattacharyya):p=3", "power(bhattacharyya):p=2", "power(hellinger):p=0.5", "exp(ngd-log)",
		"product(hellinger,ngd-exp)", "product(bhattacharyya,ngd)", "2*hellinger+bhattacharyya", "normalise(linear)",
		"normalise(arccos:n=1)", "centred(hellinger)", "compose(hellinger,ngd-exp)", "compose(c,c)", "arccos:n=0",
		"polynomial:r=1,degree=2,gamma=1", "polynomial:r=-1,degree=3,gamma=1", "sigmoid:r=-1,gamma=2",
	}
	for _, f := range Catalogue() {
		specs = append(specs, f.Examples...)
	}
	falling := map[string]bool{}
	for _, spec := range specs {
		k, err := Parse(spec)
		if err != nil {
			continue
		}
		k = Resolve(k, 10)
		if !PropertiesOf(k).Decreasing {
			continue
		}
		falling[spec] = true
		for _, norms := range [][2]float64{{1, 1}, {0.5, 3}, {7, 2}} {
			last := k.Eval(0, norms[0], norms[1])
			for i := 1; i <= 4000; i++ {
				c := float64(i) / 2000
				v := k.Eval(c, norms[0], norms[1])
				if !(v-last <= 1e-12*max(1, v, -v)) {
					t.Fatalf("%s rises from %v to %v at c = %v, norms %v", spec, last, v, c, norms)
				}
				last = v
			}
		}
		if got := DecreasesWithC(k); got != (falling[spec] && !UsesNorms(k)) {
			t.Errorf("%s: FallsWithC is %v", spec, got)
		}
	}
	for spec, want := range map[string]bool{
		"linear": true, "hellinger:gamma=1": true, "diffusion:t=0.5": true, "c": false, "product(bhattacharyya,ngd)": false,
		"power(bhattacharyya):p=2": false, "power(ngd):p=3": true, "normalise(linear)": true, "rbf": true,
		"polynomial:r=1,degree=2,gamma=1": false, "2*hellinger+bhattacharyya": true,
	} {
		if falling[spec] != want {
			t.Errorf("%s falls with c: %v, expected %v", spec, falling[spec], want)
		}
	}
}

// 2 arcsin⟨x, y⟩ has a power series without negative coefficients (Zhang, Chen and Lee, §4), so ngd
// with a shift of π, or more, is positive definite, and so are its products. With less it isn't:
// the matrix of x and -x has the eigenvalue 2 shift - 2π.
func TestShiftedDistanceIsPositive(t *testing.T) {
	for spec, want := range map[string]Definiteness{
		"ngd": ConditionallyPositiveDefinite, "ngd:shift=3.1": ConditionallyPositiveDefinite,
		"ngd:shift=pi": PositiveDefinite,
		"ngd:shift=4":  PositiveDefinite, "product(ngd:shift=pi,diffusion:t=0.5)": UnprovenDefiniteness,
		"product(ngd:shift=pi,bhattacharyya)": PositiveDefinite, "product(ngd,bhattacharyya)": UnprovenDefiniteness,
	} {
		if p := PropertiesOf(MustParse(spec)); p.Definiteness != want || want == PositiveDefinite && p.Warning() != "" {
			t.Errorf("%s is %v, %q", spec, p.Definiteness, p.Warning())
		}
	}
	for shift := 0.0; shift < 4; shift += 0.5 {
		k := leaf(ngd(shift))
		least := k.Eval(0, 1, 1) - math.Abs(k.Eval(2, 1, 1))
		if proven := k.properties.Definiteness == PositiveDefinite; proven && !(least >= 0) {
			t.Errorf("shift %v is called positive definite, x and -x have the eigenvalue %v", shift, least)
		}
	}
}

// A kernel is NonNegative or NonPositive if and only if its values are for all documents. A
// negative offset may be compensated by documents.
func TestSigns(t *testing.T) {
	specs := append(leafSpecs(), "-1*rbf:gamma=1", "-2*rbf:gamma=1 + 3*ned", "power(ned-log):p=3", "power(ned):p=2",
		"product(ned,ngd)", "product(ned,ngd,ngd-log)", "compose(linear,ned)", "ngd:shift=-1", "-1*linear", "-1*ned")
	found := 0
	for _, spec := range specs {
		k, err := Parse(spec)
		if err != nil {
			continue
		}
		k = Resolve(k, 4)
		known, below, above := PropertiesOf(k), false, false
		for c := 0.0; c <= 2; c += 1.0 / 16 {
			for _, x := range []float64{1e-3, 0.5, 1, 3, 1e4} {
				for _, y := range []float64{1e-3, 0.5, 1, 3, 1e4} {
					v := k.Eval(c, x, y)
					below, above = below || v < 0, above || v > 0
				}
			}
		}
		if known.NonNegative && below || known.NonPositive && above {
			t.Errorf("%s: values below 0 %v, above %v, but its properties are %+v", k, below, above, known)
		}
		if !above && below && !known.NonPositive && !strings.Contains(spec, "r=-") {
			t.Errorf("%s has no value above 0 and doesn't say so", k)
		}
		if known.NonPositive {
			found++
		}
	}
	if found < 20 {
		t.Errorf("%d kernels are nowhere above 0, expected those of the distances", found)
	}
}
