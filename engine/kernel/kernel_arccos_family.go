package kernel

import (
	"fmt"

	"github.com/gramengine/gram/engine/internal/arccosine"
)

// The parameters of the arc-cosine kernels, in the order of their family.
const (
	arccosN = iota
	arccosLayers
	arccosBias
	arccosSigma
)

func arccosFamily() family {
	n := signed("n", "degree of the threshold units", 1)
	n.min, n.max = arccosine.Least, arccosine.Most
	n.Allowed = fmt.Sprintf("a number above -1/2, at which the integral diverges (from %g to %g)", n.min, n.max)
	bias := signed("bias", "what thresholds are moved by, in units of the norms, for n=0", 0)
	return family{
		Info: Info{Name: "arccos", Summary: "‖x‖ⁿ‖y‖ⁿ J_n(arccos(1-c))/π",
			What:   "inner product of infinitely many threshold units of any degree, whole or fractional, in one layer or several",
			Source: sourceCho + ", ch. 2 to 4, app. A",
			Examples: []string{"arccos:n=0", "arccos:n=1", "arccos:n=2", "arccos:n=1,layers=3", "arccos:n=3", "arccos:n=0.5",
				"arccos:n=-0.25", "arccos:n=0,sigma=0.5", "arccos:n=0,bias=0.3"}},
		params: []param{n, whole("layers", "layers, each on the feature space of the one below", 1, 1, mostLayers), bias,
			positive("sigma", "width of thresholds that are smoothed by the normal distribution, in units of the norms, for n=0", 0).or("none", 0)},
		refuse: refuseArcCosine,
		build: func(e in, v []float64) component {
			k := newArcCosine(e, v[arccosN])
			switch {
			case v[arccosBias] != 0:
				k = compile(arcBias{single{e}, v[arccosBias], v[arccosSigma]})
			case v[arccosSigma] > 0:
				k = compile(arcSmooth{single{e}, v[arccosSigma]})
			}
			return layered(k, int(v[arccosLayers]))
		},
	}
}

// refuseArcCosine finds parameters of thresholds for a degree that has none.
func refuseArcCosine(v []float64) (int, string) {
	if v[arccosN] == 0 {
		return 0, ""
	}
	if v[arccosBias] != 0 {
		return arccosBias, "n=0 as well: only units of degree 0 have thresholds to move"
	}
	if v[arccosSigma] > 0 {
		return arccosSigma, "n=0 as well: only units of degree 0 have thresholds to smooth"
	}
	return 0, ""
}
