package kernel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Parse reads a kernel specification: a name, optionally followed by a colon and comma-separated
// key=value pairs, such as
//
//	diffusion:t=0.5
//	ngd:shift=pi,embed=tfidf-l1-sqrt
//	polynomial:gamma=1,r=1,degree=2
//
// or combinations of kernels, nested arbitrarily, such as
//
//	0.5*diffusion:t=0.5 + 0.5*linear
//	compose(arccos:n=1,arccos:n=0):layers=3
//	2*(linear + power(exp(linear:embed=tf-l2)):p=3)
//
// [Catalogue] lists names, keys, defaults and ranges. A number is pi, or a decimal number with an
// optional exponent. Every kernel has the key embed, whose value is read by sparse.ParseEmbedding.
// All parts of a kernel share one embedding. If several parts name an embedding, the embeddings
// must be equal. The default is the default embedding of the first part.
//
// If k contains no user-defined kernel, Parse(k.String()) returns a kernel equal to k. An invalid
// specification is a [*SpecError]. A specification may name kernels of [New] that are passed as
// own, such as sum(mine,linear). Parse fails if a kernel in own is nil, or if two kernels in own
// have the same name.
func Parse(spec string, own ...Kernel) (Kernel, error) { return parseKernel(spec, nil, own) }

// ParseIn is [Parse] with the default embedding e.
func ParseIn(spec string, e sparse.Embedding, own ...Kernel) (Kernel, error) {
	return parseKernel(spec, &e, own)
}

// MustParse is [Parse] for constant specifications. It panics if Parse fails.
func MustParse(spec string) Kernel {
	k, err := Parse(spec)
	if err != nil {
		panic(err)
	}
	return k
}

// SpecError reports an error in a kernel specification.
type SpecError struct {
	Spec     string // the specification
	Column   int    // position of the error in bytes, from 1
	Found    string // text at the position
	Expected string // allowed text
}

func (e *SpecError) Error() string {
	return fmt.Sprintf("engine: kernel %q, column %d: expected %s, found %s", e.Spec, e.Column, e.Expected, e.Found)
}

// Limits of a specification.
const (
	maxDepth  = 16  // nested parentheses
	maxParts  = 64  // parts per combination
	maxLayers = 32  // layers of a composition
	maxLeaves = 512 // total number of kernels, counting repeated layers
)

// parser parses a specification by recursive descent. Each method starts at pos and moves pos past
// the text that it reads. Methods panic with a *SpecError, which parseKernel returns.
//
//	sum    = term { "+" term }
//	term   = [ number "*" ] ( "(" sum ")" | call )
//	call   = word [ "(" sum { "," sum } ")" ] [ ":" key { "," key } ]
//	key    = word "=" value
type parser struct {
	spec      string
	own       []*kernel // user-defined kernels
	pos       int
	depth     int               // depth of parentheses
	leaves    []parsedKernel    // kernels without parts
	embedding *sparse.Embedding // embedding named in spec, or nil
	follow    string            // text that may follow the last kernel, for messages
}

type parsedKernel struct {
	*kernel
	pos, end int
}

func parseKernel(spec string, e *sparse.Embedding, own []Kernel) (k Kernel, err error) {
	p := &parser{spec: spec}
	for i, k := range own {
		if k == nil {
			return nil, fmt.Errorf("engine: user-defined kernel %d is nil; create it with kernel.New", i+1)
		}
		if slices.ContainsFunc(own[:i], func(o Kernel) bool { return o != k && o.String() == k.String() }) {
			return nil, fmt.Errorf("engine: two user-defined kernels have the name %s; names must be unique", k)
		}
		if !IsPrecomputed(k) {
			p.own = append(p.own, k.(*kernel))
		}
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *SpecError:
			k, err = nil, v
		default:
			panic(v)
		}
	}()
	of := p.sum()
	if p.skipSpaces(); p.pos < len(spec) {
		p.fail(p.pos, p.remaining(), p.follow+", a plus and another kernel, or the end")
	}
	return p.setEmbedding(of.kernel, e), nil
}

// setEmbedding sets the embedding of the kernel: the named embedding if there is one, else e if it
// isn't nil, else the first part's embedding.
func (p *parser) setEmbedding(k *kernel, e *sparse.Embedding) *kernel {
	first := p.leaves[0]
	to := first.embedding
	if e != nil {
		to = *e
	}
	if to = withPairing(to, first.family); p.embedding != nil {
		to = *p.embedding
	}
	for i, leaf := range p.leaves {
		want := leaf.embedding
		switch {
		case leaf.hasCustom && i == 0 && want != to:
			p.fail(leaf.pos, p.text(leaf), fmt.Sprintf(
				"a first kernel with embedding %s, but %s has %s", to, leaf, want))
		case !leaf.hasCustom && want.Pairing != sparse.Cosine && want.Pairing != to.Pairing:
			idf := want
			idf.Weighting = sparse.TFIDF
			p.fail(leaf.pos, p.text(leaf), fmt.Sprintf("a kernel for embedding %s, which all parts "+
				"share (%s compares histograms, so it needs embed=%s or %s)", to, leaf.family.Name, want, idf))
		}
	}
	return k.withEmbedding(to)
}

// withPairing returns e with the pairing of a family, if e is a matching embedding of histograms.
func withPairing(e sparse.Embedding, f *family) sparse.Embedding {
	if e.Norm == sparse.NormL1 && e.Power == 0 && e.Pairing == sparse.Cosine && f.combine == nil {
		e.Pairing = f.embedding.Pairing
	}
	return e
}

func (p *parser) sum() parsedKernel {
	p.skipSpaces()
	at := p.pos
	var parts []parsedKernel
	var weights []float64
	for more := true; more; more = p.accept('+') {
		if len(parts) == maxParts {
			p.fail(p.pos-1, p.spec[p.pos-1:], fmt.Sprintf("at most %d terms", maxParts))
		}
		weights = append(weights, p.weight())
		if p.skipSpaces(); p.accept('(') {
			parts = append(parts, p.list(nil)[0])
		} else {
			parts = append(parts, p.call())
		}
	}
	return parsedKernel{p.combine(findFamily("sum"), at, parts, weights, nil), at, p.pos}
}

func (p *parser) weight() float64 {
	p.skipSpaces()
	if p.pos >= len(p.spec) || strings.IndexByte("-.0123456789", p.spec[p.pos]) < 0 {
		return 1
	}
	at := p.pos
	text := p.readWhile(isValue)
	v, ok := parseNumber(text)
	if size := math.Abs(v); !ok || size < minParam || size > maxParam {
		p.fail(at, text, fmt.Sprintf("a nonzero number (%g to %g in magnitude)", minParam, maxParam))
	}
	p.expect('*', "* and a kernel")
	return v
}

// list reads the text after an opening parenthesis, which contains the parts of a combination, or a
// single sum if f is nil.
func (p *parser) list(f *family) (parts []parsedKernel) {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos-1, "another parenthesis", fmt.Sprintf("at most %d nested parentheses", maxDepth))
	}
	for parts = append(parts, p.sum()); !p.accept(')'); parts = append(parts, p.sum()) {
		if f == nil {
			p.fail(p.pos, p.remaining(), "a closing parenthesis")
		}
		if p.expect(',', "a comma and another part of "+f.Name+", or a closing parenthesis"); len(parts) == maxParts {
			p.fail(p.pos, p.remaining(), fmt.Sprintf("at most %d parts", maxParts))
		}
	}
	p.depth--
	return parts
}

func (p *parser) call() parsedKernel {
	t := parsedKernel{pos: p.pos}
	name := p.readWhile(isWord)
	f, names := findFamily(name), Names()
	for _, k := range p.own {
		if names = append(names, k.text); k.text == name {
			t.kernel, f = k, k.family
		}
	}
	expected := "the name of a kernel (" + strings.Join(names, ", ") + ")"
	if name == "" {
		p.fail(t.pos, p.remaining(), expected)
	}
	if f == nil {
		p.fail(t.pos, strconv.Quote(name)+suggest(name, names), expected)
	}
	var parts []parsedKernel
	if f.Operands != "" {
		p.expect('(', "parentheses with "+f.Operands)
		parts = p.list(f)
	}
	p.follow = "a colon and " + f.keyList()
	values, written := p.readParams(f)
	if t.end = p.pos; parts != nil {
		t.kernel = p.combine(f, t.pos, parts, slices.Repeat([]float64{1}, len(parts)), values)
		return t
	}
	if f.checkParams != nil {
		if i, expected := f.checkParams(values); expected != "" {
			at := t
			if written[i].end > 0 {
				at = written[i]
			}
			p.fail(at.pos, p.text(at), expected)
		}
	}
	if t.kernel == nil {
		t.kernel = newKernel(f, values)
	}
	p.leaves = append(p.leaves, t)
	return t
}

func (p *parser) combine(f *family, pos int, parts []parsedKernel, weights, values []float64) *kernel {
	if len(parts) > 1 && f.singlePart {
		p.fail(pos, fmt.Sprintf("%s of %d kernels", f.Name, len(parts)), f.Operands)
	}
	var kernels []*kernel
	leaves := 0
	for _, q := range parts {
		kernels = append(kernels, q.kernel)
		if leaves += q.kernel.leafCount; leaves > maxLeaves {
			p.fail(q.pos, p.text(q), fmt.Sprintf("at most %d kernels in all", maxLeaves))
		}
	}
	if f.checkParts != nil {
		if i, expected := f.checkParts(kernels, values); expected != "" {
			p.fail(parts[i].pos, p.text(parts[i]), expected)
		}
	}
	if f.Name == "sum" && len(parts) == 1 && weights[0] == 1 {
		return kernels[0]
	}
	return newCombination(f, kernels, weights, values)
}

func (p *parser) readParams(f *family) (values []float64, written []parsedKernel) {
	values, written = make([]float64, len(f.params)), make([]parsedKernel, len(f.params)+1)
	for i, q := range f.params {
		values[i] = q.defaultValue
	}
	for more := p.accept(':'); more; more = p.isKeyNext() && p.accept(',') {
		p.follow = "a comma and another key"
		p.skipSpaces()
		at := p.pos
		key := p.readWhile(isWord)
		if key == "" {
			p.fail(at, p.remaining(), f.keyList())
		}
		p.expect('=', fmt.Sprintf("= and a value after %q", key))
		p.skipSpaces()
		start := p.pos
		text := p.readWhile(isValue)
		if text == "" {
			p.fail(start, p.remaining(), fmt.Sprintf("a value for %q", key))
		}
		i, ok, allowed := f.param(key), true, ""
		switch {
		case i >= 0:
			key, allowed = f.params[i].Key, f.params[i].Allowed
			values[i], ok = f.params[i].parse(text)
		case key == "embed":
			i = len(f.params)
			ok, allowed = p.embeddingOf(f, text)
		default:
			p.fail(at, strconv.Quote(key)+suggest(key, f.keys()), f.keyList())
		}
		if !ok {
			p.fail(start, key+"="+text, allowed)
		}
		if written[i].end > 0 {
			p.fail(at, "another "+key, "each key only once")
		}
		written[i] = parsedKernel{pos: at, end: p.pos}
	}
	return values, written
}

func (p *parser) embeddingOf(f *family, text string) (ok bool, allowed string) {
	e, err := sparse.ParseEmbedding(text)
	if err != nil {
		var names []string
		for _, e := range sparse.Embeddings() {
			names = append(names, e.String())
		}
		return false, fmt.Sprintf("an embedding (%s, or with a power, such as tf-l1-pow0.75)%s", strings.Join(names, ", "),
			suggest(text, names))
	}
	if e = withPairing(e, f); p.embedding != nil && e != *p.embedding {
		return false, fmt.Sprintf("embed=%s again, because all parts share one embedding", *p.embedding)
	}
	p.embedding = &e
	return true, ""
}

// isKeyNext reports whether a comma and another key come next. Between parentheses, the comma may
// be followed by the next part instead.
func (p *parser) isKeyNext() bool {
	at := p.pos
	defer func() { p.pos = at }()
	if !p.accept(',') {
		return false
	}
	p.skipSpaces()
	return p.depth == 0 || p.readWhile(isWord) != "" && p.accept('=')
}

func (q param) parse(text string) (float64, bool) {
	if q.words != nil {
		i := slices.Index(q.words, text)
		return float64(i), i >= 0
	}
	if q.defaultWord != "" && text == q.defaultWord {
		return q.defaultValue, true
	}
	v, ok := parseNumber(text)
	return v, ok && q.allows(v)
}

func (q param) allows(v float64) bool {
	return v >= q.min && v <= q.max && (!q.integer || v == math.Trunc(v))
}

func (p *parser) accept(b byte) bool {
	at := p.pos
	p.skipSpaces()
	if p.pos < len(p.spec) && p.spec[p.pos] == b {
		p.pos++
		return true
	}
	p.pos = at
	return false
}

func (p *parser) expect(b byte, expected string) {
	if !p.accept(b) {
		p.fail(p.pos, p.remaining(), expected)
	}
}

func (p *parser) skipSpaces() {
	p.readWhile(func(_ string, b byte) bool { return b == ' ' || b == '\t' })
}

func (p *parser) readWhile(ok func(run string, b byte) bool) string {
	from := p.pos
	for p.pos < len(p.spec) && ok(p.spec[from:p.pos], p.spec[p.pos]) {
		p.pos++
	}
	return p.spec[from:p.pos]
}

func isWord(_ string, b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '_'
}

// isValue accepts bytes of words and numbers. A plus is part of a number only as the sign of an
// exponent. Any other plus adds kernels.
func isValue(run string, b byte) bool {
	if b != '+' {
		return isWord(run, b) || b == '.'
	}
	mantissa, ok := strings.CutSuffix(strings.ToLower(run), "e")
	return ok && mantissa != "" && strings.Trim(mantissa, "-.0123456789") == ""
}

func (p *parser) text(t parsedKernel) string { return strings.TrimSpace(p.spec[t.pos:t.end]) }

func (p *parser) remaining() string {
	if p.pos >= len(p.spec) {
		return "the end"
	}
	return strconv.Quote(p.spec[p.pos:])
}

func (p *parser) fail(pos int, found, expected string) {
	panic(&SpecError{Spec: p.spec, Column: pos + 1, Found: found, Expected: expected})
}

// parseNumber reads a finite decimal number or pi. It rejects inf, nan, hexadecimal numbers and
// underscores.
func parseNumber(s string) (float64, bool) {
	if s == "pi" {
		return math.Pi, true
	}
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v + 0, err == nil // + 0 turns -0 into 0
}

// formatNumber returns the shortest text that parseNumber reads as v.
func formatNumber(v float64) string {
	if v == math.Pi {
		return "pi"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if digits := strconv.FormatFloat(v, 'f', -1, 64); len(digits) < len(text) {
		return digits // such as 2147483647, which %g writes as 2.147483647e+09
	}
	return text
}

func suggest(word string, candidates []string) string {
	if best := run.ClosestWord(strings.ToLower(word), candidates); best != "" {
		return fmt.Sprintf(" (did you mean %q?)", best)
	}
	return ""
}

func (k *kernel) spec(e sparse.Embedding) string {
	keys, f := "", k.family
	for i, q := range f.params {
		switch v := k.values[i]; {
		case q.hidden && v == q.defaultValue:
		case q.words != nil:
			keys += "," + q.Key + "=" + q.words[int(v)]
		default:
			keys += "," + q.Key + "=" + formatNumber(v)
		}
	}
	if f.combine == nil && e != f.embedding {
		keys += ",embed=" + e.String()
	}
	keys = strings.Replace(keys, ",", ":", 1)
	if f.combine == nil {
		return f.Name + keys
	}
	var args []string
	for i, p := range k.parts {
		text := p.text
		if i == 0 {
			text = p.spec(e)
		}
		if f.Name == "sum" && p.family.Name == "sum" {
			text = "(" + text + ")"
		}
		if k.weights[i] != 1 {
			text = formatNumber(k.weights[i]) + "*" + text
		}
		args = append(args, text)
	}
	if f.Name == "sum" {
		return strings.Join(args, " + ")
	}
	return f.Name + "(" + strings.Join(args, ",") + ")" + keys
}
