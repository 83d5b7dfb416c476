package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Info describes a kernel for help texts.
type Info struct {
	Name       string
	Summary    string // its equation, in one line
	What       string // what it is, in one sentence
	Parts      string // what it is made of: kernels between parentheses; empty for a kernel by itself
	Params     []Param
	Examples   []string   // specifications that between them show every variant, with parameters that suit text
	Source     string     // where the kernel is from
	Properties Properties // of the first example
}

// Param describes a parameter of a kernel.
type Param struct {
	Key     string
	Aliases []string // other spellings of Key
	Default string   // what it is where it is left out
	Allowed string   // what it may be
	Summary string
}

// Names returns the names that [Parse] knows.
func Names() (names []string) {
	for _, f := range families {
		names = append(names, f.Name)
	}
	return names
}

// Catalogue describes the kernels that [Parse] knows, in the order of [Names].
func Catalogue() (all []Info) {
	for _, f := range families {
		all = append(all, f.info())
	}
	return all
}

// family makes the kernels of one name. The file that has them registers it, which is all that the
// catalogue, the parser and the programs of devices need. For the first fields see [Info].
type family struct {
	Name, Summary, What, Parts, Source string
	Examples                           []string

	place     int              // in the catalogue, which is in ascending order
	embedding sparse.Embedding // default
	params    []param

	// build returns the formula of a kernel with the parameters v. refuse is called before it, and returns a
	// parameter that doesn't go with the others and what is allowed, or "". resolve returns the parameters
	// with those that depend on the data, nil if there are none.
	build   func(v []float64) formula
	refuse  func(v []float64) (param int, expected string)
	resolve func(v []float64, terms int) []float64

	// combine returns the formula of a combination with parts, weights and values. check is called before
	// it, and returns the first part that isn't allowed and what is allowed, or "".
	combine func(k *kernel) formula
	check   func(parts []*kernel, v []float64) (part int, expected string)
	single  bool // takes one part only
}

// param is a number that a family takes, or one of some words.
type param struct {
	Param
	initial  float64 // value where it is left out
	whole    bool    // takes whole numbers only
	min, max float64
	words    []string // takes one of these, and no number: its place among them
	absent   string   // what may be written for the initial value, where that is no number that it takes
	hidden   bool     // not written at its initial value
}

// families are the kernels that there are, by place.
var families []*family

// register adds a family; files that have one do that when they are initialised.
func register(f family) {
	at, _ := slices.BinarySearchFunc(families, f.place, func(f *family, place int) int { return f.place - place })
	families = slices.Insert(families, at, &f)
}

// familyOf returns the family of a name, nil where there is none.
func familyOf(name string) *family {
	if i := slices.IndexFunc(families, func(f *family) bool { return f.Name == name }); i >= 0 {
		return families[i]
	}
	return nil
}

// info returns the description with all that follows from the rest.
func (f *family) info() Info {
	about := Info{Name: f.Name, Summary: f.Summary, What: f.What, Parts: f.Parts, Examples: f.Examples, Source: f.Source}
	for _, q := range f.params {
		about.Params = append(about.Params, q.Param)
	}
	embedding := f.embedding.String()
	if f.combine != nil {
		embedding = "that of the first part"
	}
	about.Params = append(about.Params,
		Param{Key: "embed", Default: embedding, Allowed: "an embedding", Summary: "how counts become vectors"})
	about.Properties = PropertiesOf(MustParse(f.Examples[0]))
	return about
}

func (f *family) keys() []string {
	var keys []string
	for _, q := range f.params {
		keys = append(keys, q.Key)
	}
	return append(keys, "embed")
}

func (f *family) keyList() string {
	return "one of the keys of " + f.Name + ": " + strings.Join(f.keys(), ", ")
}

// param returns the number of the parameter with a key, or -1.
func (f *family) param(key string) int {
	return slices.IndexFunc(f.params, func(q param) bool { return q.Key == key || slices.Contains(q.Aliases, key) })
}

// Numbers beyond these can't be turned into float32 with room for a product: maps compute in
// float32.
const tiny, huge = 1e-18, 1e18

// positive and the functions after it make parameters.
func positive(key, summary string, initial float64) param {
	return number(key, summary, initial, tiny, huge, fmt.Sprintf("a number above 0 (from %g to %g)", tiny, huge))
}

func signed(key, summary string, initial float64) param {
	return number(key, summary, initial, -huge, huge, fmt.Sprintf("a number, or pi (from %g to %g)", -huge, huge))
}

func whole(key, summary string, initial, min, max float64) param {
	q := number(key, summary, initial, min, max,
		fmt.Sprintf("a whole number from %s to %s", formatNumber(min), formatNumber(max)))
	q.whole = true
	return q
}

func number(key, summary string, initial, min, max float64, allowed string) param {
	about := Param{Key: key, Default: formatNumber(initial), Allowed: allowed, Summary: summary}
	return param{Param: about, initial: initial, min: min, max: max}
}

// word makes a parameter that is one of some words, the first of them by default.
func word(key, summary string, words ...string) param {
	about := Param{Key: key, Default: words[0], Allowed: strings.Join(words, " or "), Summary: summary}
	return param{Param: about, words: words}
}

// or allows a word for the default.
func (q param) or(absent string, initial float64) param {
	q.absent, q.initial, q.Default, q.hidden = absent, initial, absent, true
	q.Allowed = absent + ", or " + q.Allowed
	return q
}

// hiddenAtDefault leaves the parameter out of specifications at its initial value.
func (q param) hiddenAtDefault() param {
	q.hidden = true
	return q
}

func between(key, summary string, initial, most float64) param {
	allowed := fmt.Sprintf("a number above 0 and up to %g (from %g)", most, tiny)
	return number(key, summary, initial, tiny, most, allowed)
}

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
