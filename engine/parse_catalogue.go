package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Info describes a kernel for help texts.
type Info struct {
	Name     string
	Summary  string // its equation, in one line
	Params   []Param
	Examples []string // specifications that between them show every variant, with parameters that suit text
}

// Param describes a parameter of a kernel.
type Param struct {
	Key     string
	Aliases []string // other spellings of Key
	Default string   // what it is where it is left out
	Allowed string   // what it may be
	Summary string
}

// Names returns the names that [ParseKernel] knows.
func Names() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.Name)
	}
	return names
}

// Catalogue describes the kernels that [ParseKernel] knows, in the order of [Names].
func Catalogue() []Info {
	var all []Info
	for _, f := range families() {
		for _, q := range f.params {
			f.Params = append(f.Params, q.Param)
		}
		f.Params = append(f.Params, Param{Key: "embed", Default: f.embedding.String(), Allowed: "an embedding", Summary: "how counts become vectors"})
		all = append(all, f.Info)
	}
	return all
}

// family is what makes the kernels of one name.
type family struct {
	Info
	embedding sparse.Embedding // default
	params    []param
	build     func(e in, v []float64) Kernel // v holds the parameters in the order of params
}

// param is a number that a family takes: Allowed says in words what the fields say.
type param struct {
	Param
	initial  float64 // value where it is left out
	whole    bool    // takes whole numbers only
	min, max float64
}

func (f *family) keys() []string {
	var keys []string
	for _, q := range f.params {
		keys = append(keys, q.Key)
	}
	return append(keys, "embed")
}

// Numbers beyond these can't be turned into float32 with room for a product: maps compute in float32.
const tiny, huge = 1e-18, 1e18

// positive, signed and whole make parameters.
func positive(key, summary string, initial float64) param {
	q := param{initial: initial, min: tiny, max: huge}
	q.Param = Param{Key: key, Default: formatNumber(initial), Summary: summary,
		Allowed: fmt.Sprintf("a number above 0 (from %g to %g)", tiny, huge)}
	return q
}

func signed(key, summary string, initial float64) param {
	q := param{initial: initial, min: -huge, max: huge}
	q.Param = Param{Key: key, Default: formatNumber(initial), Summary: summary, Allowed: fmt.Sprintf("a number, or pi (from %g to %g)", -huge, huge)}
	return q
}

func whole(key, summary string, initial, min, max float64) param {
	q := param{initial: initial, whole: true, min: min, max: max}
	q.Param = Param{Key: key, Default: formatNumber(initial), Summary: summary, Allowed: fmt.Sprintf("a whole number from %g to %g", min, max)}
	return q
}

// gammaParam and offsetParam are LIBSVM's gamma and coef0. A gamma of 0 stands for one that isn't set yet.
func gammaParam() param {
	q := positive("gamma", "factor of the inner product or the squared distance", 0)
	q.Default = "1/terms"
	return q
}

func offsetParam() param {
	q := signed("r", "what is added to the inner product", 0)
	q.Aliases = []string{"coef0"}
	return q
}

// families lists the kernels; adding one to this list is all that the parser needs.
func families() []family {
	sphere, counts := sparse.Sphere, sparse.Embedding{}
	return []family{
		{Info{"diffusion", "exp(-arccos²(1-c)/t)", nil, []string{"diffusion:t=0.5"}}, sphere,
			[]param{positive("t", "diffusion time, in squared radians", 0.5)},
			func(e in, v []float64) Kernel { return diffusion{e, v[0]} }},
		{Info{"ngd", "shift - 2 arccos(1-c)", nil, []string{"ngd:shift=0", "ngd:shift=pi"}}, sphere,
			[]param{signed("shift", "what is added to the negative geodesic distance", 0)},
			func(e in, v []float64) Kernel { return ngd{e, v[0]} }},
		{Info{"ngd-exp", "exp(-arccos(1-c)/t)", nil, []string{"ngd-exp:t=1"}}, sphere,
			[]param{positive("t", "width, in radians", 1)},
			func(e in, v []float64) Kernel { return ngdExp{e, v[0]} }},
		{Info{"bhattacharyya", "1-c", nil, []string{"bhattacharyya"}}, sphere, nil,
			func(e in, v []float64) Kernel { return bhattacharyya{e} }},
		{Info{"linear", "⟨x,y⟩ = ‖x‖‖y‖(1-c)", nil, []string{"linear"}}, counts, nil,
			func(e in, v []float64) Kernel { return linear{e} }},
		{Info{"polynomial", "(gamma ⟨x,y⟩ + r)^degree", nil, []string{"polynomial:r=1,degree=2"}}, counts,
			[]param{gammaParam(), offsetParam(), whole("degree", "the power", 3, 0, 64)},
			func(e in, v []float64) Kernel { return polynomial{e, v[0], v[1], int(v[2])} }},
		{Info{"rbf", "exp(-gamma ‖x-y‖²)", nil, []string{"rbf"}}, counts,
			[]param{gammaParam()},
			func(e in, v []float64) Kernel { return gaussian{e, v[0]} }},
		{Info{"sigmoid", "tanh(gamma ⟨x,y⟩ + r)", nil, []string{"sigmoid"}}, counts,
			[]param{gammaParam(), offsetParam()},
			func(e in, v []float64) Kernel { return sigmoid{e, v[0], v[1]} }},
		{Info{"arccos", "‖x‖ⁿ‖y‖ⁿ J_n(arccos(1-c))/π", nil, []string{"arccos:n=0", "arccos:n=1", "arccos:n=2"}}, counts,
			[]param{whole("n", "degree of the threshold units", 1, 0, 2)},
			func(e in, v []float64) Kernel { return arccos{e, int(v[0])} }},
		{Info{"c", "the squared Hellinger distance c = 1 - cosine itself", nil, []string{"c"}}, sphere, nil,
			func(e in, v []float64) Kernel { return hellinger{e} }},
	}
}

func familyOf(name string) *family {
	all := families()
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// kernel makes the kernel that c describes.
func (p *parser) kernel(c call) (Kernel, error) {
	f := c.family
	e := in{f.embedding}
	values := make([]float64, len(f.params))
	for i, q := range f.params {
		values[i] = q.initial
	}
	var seen []string
	for _, a := range c.values {
		key := a.key
		i := slices.IndexFunc(f.params, func(q param) bool { return q.Key == key || slices.Contains(q.Aliases, key) })
		switch {
		case i >= 0:
			key = f.params[i].Key
			v, ok := parseNumber(a.value)
			if !ok || !f.params[i].allows(v) {
				return nil, p.fail(a.valuePos, key+"="+a.value, f.params[i].Allowed)
			}
			values[i] = v
		case key == "embed":
			embedding, err := sparse.ParseEmbedding(a.value)
			if err != nil {
				return nil, p.fail(a.valuePos, "embed="+a.value, "one of "+strings.Join(embeddings(), ", ")+hint(a.value, embeddings()))
			}
			e.embedding = embedding
		default:
			return nil, p.fail(a.keyPos, fmt.Sprintf("the unknown key %q", key), p.keys(c)+hint(key, f.keys()))
		}
		if slices.Contains(seen, key) {
			return nil, p.fail(a.keyPos, key+" a second time", "each key once")
		}
		seen = append(seen, key)
	}
	return f.build(e, values), nil
}

func (q param) allows(v float64) bool {
	return v >= q.min && v <= q.max && (!q.whole || v == math.Trunc(v))
}

func embeddings() []string {
	var names []string
	for _, e := range sparse.Embeddings() {
		names = append(names, e.String())
	}
	return names
}

// pair is a parameter and its value, for printing.
type pair struct {
	key   string
	value float64
}

// format writes a kernel as [ParseKernel] reads it; a gamma of 0 isn't set yet, so it is left out.
func format(name string, e in, values ...pair) string {
	var parts []string
	for _, v := range values {
		if v.key != "gamma" || v.value != 0 {
			parts = append(parts, v.key+"="+formatNumber(v.value))
		}
	}
	if f := familyOf(name); e.embedding != f.embedding {
		parts = append(parts, "embed="+e.embedding.String())
	}
	if len(parts) == 0 {
		return name
	}
	return name + ":" + strings.Join(parts, ",")
}

// hint asks for the candidate that is one or two slips away from the word written, or says nothing.
func hint(word string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := slips(strings.ToLower(word), c); d < at && d < len(c) {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// slips returns the Levenshtein distance of two words.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
