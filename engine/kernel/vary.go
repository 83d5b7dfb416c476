package kernel

import (
	"fmt"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// leafOf returns a kernel that isn't made of others, nil for those that are, and the index of a
// parameter that is a number, by any of its names, or -1.
func leafOf(k Kernel, key string) (of *kernel, i int) {
	if of = partOf(k); of == nil || of.family == nil || len(of.parts) > 0 {
		return nil, -1
	}
	if i = of.family.param(key); i >= 0 && of.family.params[i].words != nil {
		i = -1
	}
	return of, i
}

// Takes reports whether a kernel that isn't made of others has a parameter, by any of its names, and
// returns its full name. The embedding is none.
func Takes(k Kernel, key string) (name string, ok bool) {
	of, i := leafOf(k, key)
	if i < 0 {
		return "", false
	}
	return of.family.params[i].Key, true
}

// Family returns the name under which [Catalogue] has a kernel that isn't made of others; "" for
// those that are.
func Family(k Kernel) string {
	if of, _ := leafOf(k, ""); of != nil {
		return of.family.Name
	}
	return ""
}

// Opened returns the embedder for documents to compare with those of f by k. Of raw vectors without a vocabulary it
// counts columns that f doesn't have in norms, unless k is a dot product's function, which they don't change.
func Opened(k Kernel, f *sparse.Embedder, vocabulary []string) *sparse.Embedder {
	dots := []string{"linear", "polynomial", "sigmoid", precomputedName}
	if vocabulary != nil || f.Embedding != (sparse.Embedding{}) || f.Views != nil || k == nil ||
		slices.Contains(dots, Family(k)) {
		return f
	}
	open := *f
	open.Open = true
	return &open
}

// ParamOf returns the value of a parameter of a kernel that isn't made of others, if its
// specification has that as a number.
func ParamOf(k Kernel, key string) (value float64, ok bool) {
	of, i := leafOf(k, key)
	if i < 0 {
		return 0, false
	}
	q, v := of.family.params[i], of.values[i]
	return v, !(q.hidden && v == q.initial)
}

// With returns a kernel with another value of a parameter. Errors: a kernel that is made of others or
// has no such parameter, a value that it doesn't take.
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
	return Parse(format(of.family, of.in, values))
}

// List is a parameter and the values that it takes in a search.
type List struct {
	Name   string
	Values []float64
}

// Vary repeats each kernel for all combinations of the lists of parameters that it takes. It returns
// the names of lists that none takes, too.
func Vary(kernels []Kernel, lists []List) (out []Kernel, unused []string, err error) {
	for _, list := range lists {
		if !slices.ContainsFunc(kernels, func(k Kernel) bool { _, ok := Takes(k, list.Name); return ok }) {
			unused = append(unused, list.Name)
		}
	}
	for _, k := range kernels {
		some := []Kernel{k}
		for _, list := range lists {
			if _, ok := Takes(k, list.Name); !ok {
				continue
			}
			var more []Kernel
			for _, s := range some {
				for _, v := range list.Values {
					next, err := With(s, list.Name, v)
					if err != nil {
						return nil, nil, err
					}
					more = append(more, next)
				}
			}
			some = more
		}
		out = append(out, some...)
	}
	return out, unused, nil
}
