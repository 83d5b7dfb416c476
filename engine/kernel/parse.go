package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Parse reads a kernel specification: a name, and after a colon keys with their values, separated
// by commas, such as
//
//	diffusion:t=0.5
//	ngd:shift=pi,embed=tfidf-l1-sqrt
//	polynomial:gamma=1,r=1,degree=2
//
// or kernels made of others, nested at will, such as
//
//	0.5*diffusion:t=0.5 + 0.5*linear
//	product(arccos:n=1,arccos:n=0,arccos:n=0)
//	compose(arccos:n=1,arccos:n=0):layers=3
//	normalise(polynomial:degree=2,r=1)
//	2*(linear + power(exp(linear:embed=tf-l2)):p=3)
//
// [Catalogue] lists names, keys, defaults and ranges. Spaces between the parts are allowed. A
// number is written in decimal, with an exponent if need be, or is pi.
//
// Every kernel has the key embed, an embedding as sparse.ParseEmbedding reads it. The parts of a kernel
// share one embedding: all that are named must agree. Default: that of the first part.
//
// Parse(k.String()) returns k again. An invalid specification is a [*SpecError].
//
// A specification can name kernels of [New] that are passed as own, as in sum(mine,linear). Parse fails
// if one of them is nil, or if two have the same name.
func Parse(spec string, own ...Kernel) (Kernel, error) { return parseKernel(spec, nil, own) }

// ParseIn is [Parse] with the default embedding e.
func ParseIn(spec string, e sparse.Embedding, own ...Kernel) (Kernel, error) {
	return parseKernel(spec, &e, own)
}

func parseKernel(spec string, e *sparse.Embedding, own []Kernel) (Kernel, error) {
	known, err := ownParts(own)
	if err != nil {
		return nil, err
	}
	return (&builder{parser: parser{spec: spec, own: known}}).kernel(e)
}

// ownParts checks user-defined kernels.
func ownParts(own []Kernel) (parts []*kernel, err error) {
	for i, k := range own {
		if k == nil {
			return nil, fmt.Errorf("engine: user-defined kernel %d is nil, expected a kernel of kernel.New", i+1)
		}
		if slices.ContainsFunc(own[:i], func(o Kernel) bool { return o != k && o.String() == k.String() }) {
			return nil, fmt.Errorf("engine: two user-defined kernels are called %s, expected different names", k)
		}
		if !IsPrecomputed(k) {
			parts = append(parts, k.(*kernel))
		}
	}
	return parts, nil
}

// MustParse is [Parse] for constant specifications. It panics if Parse fails.
func MustParse(spec string) Kernel {
	k, err := Parse(spec)
	if err != nil {
		panic(err)
	}
	return k
}

// builder makes a kernel from its parsed specification.
type builder struct {
	parser
	first     *term // first term without parts; its embedding is that of the kernel
	embedding sparse.Embedding
}

// kernel makes the kernel. If the specification names no embedding, it is e, or that of the first part
// if e is nil.
func (b *builder) kernel(e *sparse.Embedding) (Kernel, error) {
	t, err := b.whole()
	if err != nil {
		return nil, err
	}
	for b.first = t; len(b.first.parts) > 0; {
		b.first = b.first.parts[0]
	}
	first := b.first
	if b.embedding = first.embedding; e != nil {
		b.embedding = *e
	}
	named := false
	if err := b.findEmbedding(t, &named); err != nil {
		return nil, err
	}
	if !named {
		b.embedding = paired(b.embedding, first.family)
	}
	k, err := b.build(t)
	if err != nil {
		return nil, err // not k, which is a nil of another type
	}
	return k, nil
}

// findEmbedding checks that all named embeddings agree.
func (b *builder) findEmbedding(t *term, named *bool) error {
	for _, part := range t.parts {
		if err := b.findEmbedding(part, named); err != nil {
			return err
		}
	}
	for _, a := range t.values {
		if a.key != "embed" {
			continue
		}
		found := "embed=" + a.value
		e, err := sparse.ParseEmbedding(a.value)
		if err != nil {
			return b.fail(a.valuePos, found, "one of "+strings.Join(embeddings(), ", ")+
				", or one with a power such as tf-l1-pow0.75"+hint(a.value, embeddings()))
		}
		if e = paired(e, t.family); *named && e != b.embedding {
			return b.fail(a.valuePos, found, fmt.Sprintf("embed=%s as before: all parts share one embedding", b.embedding))
		}
		b.embedding, *named = e, true
	}
	return nil
}

// build makes a kernel.
func (b *builder) build(t *term) (*kernel, error) {
	values, err := b.parameters(t)
	if err != nil {
		return nil, err
	}
	if t.own != nil {
		return b.ownPart(t)
	}
	if t.combine == nil {
		return b.leaf(t, values)
	}
	var parts []*kernel
	total := 0
	for _, part := range t.parts {
		k, err := b.build(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
		if total += k.leaves; total > maxLeaves {
			return nil, b.fail(part.pos, b.text(part), fmt.Sprintf("at most %d kernels in all", maxLeaves))
		}
	}
	if n := len(parts); n > 1 && t.single {
		return nil, b.fail(t.pos, fmt.Sprintf("%s of %d kernels", t.Name, n), t.Parts)
	}
	if t.check != nil {
		if i, expected := t.check(parts, values); expected != "" {
			return nil, b.fail(t.parts[i].pos, b.text(t.parts[i]), expected)
		}
	}
	weights := t.weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(parts))
	}
	if t.Name == "sum" && len(parts) == 1 && weights[0] == 1 {
		return parts[0], nil
	}
	return combined(t.family, parts, weights, values), nil
}

// leaf makes a kernel without parts.
func (b *builder) leaf(t *term, values []float64) (*kernel, error) {
	if t.refuse != nil {
		if i, expected := t.refuse(values); expected != "" {
			return nil, b.refused(t, t.params[i].Key, expected)
		}
	}
	// A kernel with a pairing of its own is refused in another embedding. After chi2, a kernel that usually
	// is a function of the cosine is one of that similarity.
	if want := t.embedding; want.Pairing != sparse.Dot && want.Pairing != b.embedding.Pairing {
		idf := want
		idf.Weighting = sparse.TFIDF
		return nil, b.fail(t.pos, b.text(t), fmt.Sprintf("a function of the similarity of the embedding %s, which all "+
			"parts share: %s compares histograms in its own way, embed=%s or %s", b.embedding, t.Name, want, idf))
	}
	e := in{t.embedding}
	if t == b.first {
		e.embedding = b.embedding
	}
	return newKernel(t.family, e, values), nil
}

// ownPart returns a user-defined kernel as a part.
func (b *builder) ownPart(t *term) (*kernel, error) {
	k := t.own
	if t == b.first && k.embedding != b.embedding {
		return nil, b.fail(t.pos, b.text(t), fmt.Sprintf(
			"a part before it that has the embedding %s: %s has %s", b.embedding, k, k.embedding))
	}
	return k, nil
}

// paired returns e with the pairing that a family has of its own, where e is an embedding of
// histograms but for that.
func paired(e sparse.Embedding, f *family) sparse.Embedding {
	if e.Norm == sparse.NormL1 && e.Power == 0 && e.Pairing == sparse.Dot && f.combine == nil {
		e.Pairing = f.embedding.Pairing
	}
	return e
}

// text returns the specification of a part.
func (b *builder) text(t *term) string { return strings.TrimSpace(b.spec[t.pos:t.end]) }

// refused returns the error of a parameter that contradicts the others. It points to the parameter, or
// to the whole kernel if the parameter was left out.
func (b *builder) refused(t *term, key, expected string) error {
	for _, a := range t.values {
		if i := t.param(a.key); i >= 0 && t.params[i].Key == key {
			return b.fail(a.keyPos, a.key+"="+a.value, expected)
		}
	}
	return b.fail(t.pos, b.text(t), expected)
}

// parameters returns the values of the parameters of t, in the order of family.params.
func (b *builder) parameters(t *term) ([]float64, error) {
	values := make([]float64, len(t.params))
	for i, q := range t.params {
		values[i] = q.initial
	}
	var seen []string
	for _, a := range t.values {
		key := a.key
		i := t.param(key)
		switch {
		case i >= 0:
			key = t.params[i].Key
			v, ok := t.params[i].parse(a.value)
			if !ok {
				return nil, b.fail(a.valuePos, key+"="+a.value, t.params[i].Allowed)
			}
			values[i] = v
		case key != "embed": // embed is what findEmbedding has read
			return nil, b.fail(a.keyPos, fmt.Sprintf("the unknown key %q", key), t.keyList()+hint(key, t.keys()))
		}
		if slices.Contains(seen, key) {
			return nil, b.fail(a.keyPos, key+" a second time", "each key once")
		}
		seen = append(seen, key)
	}
	return values, nil
}

// parse reads a value.
func (q param) parse(text string) (float64, bool) {
	if q.words != nil {
		i := slices.Index(q.words, text)
		return float64(i), i >= 0
	}
	if q.absent != "" && text == q.absent {
		return q.initial, true
	}
	v, ok := parseNumber(text)
	return v, ok && q.allows(v)
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

// format returns the specification of a kernel of a family with parameters.
func format(f *family, e in, values []float64) string {
	text := formatKeys(f, values)
	if e.embedding != f.embedding {
		text += ",embed=" + e.embedding.String()
	}
	return f.Name + strings.Replace(text, ",", ":", 1)
}

// formatKeys returns the parameters of a family, each after a comma.
func formatKeys(f *family, values []float64) (text string) {
	for i, q := range f.params {
		v := values[i]
		switch {
		case q.hidden && v == q.initial:
		case q.words != nil:
			text += "," + q.Key + "=" + q.words[int(v)]
		default:
			text += "," + q.Key + "=" + formatNumber(v)
		}
	}
	return text
}

// spec returns the specification of k, which [Parse] reads.
func (k *kernel) spec() string {
	if len(k.parts) == 0 {
		return format(k.family, k.in, k.values)
	}
	var args []string
	for i, p := range k.parts {
		text := p.text
		if p.family.Name == "sum" && k.family.Name == "sum" {
			text = "(" + text + ")"
		}
		if k.family.Name == "sum" && k.weights[i] != 1 {
			text = formatNumber(k.weights[i]) + "*" + text
		}
		args = append(args, text)
	}
	if k.family.Name == "sum" {
		return strings.Join(args, " + ")
	}
	keys := strings.Replace(formatKeys(k.family, k.values), ",", ":", 1)
	return k.family.Name + "(" + strings.Join(args, ",") + ")" + keys
}
