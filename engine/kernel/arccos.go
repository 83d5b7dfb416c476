package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

func init() {
	n := numberParam("n", "degree of the threshold units", 1, arccosine.MinDegree, arccosine.MaxDegree, fmt.Sprintf(
		"a number from %g to %g (the integral diverges for n <= -1/2)", arccosine.MinDegree, float64(arccosine.MaxDegree)))
	bias := signedParam("bias", "bias of the thresholds, in units of the norms; only for n=0", 0)
	sigma := positiveParam("sigma",
		"standard deviation of normally smoothed thresholds, in units of the norms; only for n=0", 0)
	register(family{
		Name: "arccos", Summary: "‖x‖ⁿ‖y‖ⁿ J_n(arccos(1-c))/π",
		Description: "kernel of an infinitely wide network of threshold units of any degree, with one or more " +
			"layers",
		Source: sourceCho + ", ch. 2 to 4, app. A",
		Examples: []string{"arccos:n=0", "arccos:n=1", "arccos:n=2", "arccos:n=1,layers=3", "arccos:n=3",
			"arccos:n=0.5", "arccos:n=-0.25", "arccos:n=0,sigma=0.5", "arccos:n=0,bias=0.3"},
		sortKey: 180,
		params: []param{
			n, integerParam("layers", "number of layers; each works in the feature space of the layer below", 1, 1,
				maxLayers).hiddenAtDefault(),
			bias.hiddenAtDefault(), sigma.withDefaultWord("none", 0),
		},
		checkParams: func(v []float64) (int, string) {
			switch {
			case v[arccosN] != 0 && v[arccosBias] != 0:
				return arccosBias, "n=0 (only units of degree 0 have a bias)"
			case v[arccosN] != 0 && v[arccosSigma] > 0:
				return arccosSigma, "n=0 (only units of degree 0 have smoothed thresholds)"
			}
			return 0, ""
		},
		build: func(v []float64) formula {
			switch layers := int(v[arccosLayers]); {
			case layers > 1:
				v = slices.Clone(v)
				v[arccosLayers] = 1
				return composition(slices.Repeat([]*kernel{newKernel(findFamily("arccos"), v)}, layers))
			case v[arccosBias] != 0:
				return biasedThreshold(v[arccosBias], v[arccosSigma])
			case v[arccosSigma] > 0:
				return smoothedThreshold(v[arccosSigma])
			}
			return arccos(v[arccosN])
		},
	})
}

const (
	arccosN = iota
	arccosLayers
	arccosBias
	arccosSigma
)

// arccos is the arc-cosine kernel of degree n > -½ (see package arccosine).
// arccosine.Kernel.Deficit is accurate for small c. If n < 0, the value of a document without terms
// is defined as 0, because the formula divides by the norm.
func arccos(n float64) formula {
	of := arccosine.New(n)
	g, deficit := func(c float64) float64 { return of.J(c) / math.Pi }, of.Deficit
	if n == 0 { // the formulas for n = 0 are accurate to a few ulp
		g = func(c float64) float64 { return supplementaryAngle(c) / math.Pi }
		deficit = func(c float64) float64 { return angle(c) / math.Pi }
	}
	f := cosineFunction(g, deficit,
		nonNegative("an inner product of the outputs of infinitely many threshold units", sourceCho+", ch. 2 and app. A"))
	ofC := f.value
	f.value = func(a input) ref { return a.mul(a.normProduct(a.norm.scaledPower(1, n)), ofC(a)) }
	if n != 0 && n != 1 && n != 2 {
		return f
	}
	f.direct = &directMap{
		apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
			switch n {
			case 0:
				asm.ArcCosine0(dst, c)
			case 1:
				applyByRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.ArcCosine1(dst, c, y, x) })
			case 2:
				applyByRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.ArcCosine2(dst, c, y, x) })
			}
		},
		// The maps of degrees 0, 1 and 2 are accurate to 4, 8 and 12 ulp (at most 2 unitRoundoff
		// each) of the value, even near c = 2, where it is 0. If a product of norms underflows in
		// float32, the error is multiplied by at most 3 = J_2(0)/π.
		error: func(c, x, y float64) float64 {
			norms := device.IntPow(x*y, int(n))
			if norms > maxProduct {
				return math.Inf(1)
			}
			return 8*(n+1)*unitRoundoff*norms*g(c) + 4*underflowError
		},
	}
	return f
}

// arcsine is the kernel of infinitely many threshold units with values -1 and 1, 2 k₀ - 1 with the
// arc-cosine kernel k₀ of degree 0. It is positive definite, because the power series of arcsin has
// no negative coefficients. Source: Cho's thesis, §2.1.2.
func init() {
	known := nonNegative("an inner product of the outputs of infinitely many threshold units", sourceCho+", eq. 2.18")
	known.NonNegative = false
	register(family{
		Name: "arcsine", Summary: "(2/π) arcsin(1-c)",
		Description: "kernel of an infinitely wide network of threshold units with values 1 and -1",
		Source:      sourceCho + ", eq. 2.19; Williams, Neural Computation 10 (1998)", Examples: []string{"arcsine"},
		sortKey: 185,
		build: func([]float64) formula {
			return cosineFunction(func(c float64) float64 { return 2 * arcsine(c) / math.Pi },
				func(c float64) float64 { return 2 * angle(c) / math.Pi }, known)
		},
	})
}
