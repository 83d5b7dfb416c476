package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// kernel makes the kernel that c describes. e is the embedding where c names none; nil stands for the default of c's first part.
func (p *parser) kernel(c *call, e *sparse.Embedding) (Kernel, error) {
	first := c
	for len(first.parts) > 0 {
		first = first.parts[0]
	}
	b := builder{parser: p, first: first, embedding: first.family.embedding}
	if e != nil {
		b.embedding = *e
	}
	named := false
	if err := b.findEmbedding(c, &named); err != nil {
		return nil, err
	}
	if !named {
		b.embedding = paired(b.embedding, first.family)
	}
	if first.family.power != nil && !named {
		raised, err := b.raised(first, b.embedding, first.pos, b.text(first))
		if err != nil {
			return nil, err
		}
		b.embedding = raised
	}
	k, err := b.build(c)
	if err != nil {
		return nil, err // not k, which is a nil of another type
	}
	return k, nil
}

// builder makes the parts of one kernel.
type builder struct {
	*parser
	first     *call // the first part that isn't made of others: the one that carries the embedding
	embedding sparse.Embedding
}

// findEmbedding goes through all embeddings that are named.
func (b *builder) findEmbedding(c *call, named *bool) error {
	for _, part := range c.parts {
		if err := b.findEmbedding(part, named); err != nil {
			return err
		}
	}
	for _, a := range c.values {
		if a.key != "embed" {
			continue
		}
		e, err := sparse.ParseEmbedding(a.value)
		if err != nil {
			return b.fail(a.valuePos, "embed="+a.value, "one of "+strings.Join(embeddings(), ", ")+", or one with a power such as tf-l1-pow0.75"+hint(a.value, embeddings()))
		}
		if c.family.power != nil {
			if e, err = b.raised(c, e, a.valuePos, "embed="+a.value); err != nil {
				return err
			}
		}
		switch e = paired(e, c.family); {
		case *named && e != b.embedding:
			return b.fail(a.valuePos, "embed="+a.value, fmt.Sprintf("embed=%s as before: all parts share one embedding", b.embedding))
		}
		b.embedding, *named = e, true
	}
	return nil
}

// raised returns the embedding e, which stands at pos as found, with the power that the parameters of c ask for.
func (b *builder) raised(c *call, e sparse.Embedding, pos int, found string) (sparse.Embedding, error) {
	values, err := b.values(c)
	if err != nil {
		return e, err
	}
	raised, err := e.WithPower(c.family.power(values))
	if err != nil {
		plain := c.family.embedding // there is a power for every value of the parameter, but histograms take none
		plain.Power = 0
		return e, b.fail(pos, found, fmt.Sprintf("an embedding that can be raised to a power, such as %s, instead of %s for histograms", plain, e))
	}
	if e.Power != 0 && e != raised {
		plain := raised
		plain.Power = 0
		return e, b.fail(pos, found, fmt.Sprintf("the embedding %s, or %s, which %s raises to it, instead of %s", raised, plain, c.name, e))
	}
	return raised, nil
}

// build makes a kernel.
func (b *builder) build(c *call) (component, error) {
	f := c.family
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
				return nil, b.fail(c.pos, b.text(c), fmt.Sprintf("the power of the embedding %s: it is that of all parts, which share one embedding", b.embedding))
			}
		}
		if c == b.first {
			e.embedding = b.embedding
		}
		return f.build(e, values), nil
	}
	var parts []component
	total := 0
	for _, part := range c.parts {
		k, err := b.build(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
		if total += leaves(k); total > mostLeaves {
			return nil, b.fail(part.pos, b.text(part), fmt.Sprintf("at most %d kernels in all", mostLeaves))
		}
	}
	if n := len(parts); n == 0 || n > 1 && f.single {
		return nil, b.fail(c.pos, fmt.Sprintf("%s of %d kernels", c.name, n), f.Parts)
	}
	if f.check != nil {
		if i, expected := f.check(parts, values); expected != "" {
			part := c.parts[i]
			return nil, b.fail(part.pos, b.text(part), expected)
		}
	}
	weights := c.weights
	if c.weights == nil {
		weights = slices.Repeat([]float64{1}, len(parts))
	}
	return f.combine(parts, weights, values), nil
}

// text returns a part as it is written.
func (b *builder) text(c *call) string { return strings.TrimSpace(b.spec[c.pos:c.end]) }

// refused is the error that a parameter doesn't go with the others; where it was left out, the whole kernel is shown.
func (b *builder) refused(c *call, key, expected string) error {
	for _, a := range c.values {
		if i := c.family.param(a.key); i >= 0 && c.family.params[i].Key == key {
			return b.fail(a.keyPos, a.key+"="+a.value, expected)
		}
	}
	return b.fail(c.pos, strings.TrimSpace(b.spec[c.pos:c.end]), expected)
}

// values returns the parameters of c, in the order of its family's.
func (b *builder) values(c *call) ([]float64, error) {
	f := c.family
	values := make([]float64, len(f.params))
	for i, q := range f.params {
		values[i] = q.initial
	}
	var seen []string
	given := slices.Clone(c.values)
	for i, a := range c.numbers {
		if i >= f.positional {
			return nil, b.fail(a.valuePos, "the number "+a.value, "a kernel, or one of the keys of "+c.name+": "+strings.Join(f.keys(), ", "))
		}
		a.key = f.params[i].Key
		given = append(given, a)
	}
	for _, a := range given {
		key := a.key
		i := f.param(key)
		switch {
		case i >= 0:
			key = f.params[i].Key
			v, ok := f.params[i].parse(a.value)
			if !ok {
				return nil, b.fail(a.valuePos, key+"="+a.value, f.params[i].Allowed)
			}
			values[i] = v
		case key != "embed" || f.plain: // embed is what findEmbedding has read
			return nil, b.fail(a.keyPos, fmt.Sprintf("the unknown key %q", key), c.keys()+hint(key, f.keys()))
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

// pair is a parameter and its value, for printing.
type pair struct {
	key   string
	value float64
}

// format writes a kernel as [Parse] reads it; a gamma of 0 isn't set yet, so it is left out.
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
