package kernel

import (
	"fmt"
	"slices"
)

func init() {
	register(family{
		Name: "compose", Summary: "k_ℓ on the feature space of k_ℓ₋₁, …, k₁",
		Operands:    "kernels, from the bottom up",
		Description: "layers: each kernel takes cosine and norms from the feature space of the layer below",
		Source:      sourceCho + ", ch. 4",
		Examples:    []string{"compose(arccos:n=1,arccos:n=0):layers=3", "compose(arccos:n=0,rbf:gamma=1)"},
		sortKey:     190,
		params: []param{
			integerParam("layers", "number of layers, at least the number of kernels; the last kernel is repeated; "+
				"0 for one layer per kernel", 0, 0,
				maxLayers).hiddenAtDefault(),
		},
		checkParts: checkCompose,
		combine: func(k *kernel) formula {
			last, again := k.parts[len(k.parts)-1], max(int(k.values[0])-len(k.parts), 0)
			k.leafCount = again * last.leafCount
			return composition(slices.Concat(k.parts, slices.Repeat([]*kernel{last}, again)))
		},
	})
}

func checkCompose(parts []*kernel, v []float64) (int, string) {
	last, again := len(parts)-1, int(v[0])-len(parts)
	if again < 0 && v[0] > 0 {
		return last, fmt.Sprintf("at most layers=%d kernels", int(v[0]))
	}
	total := max(again, 0) * parts[last].leafCount
	for i, p := range parts {
		if (i < last || again > 0) && !p.properties.PositiveDiagonal {
			return i, needsDiagonal + " below another layer"
		}
		total += p.leafCount
	}
	if total > maxLeaves {
		return last, fmt.Sprintf("at most %d kernels in all", maxLeaves)
	}
	return 0, ""
}

// composition applies each kernel in the feature space of the layers below, from the bottom up (see
// [formula]). Source: Cho's thesis, ch. 4; Cho and Saul, NIPS 2009, eq. 12.
func composition(layers []*kernel) formula {
	groups := mergeSeparable(layers)
	// on calls write for the top layer, with input from the feature space of the layers below.
	on := func(a input, write func(top *kernel, a input) ref) ref {
		of := groups
		if a.e.exact {
			of = layers
		}
		for _, l := range of[:len(of)-1] {
			a = input{a.e, l.deficitAt(a), l.imageNorm(a.norm)}
		}
		return write(of[len(of)-1], a)
	}
	return formula{
		value:   func(a input) ref { return on(a, (*kernel).valueAt) },
		deficit: func(a input) ref { return on(a, (*kernel).deficitAt) },
		norm: func(n norm) norm {
			for _, l := range layers {
				n = l.imageNorm(n)
			}
			return n
		},
		properties: layeredProperties(layers),
	}
}

// mergeSeparable merges adjacent separable layers into one kernel with a single table. If all
// layers are separable, it returns them unchanged.
func mergeSeparable(layers []*kernel) (groups []*kernel) {
	for len(layers) > 0 {
		n := 0
		for n < len(layers) && layers[n].separable {
			n++
		}
		if n < 2 || n == len(layers) && len(groups) == 0 {
			groups, layers = append(groups, layers[0]), layers[1:]
			continue
		}
		one := &kernel{formula: composition(layers[:n]), text: "compose"}
		for _, l := range layers[:n] {
			one.text += " " + l.text
		}
		groups, layers = append(groups, one.finish()), layers[n:]
	}
	return groups
}

func layeredProperties(layers []*kernel) Properties {
	// The composition is Decreasing if all layers are, because c in each feature space increases
	// with c.
	p, top := combinedProperties(layers), layers[len(layers)-1].properties
	p.Source = sourceCho + ", ch. 4"
	p.NonNegative, p.NonPositive, p.PositiveDiagonal = top.NonNegative, top.NonPositive, top.PositiveDiagonal
	if top.Definiteness == ConditionallyPositiveDefinite &&
		combinedProperties(layers[:len(layers)-1]).Definiteness == PositiveDefinite {
		p.Definiteness = ConditionallyPositiveDefinite
	}
	return p
}
