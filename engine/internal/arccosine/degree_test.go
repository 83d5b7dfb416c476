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

// ulp is the maximum relative error of one float64 rounding.
const ulp = 0x1p-53

// golden is a line of testdata/arccosine.txt: an integral by quadrature to 75 digits, which is
// independent of series and recurrences.
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

// J and Deficit agree with quadrature within the documented 64 (n+1) ulp, divided by n+½ for n < 0,
// from c = 2^-149 to 2 - 2^-23.
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
