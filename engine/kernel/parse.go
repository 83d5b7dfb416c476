package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine/kernel/internal/syntax"
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
//	compose(arccos:n=1,arccos:n=0,layers=3)
//	normalise(polynomial:degree=2,r=1)
//	2*(linear + power(exp(linear:embed=tf-l2),3))
//
// [Catalogue] lists names, keys, defaults and ranges. Spaces between the parts are allowed. A
// number is written in decimal, with an exponent if need be, or is pi.
//
// A key belongs to the kernel before it, with one exception: the last keys within parentheses
// belong to the kernel in front of the parentheses where that takes them (layers, in the example);
// a pair of parentheses around the part, or after the others a colon and the key, says it
// otherwise.
//
// Every kernel takes embed, an embedding as sparse.ParseEmbedding reads it. The parts of a kernel
// share one: all that are named must agree, and where none is, it is the default of the first part.
//
// Parse(k.String()) gives k again; it is tried, so that whatever is written with a kernel can be
// read. A specification that is wrong is answered with a [*SpecError].
//
// Kernels of [New] that are given as own are known by their names, as in sum(mine,linear). Errors: one that
// is nil, two of the same name.
func Parse(spec string, own ...Kernel) (Kernel, error) { return parseKernel(spec, nil, own) }

// ParseIn is [Parse] with another default for the embedding, of whatever parts the kernel is made.
func ParseIn(spec string, e sparse.Embedding, own ...Kernel) (Kernel, error) {
	return parseKernel(spec, &e, own)
}

func parseKernel(spec string, e *sparse.Embedding, own []Kernel) (Kernel, error) {
	words, err := vocabularyOf(own)
	if err != nil {
		return nil, err
	}
	c, err := syntax.Parse(spec, words)
	if err != nil {
		return nil, err
	}
	k, err := newBuilder(spec, c, own).kernel(c, e)
	if err != nil {
		return nil, err
	}
	text := k.String() // which files hold
	if c, err = syntax.Parse(text, words); err == nil {
		again, err := newBuilder(text, c, own).kernel(c, nil)
		if err == nil && (Equal(again, k) || isOwn(k) && again.String() == text) {
			return k, nil
		}
	}
	return nil, syntax.Fail(spec, 0, fmt.Sprintf("a kernel that is written %q, which isn't read as that", text),
		"fewer kernels within each other")
}

// vocabularyOf returns the vocabulary with the names of kernels of one's own.
func vocabularyOf(own []Kernel) (*syntax.Vocabulary, error) {
	if len(own) == 0 {
		return vocabulary(), nil
	}
	v, words := *vocabulary(), map[string]*syntax.Word{}
	v.Names = slices.Clone(v.Names)
	for i, k := range own {
		if k == nil {
			return nil, fmt.Errorf("engine: kernel %d of one's own is nil, expected one of kernel.New", i+1)
		}
		if slices.ContainsFunc(own[:i], func(o Kernel) bool { return o != k && o.String() == k.String() }) {
			return nil, fmt.Errorf("engine: two kernels of one's own are called %s, expected different names", k)
		}
		v.Names = append(v.Names, k.String())
		words[syntax.FirstWord(k.String())] = &syntax.Word{Takes: func(string) bool { return true }}
	}
	v.Word = func(name string) *syntax.Word {
		if w := vocabulary().Word(name); w != nil {
			return w
		}
		return words[name]
	}
	return &v, nil
}

// isOwn reports whether a kernel is one of [New], or made of one.
func isOwn(k Kernel) bool {
	of, ok := k.(*kernel)
	return ok && of.own
}

// MustParse is [Parse] for specifications that are part of a program: it panics where Parse returns
// an error.
func MustParse(spec string) Kernel {
	k, err := Parse(spec)
	if err != nil {
		panic(err)
	}
	return k
}

// SpecError says where a kernel specification is wrong and what is allowed there: Spec is the
// specification, Column the place in bytes from 1, Found what is there, and Expected what may be.
type SpecError = syntax.Error

// Bounds on what a specification may ask for.
const (
	mostLayers = 32  // of a composition
	mostLeaves = 512 // kernels in all, layers that are repeated counted as often: each is computed
)

// builder makes the parts of one kernel from what was read.
type builder struct {
	spec      string
	first     *syntax.Call // the first part that isn't made of others: the one that carries the embedding
	embedding sparse.Embedding
	own       []Kernel
}

func newBuilder(spec string, c *syntax.Call, own []Kernel) *builder {
	for len(c.Parts) > 0 {
		c = c.Parts[0]
	}
	b := &builder{spec: spec, first: c, own: own}
	b.embedding = b.family(c).embedding
	return b
}

// family returns the family of a call; of a kernel of one's own one that has this kernel alone.
func (b *builder) family(c *syntax.Call) *family {
	if f := familyOf(c.Name); f != nil {
		return f
	}
	f := &family{Info: Info{Name: c.Name}}
	for _, k := range b.own {
		if of := partOf(k); of != nil && k.String() == b.text(c) {
			f.embedding, f.own = k.Embedding(), of
		}
	}
	return f
}

// kernel makes the kernel that c describes. e is the embedding where c names none; nil stands for
// the default of c's first part.
func (b *builder) kernel(c *syntax.Call, e *sparse.Embedding) (Kernel, error) {
	first := b.family(b.first)
	if e != nil {
		b.embedding = *e
	}
	named := false
	if err := b.findEmbedding(c, &named); err != nil {
		return nil, err
	}
	if !named {
		b.embedding = paired(b.embedding, first)
	}
	if first.power != nil && !named {
		raised, err := b.raised(b.first, b.embedding, b.first.Pos, b.text(b.first))
		if err != nil {
			return nil, err
		}
		b.embedding = raised
	}
	k, err := b.build(c)
	if err != nil {
		return nil, err // not k, which is a nil of another type
	}
	if k.family == familyOf("c") {
		return C{k.in}, nil
	}
	return k, nil
}

// findEmbedding goes through all embeddings that are named.
func (b *builder) findEmbedding(c *syntax.Call, named *bool) error {
	f := b.family(c)
	for _, part := range c.Parts {
		if err := b.findEmbedding(part, named); err != nil {
			return err
		}
	}
	for _, a := range c.Values {
		if a.Key != "embed" || familyOf(c.Name) == nil {
			continue
		}
		e, err := sparse.ParseEmbedding(a.Value)
		if err != nil {
			return b.fail(
				a.ValuePos,
				"embed="+a.Value,
				"one of "+strings.Join(embeddings(), ", ")+", or one with a power such as tf-l1-pow0.75"+syntax.Hint(
					a.Value, embeddings()),
			)
		}
		if f.power != nil {
			if e, err = b.raised(c, e, a.ValuePos, "embed="+a.Value); err != nil {
				return err
			}
		}
		switch e = paired(e, f); {
		case *named && e != b.embedding:
			return b.fail(a.ValuePos, "embed="+a.Value,
				fmt.Sprintf("embed=%s as before: all parts share one embedding", b.embedding))
		}
		b.embedding, *named = e, true
	}
	return nil
}

// raised returns the embedding e, which stands at pos as found, with the power that the parameters
// of c ask for.
func (b *builder) raised(c *syntax.Call, e sparse.Embedding, pos int, found string) (sparse.Embedding, error) {
	f := b.family(c)
	values, err := b.values(c)
	if err != nil {
		return e, err
	}
	raised, err := e.WithPower(f.power(values))
	if err != nil {
		plain := f.embedding // there is a power for every value of the parameter, but histograms take none
		plain.Power = 0
		return e, b.fail(
			pos,
			found,
			fmt.Sprintf("an embedding that can be raised to a power, such as %s, instead of %s for histograms", plain,
				e),
		)
	}
	if e.Power != 0 && e != raised {
		plain := raised
		plain.Power = 0
		return e, b.fail(pos, found,
			fmt.Sprintf("the embedding %s, or %s, which %s raises to it, instead of %s", raised, plain, c.Name, e))
	}
	return raised, nil
}

// build makes a kernel.
func (b *builder) build(c *syntax.Call) (*kernel, error) {
	f := b.family(c)
	if familyOf(c.Name) == nil {
		return b.ownKernel(c, f.own)
	}
	values, err := b.values(c)
	if err != nil {
		return nil, err
	}
	if f.combine == nil {
		if f.refuse != nil {
			if i, expected := f.refuse(values); expected != "" {
				return nil, b.refused(c, f.params[i].Key, expected)
			}
		}
		if err := b.checkPairing(c); err != nil {
			return nil, err
		}
		e := in{f.embedding}
		if f.power != nil {
			e.embedding, _ = e.embedding.WithPower(f.power(values)) // whose bounds are those of the parameter
			if want := e.embedding.Power; want != b.embedding.Power {
				return nil, b.fail(
					c.Pos,
					b.text(c),
					fmt.Sprintf("the power of the embedding %s: it is that of all parts, which share one embedding",
						b.embedding),
				)
			}
		}
		if c == b.first {
			e.embedding = b.embedding
			b.first = nil // where layers are repeated, only the first of them names it
		}
		return newKernel(f, e, values), nil
	}
	var parts []*kernel
	total := 0
	for _, part := range c.Parts {
		k, err := b.build(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
		if total += k.leaves; total > mostLeaves {
			return nil, b.fail(part.Pos, b.text(part), fmt.Sprintf("at most %d kernels in all", mostLeaves))
		}
	}
	if n := len(parts); n == 0 || n > 1 && f.single {
		return nil, b.fail(c.Pos, fmt.Sprintf("%s of %d kernels", c.Name, n), f.Parts)
	}
	if f.check != nil {
		if i, expected := f.check(parts, values); expected != "" {
			part := c.Parts[i]
			return nil, b.fail(part.Pos, b.text(part), expected)
		}
	}
	if f.layers != nil && len(parts) < f.layers(values) {
		last, err := b.build(c.Parts[len(parts)-1])
		if err != nil {
			return nil, err
		}
		parts = append(parts, slices.Repeat([]*kernel{last}, f.layers(values)-len(parts))...)
	}
	weights := c.Weights
	if c.Weights == nil {
		weights = slices.Repeat([]float64{1}, len(parts))
	}
	return combined(f, parts, weights, values), nil
}

// ownKernel returns a kernel of one's own as a part.
func (b *builder) ownKernel(c *syntax.Call, k *kernel) (*kernel, error) {
	if k == nil {
		var names []string
		for _, o := range b.own {
			names = append(names, o.String())
		}
		return nil, b.fail(c.Pos, b.text(c), "a kernel of one's own as it is called: "+strings.Join(names, ", "))
	}
	if c == b.first && k.Embedding() != b.embedding {
		return nil, b.fail(c.Pos, b.text(c), fmt.Sprintf(
			"a part before it that has the embedding %s: %s has %s", b.embedding, k, k.Embedding()))
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

// checkPairing refuses a kernel with a pairing of its own in another embedding. The other way round
// there is nothing to refuse: after chi2, a kernel that usually is a function of the cosine is one
// of that similarity.
func (b *builder) checkPairing(c *syntax.Call) error {
	want := b.family(c).embedding
	if want.Pairing == sparse.Dot || want.Pairing == b.embedding.Pairing {
		return nil
	}
	idf := want
	idf.Weighting = sparse.TFIDF
	return b.fail(
		c.Pos,
		b.text(c),
		fmt.Sprintf(
			"a function of the similarity of the embedding %s, which all parts share: %s compares histograms in its "+
				"own way, embed=%s or %s",
			b.embedding,
			c.Name,
			want,
			idf,
		),
	)
}

// text returns a part as it is written.
func (b *builder) text(c *syntax.Call) string { return strings.TrimSpace(b.spec[c.Pos:c.End]) }

// refused is the error that a parameter doesn't go with the others; where it was left out, the
// whole kernel is shown.
func (b *builder) refused(c *syntax.Call, key, expected string) error {
	f := b.family(c)
	for _, a := range c.Values {
		if i := f.param(a.Key); i >= 0 && f.params[i].Key == key {
			return b.fail(a.KeyPos, a.Key+"="+a.Value, expected)
		}
	}
	return b.fail(c.Pos, strings.TrimSpace(b.spec[c.Pos:c.End]), expected)
}

// values returns the parameters of c, in the order of its family's.
func (b *builder) values(c *syntax.Call) ([]float64, error) {
	f := b.family(c)
	values := make([]float64, len(f.params))
	for i, q := range f.params {
		values[i] = q.initial
	}
	var seen []string
	given := slices.Clone(c.Values)
	for i, a := range c.Numbers {
		if i >= f.positional {
			return nil, b.fail(a.ValuePos, "the number "+a.Value,
				"a kernel, or one of the keys of "+c.Name+": "+strings.Join(f.keys(), ", "))
		}
		a.Key = f.params[i].Key
		given = append(given, a)
	}
	for _, a := range given {
		key := a.Key
		i := f.param(key)
		switch {
		case i >= 0:
			key = f.params[i].Key
			v, ok := f.params[i].parse(a.Value)
			if !ok {
				return nil, b.fail(a.ValuePos, key+"="+a.Value, f.params[i].Allowed)
			}
			values[i] = v
		case key != "embed": // embed is what findEmbedding has read
			return nil, b.fail(a.KeyPos, fmt.Sprintf("the unknown key %q", key), c.KeyList()+syntax.Hint(key, f.keys()))
		}
		if slices.Contains(seen, key) {
			return nil, b.fail(a.KeyPos, key+" a second time", "each key once")
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
	v, ok := syntax.ParseNumber(text)
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

// fail is the error that something was found at a place of the specification.
func (b *builder) fail(pos int, found, expected string) error {
	return syntax.Fail(b.spec, pos, found, expected)
}

func formatNumber(v float64) string { return syntax.FormatNumber(v) }

// format writes a kernel that isn't made of others.
func format(f *family, e in, values []float64) string {
	var parts []string
	for i, q := range f.params {
		v := values[i]
		switch {
		case q.hidden && v == q.initial:
		case q.words != nil:
			parts = append(parts, q.Key+"="+q.words[int(v)])
		default:
			parts = append(parts, q.Key+"="+formatNumber(v))
		}
	}
	if f.power != nil {
		e.embedding.Power = 0 // which is a parameter
	}
	if e.embedding != f.embedding {
		parts = append(parts, "embed="+e.embedding.String())
	}
	return strings.TrimSuffix(f.Name+":"+strings.Join(parts, ","), ":")
}

// spec writes a kernel as [Parse] reads it.
func (k *kernel) spec() string {
	if len(k.parts) == 0 {
		return format(k.family, k.in, k.values)
	}
	var args []string
	for i, p := range k.parts {
		text := p.text
		if p.family != nil && p.family.Name == "sum" && (k.family.Name == "sum" || k.family.Name == "compose") {
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
	// The last part is in parentheses where the grammar takes its last keys for those of the whole.
	last := &args[len(args)-1]
	if c, err := syntax.Parse(k.family.Name+"("+*last+")", vocabulary()); err == nil && len(c.Values) > 0 ||
		err != nil && strings.Contains(*last, ":") {
		*last = "(" + *last + ")"
	}
	if k.family.positional > 0 {
		args = append(args, formatNumber(k.values[0]))
	}
	return k.family.Name + "(" + strings.Join(args, ",") + ")"
}
