package kernel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
)

// SpecError says where a kernel specification is wrong and what is allowed there.
type SpecError struct {
	Spec     string // the specification
	Column   int    // where it is wrong, in bytes from 1
	Found    string // what is there
	Expected string // what is allowed there
}

func (e *SpecError) Error() string {
	return fmt.Sprintf("engine: kernel %q, column %d: found %s, expected %s", e.Spec, e.Column, e.Found, e.Expected)
}

// term is a kernel as written: its name, its keys, and what it is made of. A sum has the name "sum".
type term struct {
	*family
	pos, end int
	values   []assignment
	parts    []*term
	weights  []float64 // of the parts of a sum
	own      *kernel   // the user-defined kernel; nil: none
}

// assignment is key=value as written.
type assignment struct {
	key, value       string
	keyPos, valuePos int
}

// Bounds on what a specification may ask for.
const (
	maxDepth  = 16  // parentheses within each other
	maxParts  = 64  // of a kernel
	maxLayers = 32  // of a composition
	maxLeaves = 512 // kernels in all, layers that are repeated counted as often: each is computed
)

// parser reads a specification by recursive descent; every method begins where pos stands and
// leaves pos after what it read.
//
//	sum        = term { "+" term }
//	term       = [ number "*" ] ( "(" sum ")" | call )
//	call       = word [ "(" sum { "," sum } ")" ] [ ":" assignment { "," assignment } ]
//	assignment = word "=" value
//
// After an assignment, a comma goes on with the keys if a word and "=" follow.
type parser struct {
	spec  string
	own   []*kernel // user-defined kernels
	pos   int
	depth int
}

// whole reads a specification to its end.
func (p *parser) whole() (*term, error) {
	t, err := p.sum()
	if p.space(); err == nil && p.pos < len(p.spec) {
		err = p.fail(p.pos, p.rest(), p.follow(t))
	}
	return t, err
}

// names returns all names of kernels, for messages.
func (p *parser) names() []string {
	names := Names()
	for _, k := range p.own {
		names = append(names, k.text)
	}
	return names
}

// sum reads terms; one of weight 1 is no sum.
func (p *parser) sum() (*term, error) {
	s := &term{family: familyOf("sum")}
	p.space()
	s.pos = p.pos
	for {
		weight, err := p.weight()
		if err != nil {
			return nil, err
		}
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		s.parts, s.weights = append(s.parts, t), append(s.weights, weight)
		if !p.accept('+') {
			break
		}
		if len(s.parts) == maxParts {
			return nil, p.fail(p.pos-1, p.spec[p.pos-1:], fmt.Sprintf("at most %d terms", maxParts))
		}
	}
	s.end = p.pos
	if len(s.parts) == 1 && s.weights[0] == 1 {
		return s.parts[0], nil
	}
	return s, nil
}

// weight reads a number and a star, if a number comes next.
func (p *parser) weight() (float64, error) {
	p.space()
	if !p.numberAhead() {
		return 1, nil
	}
	at := p.pos
	text := p.take(isValue)
	v, ok := parseNumber(text)
	if size := math.Abs(v); !ok || size < tiny || size > huge {
		return 0, p.fail(at, text, fmt.Sprintf("a number other than 0 (from %g to %g, of either sign)", tiny, huge))
	}
	if !p.accept('*') {
		return 0, p.fail(p.pos, p.rest(), "* and the kernel that it multiplies")
	}
	return v, nil
}

func (p *parser) numberAhead() bool {
	return p.pos < len(p.spec) && strings.IndexByte("-.0123456789", p.spec[p.pos]) >= 0
}

func (p *parser) term() (*term, error) {
	p.space()
	at := p.pos
	if !p.accept('(') {
		return p.call()
	}
	var t *term
	err := p.nest(at, func() (err error) {
		if t, err = p.sum(); err == nil && !p.accept(')') {
			err = p.fail(p.pos, p.rest(), "a closing parenthesis")
		}
		return err
	})
	return t, err
}

// nest runs what is within the parenthesis at a place.
func (p *parser) nest(at int, within func() error) error {
	if p.depth == maxDepth {
		return p.fail(at, "another parenthesis", fmt.Sprintf("at most %d within each other", maxDepth))
	}
	p.depth++
	defer func() { p.depth-- }()
	return within()
}

func (p *parser) call() (*term, error) {
	p.space()
	t := &term{pos: p.pos}
	name := p.take(isWord)
	if name == "" {
		return t, p.fail(t.pos, p.rest(), "the name of a kernel: one of "+strings.Join(p.names(), ", "))
	}
	t.family = familyOf(name)
	if i := slices.IndexFunc(p.own, func(k *kernel) bool { return k.text == name }); i >= 0 {
		t.own, t.family = p.own[i], p.own[i].family
	}
	if t.family == nil {
		return t, p.fail(t.pos, fmt.Sprintf("the unknown kernel %q", name),
			"one of "+strings.Join(p.names(), ", ")+hint(name, p.names()))
	}
	if at := p.pos; t.Parts != "" {
		if !p.accept('(') {
			return t, p.fail(p.pos, p.rest(), "parentheses with "+t.Parts)
		}
		if err := p.nest(at, func() error { return p.arguments(t) }); err != nil {
			return t, err
		}
	}
	var err error
	if p.accept(':') {
		err = p.keys(t)
	}
	t.end = p.pos
	return t, err
}

// arguments reads the parts of a combination, up to the closing parenthesis.
func (p *parser) arguments(t *term) error {
	for {
		part, err := p.sum()
		if err != nil {
			return err
		}
		t.parts = append(t.parts, part)
		switch {
		case p.accept(')'):
			return nil
		case !p.accept(','):
			return p.fail(p.pos, p.rest(), "a comma and another part of "+t.Name+", or a closing parenthesis")
		case len(t.parts) == maxParts:
			return p.fail(p.pos, p.rest(), fmt.Sprintf("at most %d parts", maxParts))
		}
	}
}

// keys reads assignments after the colon that was read.
func (p *parser) keys(t *term) error {
	for {
		a, err := p.assignment(t)
		if err != nil {
			return err
		}
		t.values = append(t.values, a)
		at := p.pos
		if !p.accept(',') {
			return nil
		}
		if p.depth > 0 && !p.keyAhead() { // the comma before the next part
			p.pos = at
			return nil
		}
	}
}

// keyAhead reports whether a word and = come next.
func (p *parser) keyAhead() bool {
	at := p.pos
	defer func() { p.pos = at }()
	p.space()
	return p.take(isWord) != "" && p.accept('=')
}

func (p *parser) assignment(t *term) (assignment, error) {
	p.space()
	a := assignment{keyPos: p.pos}
	a.key = p.take(isWord)
	if a.key == "" {
		return a, p.fail(p.pos, p.rest(), t.keyList())
	}
	if !p.accept('=') {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("= and a value after %q", a.key))
	}
	p.space()
	a.valuePos = p.pos
	a.value = p.take(isValue)
	if a.value == "" {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("a value for %q", a.key))
	}
	return a, nil
}

// keyList says which keys a kernel takes.
func (t *term) keyList() string {
	return "one of the keys of " + t.Name + ": " + strings.Join(t.keys(), ", ")
}

// follow says what may follow a kernel as it stands.
func (p *parser) follow(t *term) string {
	if t.weights != nil { // written with plus signs
		t = t.parts[len(t.parts)-1]
	}
	if len(t.values) > 0 {
		return "a comma and another key, a plus and another kernel, or the end"
	}
	return "a colon and " + t.keyList() + ", a plus and another kernel, or the end"
}

// accept steps over spaces and the byte b where b comes next.
func (p *parser) accept(b byte) bool {
	at := p.pos
	p.space()
	if p.pos < len(p.spec) && p.spec[p.pos] == b {
		p.pos++
		return true
	}
	p.pos = at
	return false
}

func (p *parser) space() { p.take(func(_ string, b byte) bool { return b == ' ' || b == '\t' }) }

// take steps over the longest run of bytes that ok takes, given the run so far, and returns it.
func (p *parser) take(ok func(run string, b byte) bool) string {
	from := p.pos
	for p.pos < len(p.spec) && ok(p.spec[from:p.pos], p.spec[p.pos]) {
		p.pos++
	}
	return p.spec[from:p.pos]
}

func isWord(_ string, b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '_'
}

// isValue takes what words and numbers are made of. A plus belongs to a number only as the sign of
// an exponent: elsewhere it joins kernels.
func isValue(run string, b byte) bool {
	if b != '+' {
		return isWord(run, b) || b == '.'
	}
	mantissa, ok := strings.CutSuffix(strings.ToLower(run), "e")
	return ok && mantissa != "" && strings.Trim(mantissa, "-.0123456789") == ""
}

// rest shows what stands at pos, for messages.
func (p *parser) rest() string {
	if p.pos >= len(p.spec) {
		return "the end"
	}
	return strconv.Quote(p.spec[p.pos:])
}

// fail is the error that something was found at a place of the specification.
func (p *parser) fail(pos int, found, expected string) error {
	return &SpecError{Spec: p.spec, Column: pos + 1, Found: found, Expected: expected}
}

// parseNumber reads a finite decimal number or pi. What else strconv reads (inf, nan, hexadecimal,
// underscores) is refused.
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

// formatNumber writes a number as parseNumber reads it, in the shortest way that gives it back.
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

// hint asks for the candidate that is one or two slips away from the word written, or says nothing.
func hint(word string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := run.Edits(strings.ToLower(word), c); d < at && d < len(c) {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}
