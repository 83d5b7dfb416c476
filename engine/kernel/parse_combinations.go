package kernel

import (
	"fmt"
	"math"
)

// combinations lists the kernels that are made of others.
func combinations() []family {
	return []family{
		{Info: Info{Name: "compose", Summary: "k_ℓ on the feature space of k_ℓ₋₁ … on that of k₁", Parts: "kernels, from the bottom up",
			What: "layers: each kernel is given the cosine and the norms in the feature space of the one before it", Source: sourceCho + ", ch. 4",
			Examples: []string{"compose(arccos:n=1,arccos:n=0,layers=3)", "compose(arccos:n=0,rbf:gamma=1)"}},
			params: []param{whole("layers", "number of layers, no fewer than kernels: the last is repeated; 0 for one of each", 0, 0, mostLayers)},
			check:  checkCompose,
			combine: func(parts []component, _, v []float64) component {
				for len(parts) < int(v[0]) {
					parts = append(parts, parts[len(parts)-1])
				}
				if len(parts) == 1 {
					return parts[0]
				}
				return compile(compose(parts))
			}},
		{Info: Info{Name: "product", Summary: "∏ kᵢ", Parts: "kernels", What: "product of kernels", Source: sourceProduct,
			Examples: []string{"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(rbf,linear)"}},
			combine: func(parts []component, _, _ []float64) component {
				if len(parts) == 1 {
					return parts[0]
				}
				return compile(product{combination{parts}})
			}},
		{Info: Info{Name: "sum", Summary: "Σ wᵢ kᵢ", Parts: "kernels; or written 2*k₁ + 0.5*k₂", What: "weighted sum of kernels", Source: sourceProduct,
			Examples: []string{"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.1 + 0.5*bhattacharyya"}},
			combine: func(parts []component, weights, _ []float64) component {
				if len(parts) == 1 && weights[0] == 1 {
					return parts[0]
				}
				return compile(weighted{combination{parts}, weights})
			}},
		{Info: Info{Name: "power", Summary: "k^p", Parts: "a kernel, and p", What: "power of a kernel", Source: sourceProduct,
			Examples: []string{"power(arccos:n=1,2.5)"}}, single: true, positional: 1,
			params: []param{powerParam()}, check: checkPower,
			combine: func(parts []component, _, v []float64) component {
				if v[0] == 1 {
					return parts[0]
				}
				return newPowered(parts[0], v[0])
			}},
		{Info: Info{Name: "exp", Summary: "exp(k)", Parts: "a kernel", What: "exponential of a kernel", Source: sourceSchoenberg,
			Examples: []string{"exp(2*bhattacharyya)"}}, single: true,
			combine: func(parts []component, _, _ []float64) component { return compile(exponential{combination{parts}}) }},
		{Info: Info{Name: "normalise", Summary: "k(x,y) / √(k(x,x) k(y,y))", Parts: "a kernel", What: "kernel scaled to unit diagonal", Source: sourceProduct,
			Examples: []string{"normalise(polynomial:r=1,degree=2)", "normalise(arccos:n=2)"}}, single: true, check: checkNormalise,
			combine: func(parts []component, _, _ []float64) component { return compile(normalised{combination{parts}}) }},
		{Info: Info{Name: "centred", Summary: "k(x,y) - k(x,o) - k(o,y) + k(o,o)", Parts: "a kernel",
			What: "kernel with the empty document o as origin, which shares no term with any other and has norm 0", Source: "Schölkopf, NIPS 2000",
			Examples: []string{"centred(ngd)"}}, single: true,
			combine: func(parts []component, _, _ []float64) component { return compile(centred{combination{parts}}) }},
	}
}

func powerParam() param {
	q := positive("p", "the power; one that is no whole number wants a kernel that is nowhere below 0", 2)
	q.max = 64
	q.Allowed = fmt.Sprintf("a number above 0 (from %g to %g)", q.min, q.max)
	return q
}

// needsDiagonal is what the parts of a combination must be that divides by k(x, x).
const needsDiagonal = "a kernel with k(x, x) > 0 for all documents x"

func checkCompose(parts []component, v []float64) (int, string) {
	if n := int(v[0]); n > 0 && n < len(parts) {
		return n, fmt.Sprintf("no more kernels than layers=%d", n)
	}
	layers, total := 0, 0
	for i, p := range parts {
		repeated := 1
		if i == len(parts)-1 {
			repeated = max(int(v[0])-i, 1)
		}
		if (i < len(parts)-1 || repeated > 1) && !p.Properties().PositiveDiagonal {
			return i, needsDiagonal + ", below another layer"
		}
		each := 1
		if k, ok := p.(*compiled); ok {
			if inner, ok := k.form.(composed); ok {
				each = len(inner.of)
			}
		}
		if layers += each * repeated; layers > mostLayers {
			return i, fmt.Sprintf("at most %d layers", mostLayers)
		}
		if total += leaves(p) * repeated; total > mostLeaves {
			return i, fmt.Sprintf("at most %d kernels in all", mostLeaves)
		}
	}
	return 0, ""
}

func checkPower(parts []component, v []float64) (int, string) {
	if v[0] != math.Trunc(v[0]) && !parts[0].Properties().NonNegative {
		return 0, fmt.Sprintf("a kernel that is nowhere below 0, for the power %s", formatNumber(v[0]))
	}
	return 0, ""
}

func checkNormalise(parts []component, _ []float64) (int, string) {
	if !parts[0].Properties().PositiveDiagonal {
		return 0, needsDiagonal
	}
	return 0, ""
}
