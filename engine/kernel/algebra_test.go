package kernel

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/enginetest"
	tables "github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// golden is a line of testdata/algebra.txt.
type golden struct {
	spec           string
	c, x, y, value float64
	c2             float64
	hasC2          bool
}

// goldens reads values that a Python program computed from the definitions to 120 digits.
func goldens(t *testing.T) []golden {
	t.Helper()
	file, err := os.Open("testdata/algebra.txt")
	musttest.NoError(t, err)
	defer file.Close()
	var all []golden
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 6 {
			t.Fatalf("%q: %d fields, expected 6", lines.Text(), len(fields))
		}
		var v [5]float64
		for i, s := range fields[1:] {
			if i == 4 && s == "-" {
				continue
			}
			if v[i], err = strconv.ParseFloat(s, 64); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
		}
		all = append(all, golden{fields[0], v[0], v[1], v[2], v[3], v[4], fields[5] != "-"})
	}
	if want := 45 * 18 * 4; len(all) != want {
		t.Fatalf("%d values, expected %d", len(all), want)
	}
	return all
}

// The reference of every combination is accurate: values to some ulp of the largest value of k for
// these norms, and 1 - cosine in the feature space to some ulp of its value down to c = 2⁻¹⁴⁹. Each
// of up to three steps of a composition adds some roundings, which an angle may double. Powers and
// exponentials multiply relative errors by their exponent, which is below 20. 2000 ulp = 2·10⁻¹³
// bound the total.
func TestAlgebraGolden(t *testing.T) {
	for _, g := range goldens(t) {
		k := made(g.spec).(*kernel)
		scale := max(math.Abs(g.value), math.Sqrt(math.Abs(k.Eval(0, g.x, g.x)*k.Eval(0, g.y, g.y))))
		if strings.HasPrefix(g.spec, "centred") || strings.Contains(g.spec, "ng") {
			scale += 10 // terms that cancel in a distance
		}
		if got := k.Eval(g.c, g.x, g.y); !(math.Abs(got-g.value) <= 2000*ulp*scale) {
			t.Errorf("%s at c = %v, norms %v and %v: the value is %v, expected %v", g.spec, g.c, g.x, g.y, got, g.value)
		}
		if positive := k.properties.PositiveDiagonal; positive && !g.hasC2 {
			t.Errorf("%s: the diagonal isn't above 0", g.spec)
		} else if !positive || strings.HasPrefix(g.spec, "centred") {
			// For these kernels only the definition was computed.
			continue
		}
		c2, _, _ := k.feature(g.c, g.x, g.y)
		// Norms of a feature space are rounded, too, and c2 may depend on their difference.
		moved, _, _ := k.feature(g.c, g.x*(1+4*ulp), g.y)
		tol := 2000*ulp*g.c2 + 2*math.Abs(moved-c2) + 1e-100
		if g.c > 1 {
			tol += 16 * ulp // an even power is also small near c = 2
		}
		if !(math.Abs(c2-g.c2) <= tol) {
			t.Errorf("%s at c = %v, norms %v and %v: c2 is %v, expected %v, %g ulp", g.spec, g.c, g.x, g.y, c2, g.c2,
				math.Abs(c2-g.c2)/g.c2/ulp)
		}
	}
}

// The error bound of kernels with a single table is at most 8 ulp, 16 units, unless the value is
// near 0 or the table holds exponents of exponentials.
func TestTableErrors(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 1000
	}
	for _, spec := range mapSpecs() {
		k, ok := made(spec).(*kernel)
		if !ok || !k.separable || k.direct != nil {
			continue
		}
		table := k.g.table()
		worst, near := 0.0, 1e-3
		if !k.properties.NonNegative { // the values of a row may have both signs
			near = 1e-2
		}
		for _, c := range float32Distances(n) {
			v := math.Abs(k.Eval(float64(c), 1, 1))
			if e := k.Error(float64(c), 1, 1); v > near {
				worst = max(worst, e/v/unitRoundoff)
			}
		}
		t.Logf("%s: 2^%d intervals, logarithm %t: %.1f units", spec, table.Bits, table.IsLog, worst)
		// a sum may cancel; its error is then relative to its parts
		if !(worst <= 16) && !table.IsLog && !strings.Contains(spec, "+") {
			t.Errorf("%s: the stated error is %v units of 2⁻²⁴, expected at most 16", spec, worst)
		}
	}
}

// If a table approximates a function badly, its error bound is large but valid. If the
// approximation is too bad, there is no table.
func TestTableOfRoughFunctions(t *testing.T) {
	for name, g := range map[string]func(c float64) float64{
		"waves":      func(c float64) float64 { return math.Sin(3000 * c) },
		"step":       func(c float64) float64 { return 1 + math.Tanh(1e4*(c-0.7)) },
		"high power": func(c float64) float64 { return math.Pow(2-c, 40) },
		"steep":      func(c float64) float64 { return math.Exp(-1e4 * c) },
		"root":       func(c float64) float64 { return math.Pow(c, 1.0/64) },
		"zero":       func(c float64) float64 { return 0 },
		"large":      func(c float64) float64 { return 1e30 * (1 + c) },
		"tiny":       func(c float64) float64 { return 1e-43 * (1 + c) },
		"overflow":   func(c float64) float64 { return math.Exp(120 * (1 - c)) },
	} {
		p := tables.New(g, nil)
		var relative float64
		everyISA(t, func(t *testing.T, table *asm.Kernels) {
			dst := [1]float32{}
			for _, c := range float32Distances(20000) {
				want := g(float64(c))
				p.Apply(table, dst[:], []float32{c})
				bound := p.Error(float64(c), want)
				if math.Abs(want) > math.MaxFloat32 {
					continue
				}
				if !(math.Abs(float64(dst[0])-want) <= bound) {
					t.Fatalf("%s at c = %v: found %v, expected %v, bound %v", name, c, dst[0], want, bound)
				}
				if want > 1e-30 && !math.IsInf(bound, 1) {
					relative = max(relative, bound/want)
				}
			}
		})
		t.Logf("%s: 2^%d intervals, logarithm %t, relative bound up to %g", name, p.Bits, p.IsLog, relative)
		if wild := name == "waves" || name == "step"; wild != (p.Fallback != nil) || wild &&
			!(relative <= 1.0001*unitRoundoff) {
			t.Errorf("%s: value by value %t, relative bound %g", name, p.Fallback != nil, relative)
		}
	}
}

// Every function with a half-line table has an error within HalfLineError.
func TestHalfLine(t *testing.T) {
	power := func(p float64) func(v float64) float64 {
		return func(v float64) float64 { return math.Pow(v, p) }
	}
	for name, f := range map[string]func(v float64) float64{
		"arctangent": math.Atan, "power 0.15": power(0.15), "power 2.5": power(2.5), "power 5.9": power(5.9),
		"power -0.9": power(-0.9),
		"log":        func(v float64) float64 { return math.Log1p(math.Sqrt(v)) }, "root": math.Sqrt,
	} {
		h := tables.NewHalfLine(f)
		worst := 0.0
		for v := 0x1p-170; v < 0x1p170; v *= 1.00731 {
			want := f(v)
			if want < 1e-300 || math.IsInf(want, 0) {
				continue
			}
			err := math.Abs(h.Eval(v)-want) / want
			if !(err <= tables.HalfLineError) {
				t.Fatalf("%s at %v: relative error %v", name, v, err)
			}
			worst = max(worst, err)
		}
		t.Logf("%s: relative error %g", name, worst)
		if h.Eval(0) != f(0) || !math.IsNaN(h.Eval(math.NaN())) {
			t.Errorf("%s: of 0 it is %v, of NaN %v", name, h.Eval(0), h.Eval(math.NaN()))
		}
	}
}

// A normalised kernel is exactly 1 for identical documents of any norm, including 0 and norms
// beyond the range of float32.
func TestNormaliseDiagonal(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"normalise(polynomial:gamma=0.1,r=1,degree=2)",
			"normalise(polynomial:gamma=1,r=0,degree=40)", "normalise(arccos:n=2)",
			"normalise(linear + rbf:gamma=0.5)", "normalise(exp(1e-3*linear))",
			"normalise(compose(rbf:gamma=0.1,arccos))",
			"normalise(centred(ned))"} {
			k := MustParse(spec)
			for _, x := range []float32{0, 1e-30, 1e-3, 1, 1.1, 3.14159, 77, 250} {
				dst := []float32{0}
				k.mapTo(table, dst, dst, []float32{x}, []float32{x})
				if dst[0] != 1 {
					t.Errorf("%s: norm %v: the diagonal is %v", spec, x, dst[0])
				}
			}
		}
	})
}

// Centring doesn't change distances: the negative distance in the feature space of a centred kernel
// equals the negative distance for the kernel itself, even for small distances, and is -√(2‖x-y‖)
// for the kernel negative distance.
func TestCentredDistances(t *testing.T) {
	centred, plain := MustParse("compose(centred(rbf:gamma=0.1),ned)"), MustParse("compose(rbf:gamma=0.1,ned)")
	twice, ned := MustParse("compose(centred(ned),ned)"), MustParse("ned")
	for _, c := range []float64{0, 1e-14, 1e-9, 1e-3, 0.7} {
		for _, y := range []float64{2, 2.0001, 3} {
			// The error is about 2⁻⁵² (√p-√q)²/g for norms √p and √q, and 0 for equal norms, times
			// ten for roots.
			const tol = 1e-13
			for _, pair := range [][2]float64{{centred.Eval(c, 2, y), plain.Eval(c, 2, y)},
				{twice.Eval(c, 2, y), -math.Sqrt(-2 * ned.Eval(c, 2, y))}} {
				if err := math.Abs(pair[0] - pair[1]); !(err <= tol*math.Abs(pair[1])) {
					t.Errorf("c = %v, norms 2 and %v: found %v, expected %v, relative error %v", c, y, pair[0], pair[1],
						err/math.Abs(pair[1]))
				}
			}
		}
	}
}

// everyISA runs a test for every instruction set of this processor.
func everyISA(t *testing.T, test func(t *testing.T, table *asm.Kernels)) {
	for _, isa := range enginetest.ISAs() {
		table := musttest.Get(asm.KernelsFor(isa))(t)
		t.Run("isa="+string(isa), func(t *testing.T) { test(t, table) })
	}
}

// User-defined kernels work like other kernels.
func TestNewKernel(t *testing.T) {
	ngd, rbf := MustParse("ngd-log"), MustParse("rbf:gamma=0.1")
	of := func(k Kernel) func(c, x, y float64) float64 { return k.Eval }
	alone := musttest.Get(New(Custom{Name: "mine", Eval: of(ngd), Embedding: sparse.SphereEmbedding}))(t)
	both, err := New(Custom{Name: "mine", Eval: of(rbf), Properties: Properties{UsesNorms: true,
		Definiteness: PositiveDefinite}})
	musttest.NoError(t, err)
	if alone == both || alone.String() != "mine" || UsesNorms(alone) || !UsesNorms(both) ||
		PropertiesOf(both).Definiteness != PositiveDefinite {
		t.Errorf("%v and %v: equal %v, properties %+v and %+v", alone, both, alone == both, PropertiesOf(alone),
			PropertiesOf(both))
	}
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		cs := float32Distances(1000)
		x, y := []float32{3}, make([]float32, len(cs))
		for i := range y {
			y[i] = norms[i%len(norms)]
		}
		dst := make([]float32, len(cs))
		for _, k := range []Kernel{alone, both} {
			k.mapTo(table, dst, cs, x, y)
			for i, c := range cs {
				want := k.Eval(float64(c), 3, float64(y[i]))
				if err := math.Abs(float64(dst[i]) - want); !(err <= k.Error(float64(c), 3, float64(y[i]))) {
					t.Fatalf("%s at c = %v: found %v, expected %v", k, c, dst[i], want)
				}
			}
		}
		got, want := make([]float32, len(cs)), make([]float32, len(cs))
		alone.mapTo(table, got, cs, nil, nil)
		ngd.mapTo(table, want, cs, nil, nil)
		if !slices.Equal(got, want) {
			t.Error("a function of c alone gives other values than the same function from here")
		}
	})
	for name, c := range map[string]Custom{"Custom.Name is empty": {Eval: of(ngd)}, "Eval is nil": {Name: "k"},
		"UsesNorms": {Name: "k", Eval: of(rbf)}, "depends on the norms": {Name: "k", Eval: of(rbf)}} {
		musttest.WantError(New(c))(t, name, name)
	}
}

// Combinations may name user-defined kernels. Names that specifications can't contain are invalid.
func TestOwnKernelsAsParts(t *testing.T) {
	eval := func(c, x, y float64) float64 { return 1 / (1 + c) }
	cauchy := musttest.Get(New(Custom{Name: "cauchy-1", Eval: eval,
		Properties: Properties{Definiteness: PositiveDefinite}}))(t)
	norms := musttest.Get(New(Custom{Name: "mine", Properties: Properties{UsesNorms: true},
		Eval: func(c, x, y float64) float64 { return x*y + c }}))(t)
	of := func(spec string) Kernel { return musttest.Get(Parse(spec, cauchy, norms))(t) }
	for spec, want := range map[string]func(c, x, y float64) float64{
		"sum(mine,linear)":        func(c, x, y float64) float64 { return x*y + c + x*y*(1-c) },
		"2*cauchy-1 + linear":     func(c, x, y float64) float64 { return 2/(1+c) + x*y*(1-c) },
		"product(cauchy-1,c)":     func(c, x, y float64) float64 { return c / (1 + c) },
		"power(cauchy-1):p=2":     func(c, x, y float64) float64 { return 1 / (1 + c) / (1 + c) },
		"exp(sum(mine,2*linear))": func(c, x, y float64) float64 { return math.Exp(x*y + c + 2*x*y*(1-c)) },
		"mine":                    norms.Eval,
	} {
		k := of(spec)
		again := musttest.Get(Parse(k.String(), norms, cauchy))(t)
		if again.String() != k.String() || spec != "mine" && Equal(k, again) {
			t.Errorf("%s is written %s, which is read as %s", spec, k, again)
		}
		everyISA(t, func(t *testing.T, table *asm.Kernels) {
			c, x, y := []float32{0, 0.25, 1}, []float32{0.5}, []float32{1, 2, 0.25}
			dst := make([]float32, 3)
			musttest.NoError(t, Apply(k, table, dst, c, x, y))
			for i, v := range dst {
				want := want(float64(c[i]), 0.5, float64(y[i]))
				if !(math.Abs(float64(v)-want) <= 1e-5*want) {
					t.Errorf("%s at c = %v and norms 0.5 and %v: %v, expected %v", k, c[i], y[i], v, want)
				}
			}
		})
	}
	twice := musttest.Get(New(Custom{Name: "mine", Eval: eval}))(t)
	for spec, own := range map[string][]Kernel{"sum(mine,linear)": nil, "mine": {norms, twice}, "cauchy-2": {cauchy},
		"linear": {nil}, "sum(linear:embed=tf-l2,mine,cauchy-1:q=1)": {norms, cauchy}} {
		musttest.WantError(Parse(spec, own...))(t, fmt.Sprintf("%s of %v", spec, own))
	}
	for _, name := range []string{"a b", "a(b)", "a+b", "a,b", "2*a", "a:b", "a:", " a", "a\n", "ä", "linear:a=1", "sum"} {
		musttest.WantError(New(Custom{Name: name, Eval: eval}))(t, fmt.Sprintf("a user-defined kernel called %q", name))
	}
}

// Kernels with the same canonical specification are equal. A user-defined kernel equals only
// itself.
func TestEqual(t *testing.T) {
	for _, pair := range [][2]string{
		{"linear", "1*linear"}, {"power(linear):p=17", "power((linear)):p=17"},
		{"exp(rbf:gamma=0.5)", " exp( rbf:gamma=.5 )"}, {"diffusion:t=1", "diffusion"},
		{"diffusion", "diffusion:t=0.5,embed=tf-l1-sqrt"},
	} {
		a, b := MustParse(pair[0]), MustParse(pair[1])
		if want := pair[1] != "diffusion"; Equal(a, b) != want || Equal(a, Resolve(b, 9)) != want {
			t.Errorf("%s and %s: equal %t, expected %t", a, b, Equal(a, b), want)
		}
	}
	own := func() Kernel {
		return musttest.Get(New(Custom{Name: "mine", Eval: func(c, x, y float64) float64 { return c }}))(t)
	}
	k := own()
	if !Equal(k, k) || Equal(k, own()) || Equal(k, MustParse("c")) {
		t.Error("a user-defined kernel equals another")
	}
}

// A kernel is resolved once per number of terms, because engines resolve it for each request, and
// each resolved kernel makes a table.
func TestResolvedOnce(t *testing.T) {
	for _, spec := range []string{"exp(polynomial)", "diffusion:t=0.1,order=1", "2*(rbf + linear)"} {
		k := MustParse(spec)
		r := Resolve(k, 100)
		if r == k || Resolve(k, 100) != r || Resolve(r, 100) != r || Equal(Resolve(k, 7), r) {
			t.Errorf("%s is resolved to %s, and again to %s", k, r, Resolve(k, 100))
		}
	}
}

// The error of an exponential isn't NaN if the value is 0 and the exponent is too large for float32
// units.
func TestExponentialError(t *testing.T) {
	for _, spec := range []string{"exp(1e15*ned)", "exp(1e17*linear)"} {
		k := MustParse(spec)
		if err := k.Error(1.5, 2, 3); !(err <= 2.01*underflowError) {
			t.Errorf("%s: value %v, error %v", spec, k.Eval(1.5, 2, 3), err)
		}
	}
}
