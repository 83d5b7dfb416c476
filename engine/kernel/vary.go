package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Takes says whether a kernel that isn't made of others has a parameter, by any of its names, and
// what it is called in full. The embedding is none.
func Takes(k Kernel, key string) (name string, ok bool) {
	family := Family(k)
	for _, info := range Catalogue() {
		if info.Name != family {
			continue
		}
		for _, q := range info.Params {
			if q.Key != "embed" && (q.Key == key || slices.Contains(q.Aliases, key)) {
				return q.Key, true
			}
		}
	}
	return "", false
}

// Family returns the name under which [Catalogue] has a kernel that isn't made of others; "" for
// those that are.
func Family(k Kernel) string {
	if Check(k) != nil {
		return ""
	}
	family, _, _ := strings.Cut(k.String(), ":")
	if !slices.Contains(Names(), family) || strings.ContainsAny(k.String(), "( *") {
		return ""
	}
	return family
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

// ParamOf returns the value of a parameter of a kernel that isn't made of others, where its
// specification says it.
func ParamOf(k Kernel, key string) (value float64, ok bool) {
	if key, ok = Takes(k, key); !ok {
		return 0, false
	}
	_, rest, _ := strings.Cut(k.String(), ":")
	for part := range strings.SplitSeq(rest, ",") {
		if own, text, _ := strings.Cut(part, "="); own == key {
			value, err := strconv.ParseFloat(text, 64)
			return value, err == nil
		}
	}
	return 0, false
}

// With returns a kernel with another value of a parameter. Errors: a kernel that is made of others or
// has no such parameter, a value that it doesn't take.
func With(k Kernel, key string, value float64) (Kernel, error) {
	full, ok := Takes(k, key)
	if !ok {
		return nil, fmt.Errorf("kernel: %v has no parameter %q of its own", k, key)
	}
	family, rest, _ := strings.Cut(k.String(), ":")
	parts := []string{full + "=" + strconv.FormatFloat(value, 'g', -1, 64)}
	for part := range strings.SplitSeq(rest, ",") {
		if own, _, _ := strings.Cut(part, "="); own != full && part != "" {
			parts = append(parts, part)
		}
	}
	return Parse(family + ":" + strings.Join(parts, ","))
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
