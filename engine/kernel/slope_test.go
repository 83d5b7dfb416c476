package kernel_test

import (
	"math"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

// Slopes agree with derivatives computed by hand.
func TestSlopes(t *testing.T) {
	const x, y = 1.5, 0.7
	for _, c := range []float64{1e-6, 0.01, 0.3, 0.9, 1, 1.4} {
		a := math.Acos(1 - c)
		if c < 0.1 {
			a = 2 * math.Asin(math.Sqrt(c/2))
		}
		b := math.Pi - a
		for spec, want := range map[string][2]float64{
			"diffusion:t=0.3":                       {-2 * a / 0.3 * math.Exp(-a*a/0.3) / math.Sin(a), 0},
			"ngd":                                   {-2 / math.Sin(a), 0},
			"linear":                                {-x * y, y * (1 - c)},
			"polynomial:degree=3,gamma=0.5,coef0=1": {-1.5 * x * y * poly(x*y, c), 1.5 * y * (1 - c) * poly(x*y, c)},
			"rbf:gamma=0.4":                         {-0.8 * x * y * rbf(x, y, c), -0.8 * (x - y*(1-c)) * rbf(x, y, c)},
			"arccos:n=1":                            {-x * y * b / math.Pi, y * (math.Sin(a) + b*(1-c)) / math.Pi},
			"product(linear,linear)":                {-2 * x * y * x * y * (1 - c), 2 * x * y * y * (1 - c) * (1 - c)},
		} {
			k := musttest.Get(kernel.Parse(spec))(t)
			byC, byX := kernel.PartialDerivatives(k, c, x, y)
			// The step h is at most a/4. Cancellation adds 2⁻⁵² of the value over h sin a.
			tol := 1e-8*max(1, math.Abs(want[0])) + 1e-15*math.Abs(k.Eval(0, x, x))/min(1e-3, a/4)/math.Sin(a)
			if !(math.Abs(byC-want[0]) <= tol) || !(math.Abs(byX-want[1]) <= 1e-9) {
				t.Errorf("%s: slopes at c = %v are %v, %v, expected %v", spec, c, byC, byX, want)
			}
		}
	}
}

func poly(xy, c float64) float64 { return math.Pow(0.5*xy*(1-c)+1, 2) }

func rbf(x, y, c float64) float64 { return math.Exp(-0.4 * (x*x + y*y - 2*x*y*(1-c))) }
