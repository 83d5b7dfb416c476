package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Info describes a kernel for help texts.
type Info struct {
	Name        string
	Summary     string // equation in one line
	Description string // description in one sentence
	Operands    string // operands of a combination; empty for a base kernel
	Params      []Param
	Examples    []string // specifications that show all variants, with parameters suitable for text
	Source      string
	Properties  Properties // properties of the first example
}

// Param describes a kernel parameter for help texts.
type Param struct {
	Key     string
	Aliases []string // other spellings of Key
	Default string
	Allowed string
	Summary string
}

// Names returns the kernel names that [Parse] supports.
func Names() (names []string) {
	for _, f := range families {
		names = append(names, f.Name)
	}
	return names
}

// Catalogue describes the kernels that [Parse] supports, in the order of [Names].
func Catalogue() (all []Info) {
	for _, f := range families {
		all = append(all, f.info())
	}
	return all
}

// family defines all kernels of the same name. The catalogue, the parser and device programs
// support all registered families. [Info] documents the first fields.
type family struct {
	Name, Summary, Description, Operands, Source string
	Examples                                     []string

	sortKey   int              // sort key of the catalogue
	embedding sparse.Embedding // default embedding
	params    []param

	// build returns the formula of a kernel with the parameters v. checkParams is called before
	// build. It returns the index of an invalid parameter and the allowed values, or "" if v is
	// valid. resolve returns a copy of v with the data-dependent parameters set, or nil if no
	// parameter depends on the data.
	build       func(v []float64) formula
	checkParams func(v []float64) (param int, expected string)
	resolve     func(v []float64, terms int) []float64

	// combine returns the formula of a combination. checkParts is called before combine. It returns
	// the index of an invalid part and the allowed parts, or "".
	combine    func(k *kernel) formula
	checkParts func(parts []*kernel, v []float64) (part int, expected string)
	singlePart bool // true if the combination accepts only one part
}

type param struct {
	Param
	defaultValue float64
	integer      bool // true if the value must be an integer
	min, max     float64
	words        []string // allowed words, instead of a number; the value is the word's index
	defaultWord  string   // word for the default value
	hidden       bool     // true if specifications omit the parameter at its default value
}

var families []*family

func register(f family) {
	at, _ := slices.BinarySearchFunc(families, f.sortKey, func(f *family, place int) int { return f.sortKey - place })
	families = slices.Insert(families, at, &f)
}

func findFamily(name string) *family {
	if i := slices.IndexFunc(families, func(f *family) bool { return f.Name == name }); i >= 0 {
		return families[i]
	}
	return nil
}

func (f *family) info() Info {
	about := Info{Name: f.Name, Summary: f.Summary, Description: f.Description, Operands: f.Operands,
		Examples: f.Examples, Source: f.Source}
	for _, q := range f.params {
		about.Params = append(about.Params, q.Param)
	}
	embedding := f.embedding.String()
	if f.combine != nil {
		embedding = "embedding of the first part"
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
	return "a key of " + f.Name + " (" + strings.Join(f.keys(), ", ") + ")"
}

// param returns the index of the parameter with a key or alias, or -1.
func (f *family) param(key string) int {
	return slices.IndexFunc(f.params, func(q param) bool { return q.Key == key || slices.Contains(q.Aliases, key) })
}

// Bounds of parameters. Values beyond the bounds could make float32 products overflow or underflow.
const minParam, maxParam = 1e-18, 1e18

func positiveParam(key, summary string, initial float64) param {
	return numberParam(key, summary, initial, minParam, maxParam,
		fmt.Sprintf("a number above 0 (from %g to %g)", minParam, maxParam))
}

func signedParam(key, summary string, initial float64) param {
	return numberParam(key, summary, initial, -maxParam, maxParam,
		fmt.Sprintf("a number, or pi (from %g to %g)", -maxParam, maxParam))
}

func integerParam(key, summary string, initial, min, max float64) param {
	q := numberParam(key, summary, initial, min, max,
		fmt.Sprintf("a whole number from %s to %s", formatNumber(min), formatNumber(max)))
	q.integer = true
	return q
}

func numberParam(key, summary string, initial, min, max float64, allowed string) param {
	about := Param{Key: key, Default: formatNumber(initial), Allowed: allowed, Summary: summary}
	return param{Param: about, defaultValue: initial, min: min, max: max}
}

// wordParam returns a parameter whose value is one of several words. The first word is the default.
func wordParam(key, summary string, words ...string) param {
	about := Param{Key: key, Default: words[0], Allowed: strings.Join(words, " or "), Summary: summary}
	return param{Param: about, words: words}
}

func (q param) withDefaultWord(absent string, initial float64) param {
	q.defaultWord, q.defaultValue, q.Default, q.hidden = absent, initial, absent, true
	q.Allowed = absent + ", or " + q.Allowed
	return q
}

func (q param) hiddenAtDefault() param {
	q.hidden = true
	return q
}

func rangeParam(key, summary string, initial, most float64) param {
	allowed := fmt.Sprintf("a number above 0 and up to %g (from %g)", most, minParam)
	return numberParam(key, summary, initial, minParam, most, allowed)
}

// baseKernelOf returns k if k is a base kernel in [Catalogue], else nil. i is the index of the
// numeric parameter with the given key or alias, or -1.
func baseKernelOf(k Kernel, key string) (of *kernel, i int) {
	if of, _ = k.(*kernel); of == nil || of.hasCustom || len(of.parts) > 0 {
		return nil, -1
	}
	if i = of.family.param(key); i >= 0 && of.family.params[i].words != nil {
		i = -1
	}
	return of, i
}

// FamilyName returns the name of a base kernel as in [Catalogue], or "" for a combination or a
// user-defined kernel.
func FamilyName(k Kernel) string {
	if of, _ := baseKernelOf(k, ""); of != nil {
		return of.family.Name
	}
	return ""
}

// OpenEmbedder returns the embedder for new documents that k compares with documents embedded by f.
// For raw vectors without a vocabulary, the norms of new documents include columns that f lacks.
// Kernels of the inner product don't depend on columns that f lacks.
func OpenEmbedder(k Kernel, f *sparse.Embedder, vocabulary []string) *sparse.Embedder {
	if vocabulary != nil || f.Embedding != (sparse.Embedding{}) || f.Views != nil || VariableOf(k) == VariableProduct ||
		k == nil || IsPrecomputed(k) {
		return f
	}
	open := *f
	open.Open = true
	return &open
}

// ParamOf returns the value of a numeric parameter of a base kernel. ok is false if k has no such
// parameter, or if specifications omit the parameter because it has its default value.
func ParamOf(k Kernel, key string) (value float64, ok bool) {
	of, i := baseKernelOf(k, key)
	if i < 0 {
		return 0, false
	}
	q, v := of.family.params[i], of.values[i]
	return v, !(q.hidden && v == q.defaultValue)
}

// WithParam returns a copy of k with another value of a parameter. It fails if k is a combination
// or lacks the parameter, or if the value isn't allowed.
func WithParam(k Kernel, key string, value float64) (Kernel, error) {
	of, i := baseKernelOf(k, key)
	if i < 0 {
		return nil, fmt.Errorf("kernel: %v has no parameter %q", k, key)
	}
	if q := of.family.params[i]; !q.allows(value) {
		return nil, fmt.Errorf("kernel: %s: %s must be %s, got %v", of.family.Name, q.Key, q.Allowed, value)
	}
	values := slices.Clone(of.values)
	values[i] = value
	return Parse((&kernel{family: of.family, values: values}).spec(of.embedding))
}

// ParamGrid lists the values to try for a parameter.
type ParamGrid struct {
	Name   string
	Values []float64
}

// ExpandGrid returns each kernel with all combinations of the listed values of its parameters.
// unused lists the parameters that no kernel has.
func ExpandGrid(kernels []Kernel, lists []ParamGrid) (out []Kernel, unused []string, err error) {
	out = kernels
	for _, list := range lists {
		var more []Kernel
		used := false
		for _, k := range out {
			if _, i := baseKernelOf(k, list.Name); i < 0 {
				more = append(more, k)
				continue
			}
			used = true
			for _, v := range list.Values {
				next, err := WithParam(k, list.Name, v)
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
