package kernel

import (
	"fmt"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// leafOf returns a kernel without parts, nil if k has parts, and the index of a numeric parameter by
// any of its names, or -1.
func leafOf(k Kernel, key string) (of *kernel, i int) {
	if of, _ = k.(*kernel); of == nil || of.own || len(of.parts) > 0 {
		return nil, -1
	}
	if i = of.family.param(key); i >= 0 && of.family.params[i].words != nil {
		i = -1
	}
	return of, i
}

// Family returns the name of a kernel in [Catalogue], "" for a kernel with parts.
func Family(k Kernel) string {
	if of, _ := leafOf(k, ""); of != nil {
		return of.family.Name
	}
	return ""
}

// Opened returns the embedder for documents that k compares with documents of f. For raw vectors without a
// vocabulary the norms include columns that f doesn't have. Kernels of the dot product don't depend on these.
func Opened(k Kernel, f *sparse.Embedder, vocabulary []string) *sparse.Embedder {
	if vocabulary != nil || f.Embedding != (sparse.Embedding{}) || f.Views != nil || VariableOf(k) == OfProduct ||
		k == nil || IsPrecomputed(k) {
		return f
	}
	open := *f
	open.Open = true
	return &open
}

// ParamOf returns the value of a numeric parameter of a kernel without parts. ok is false if the
// specification doesn't have the parameter.
func ParamOf(k Kernel, key string) (value float64, ok bool) {
	of, i := leafOf(k, key)
	if i < 0 {
		return 0, false
	}
	q, v := of.family.params[i], of.values[i]
	return v, !(q.hidden && v == q.initial)
}

// With returns a kernel with another value of a parameter. It fails if the kernel has parts or lacks
// the parameter, or if the value isn't allowed.
func With(k Kernel, key string, value float64) (Kernel, error) {
	of, i := leafOf(k, key)
	if i < 0 {
		return nil, fmt.Errorf("kernel: %v has no parameter %q of its own", k, key)
	}
	if q := of.family.params[i]; !q.allows(value) {
		return nil, fmt.Errorf("kernel: %s: found %s=%v, expected %s", of.family.Name, q.Key, value, q.Allowed)
	}
	values := slices.Clone(of.values)
	values[i] = value
	return Parse((&kernel{family: of.family, values: values}).spec(of.embedding))
}

// List is a parameter and its values in a search.
type List struct {
	Name   string
	Values []float64
}

// Vary returns each kernel with all combinations of the values of its parameters in lists. unused are
// the names of parameters that no kernel has.
func Vary(kernels []Kernel, lists []List) (out []Kernel, unused []string, err error) {
	out = kernels
	for _, list := range lists {
		var more []Kernel
		used := false
		for _, k := range out {
			if _, i := leafOf(k, list.Name); i < 0 {
				more = append(more, k)
				continue
			}
			used = true
			for _, v := range list.Values {
				next, err := With(k, list.Name, v)
				if err != nil {
					return nil, nil, err
				}
				more = append(more, next)
			}
		}
		if out = more; !used {
			unused = append(unused, list.Name)
		}
	}
	return out, unused, nil
}
