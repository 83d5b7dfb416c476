package arccosine

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// ulp is the greatest relative error of one float64 rounding.
const ulp = 0x1p-53

// golden is a line of testdata/arccosine.txt: an integral by quadrature in 75 digits, that has
// nothing in common with series and recurrences.
type golden struct{ n, c, j, deficit float64 }

func goldens(t *testing.T) []golden {
	t.Helper()
	file := musttest.Get(os.Open("testdata/arccosine.txt"))(t)
	defer file.Close()
	var all []golden
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var g golden
		if _, err := fmt.Sscan(lines.Text(), &g.n, &g.c, &g.j, &g.deficit); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		all = append(all, g)
	}
	if want := 30 * 14; len(all) != want {
		t.Fatalf("%d values, expected %d", len(all), want)
	}
	return all
}

// J and Deficit against quadrature: the stated 64 (n+1) ulp, divided by n+½ below 0; for c = 2^-149
// as for 2 - 2^-23.
func TestGolden(t *testing.T) {
	var worst, worstDeficit float64
	for _, g := range goldens(t) {
		d := New(g.n)
		tol := 64 * (g.n + 1) * ulp
		if g.n < 0 {
			tol = 64 * ulp / (g.n + 0.5)
		}
		got := d.J(g.c)
		if !(math.Abs(got-g.j) <= tol*g.j) {
			t.Errorf("n = %v, c = %v: J is %v, expected %v, %.3g ulp", g.n, g.c, got, g.j, math.Abs(got-g.j)/g.j/ulp)
		}
		if g.j > 0 {
			worst = max(worst, math.Abs(got-g.j)/(tol*g.j))
		}
		lost := d.Deficit(g.c)
		if !(math.Abs(lost-g.deficit) <= tol*g.deficit) {
			t.Errorf("n = %v, c = %v: the deficit is %v, expected %v, %.3g ulp", g.n, g.c, lost, g.deficit,
				math.Abs(lost-g.deficit)/g.deficit/ulp)
		}
		if g.deficit > 0 {
			worstDeficit = max(worstDeficit, math.Abs(lost-g.deficit)/(tol*g.deficit))
		}
	}
	t.Logf("%.0f %% and %.0f %% of the bounds used", 100*worst, 100*worstDeficit)
	if !(worst > 0.02 && worstDeficit > 0.02) {
		t.Error("the bounds are ones that anything passes")
	}
}

// The closed forms that the source prints, of degrees 0 to 4: those of 3 and 4 follow from applying
// its operator -(1/sin θ) d/dθ once and twice more,
//
//	J_3 = φ cos θ (9 + 6 cos² θ) + sin θ (4 + 11 cos² θ)
//	J_4 = φ (9 + 72 cos² θ + 24 cos⁴ θ) + sin θ cos θ (55 + 50 cos² θ)
//
// For θ up to π/2 no term is below 0.
func TestClosedForms(t *testing.T) {
	for theta := 0.01; theta < math.Pi/2; theta += 0.01 {
		s, c := math.Sincos(theta)
		phi := math.Pi - theta
		half := math.Sin(theta / 2)
		for n, want := range []float64{
			phi, s + phi*c, 3*s*c + phi*(1+2*c*c),
			phi*c*(9+6*c*c) + s*(4+11*c*c),
			phi*(9+72*c*c+24*c*c*c*c) + s*c*(55+50*c*c),
		} {
			if got := New(float64(n)).J(2 * half * half); !(math.Abs(got-want) <= 64*ulp*want) {
				t.Errorf("J_%d(%v) is %v, expected %v", n, theta, got, want)
			}
		}
	}
}

// k_n(x, x) = (2n-1)!! for whole n and norm 1, and Γ's formula between them; the fractional degrees
// tend to the whole ones, from both sides and for every angle, J_{n+e} - J_n being about e ∂J/∂n.
func TestLimits(t *testing.T) {
	double := 1.0
	for n := range 11 {
		if n > 0 {
			double *= float64(2*n - 1)
		}
		d := New(float64(n))
		if got := d.Diagonal() / math.Pi; !(math.Abs(got-double) <= 16*ulp*double) {
			t.Errorf("k_%d(x, x) is %v, expected %v", n, got, double)
		}
		for c := 0.0; c <= 2; c += 1.0 / 64 {
			want := d.J(c)
			for _, e := range []float64{-1e-3, -1e-8, 1e-8, 1e-3} {
				got := New(float64(n) + e).J(c)
				slope := 10 * (1 + math.Log1p(float64(n)) + math.Abs(math.Log(max(2-c, 1e-3)))) // of ln J
				if !(math.Abs(got-want) <= math.Abs(e)*slope*want+1e-13*want) {
					t.Errorf("J of the degree %v at c = %v is %v, that of %d %v", float64(n)+e, c, got, n, want)
				}
			}
		}
	}
}

// The derivative dJ_n/dc = -n² J_{n-1}, by central differences, across the seam at c = 1 and at
// degrees where (4) has poles.
func TestDerivative(t *testing.T) {
	for _, n := range []float64{1, 1.5, 2.5, 3, 0.75, 1.25, 4.999, 12, 1.5 - 1e-9} {
		d, below := New(n), New(n-1)
		for c := 0.05; c < 1.96; c += 0.05 {
			h := 1e-5 * min(c, 2-c)
			got := (d.J(c+h) - d.J(c-h)) / (2 * h)
			want := -n * n * below.J(c)
			// h² J‴/6 is below 10⁻¹⁰ (n+1)³ of J_{n-1}/min(c, 2-c), rounding gives 64(n+1) ulp J/h.
			tol := 1e-10*math.Pow(n+2, 3)*math.Abs(want) + 64*(n+1)*ulp*d.J(c)/h
			if !(math.Abs(got-want) <= tol) {
				t.Errorf("dJ_%v/dc at %v is %v, expected %v, tolerance %v", n, c, got, want, tol)
			}
		}
	}
}

// zeta at even numbers is known, and decreases to 1.
func TestZeta(t *testing.T) {
	for k, want := range map[int]float64{2: math.Pi * math.Pi / 6, 4: math.Pow(math.Pi, 4) / 90,
		3: 1.2020569031595942854, 5: 1.0369277551433699263, 60: 1} {
		if got := zeta(k); !(math.Abs(got-want) <= 8*ulp) {
			t.Errorf("zeta(%d) is %v, expected %v", k, got, want)
		}
	}
}
