package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseKernel reads a kernel specification: a name, and behind a colon keys with their values, separated by commas, such as
//
//	diffusion:t=0.5
//	ngd:shift=pi,embed=tfidf-l1-sqrt
//	polynomial:gamma=1,r=1,degree=2
//
// [Catalogue] lists names, keys, defaults and ranges. Every kernel takes embed, an embedding as sparse.ParseEmbedding reads it. Spaces between
// the parts are allowed. A number is written in decimal, with an exponent if need be, or is pi.
//
// ParseKernel(k.String()) gives k again. A specification that is wrong is answered with a [*SpecError].
func ParseKernel(spec string) (Kernel, error) {
	p := parser{spec: spec}
	c, err := p.call()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.spec) {
		return nil, p.fail(p.pos, p.rest(), p.follow(c))
	}
	return p.kernel(c)
}

// MustParseKernel is [ParseKernel] for specifications that are part of a program: it panics where ParseKernel returns an error.
func MustParseKernel(spec string) Kernel {
	k, err := ParseKernel(spec)
	if err != nil {
		panic(err)
	}
	return k
}

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

// call is a kernel as written: its name and its keys. Kernels made of others will have them as arguments here.
type call struct {
	name   string
	pos    int
	family *family // what the name means
	values []assignment
}

// assignment is key=value as written.
type assignment struct {
	key, value       string
	keyPos, valuePos int
}

// parser reads a specification by recursive descent; every method begins where pos stands and leaves pos behind what it read.
//
//	call       = word [ ":" assignment { "," assignment } ]
//	assignment = word "=" value
type parser struct {
	spec string
	pos  int
}

func (p *parser) call() (call, error) {
	p.space()
	c := call{pos: p.pos}
	c.name = p.take(isWord)
	if c.name == "" {
		return c, p.fail(c.pos, p.rest(), "the name of a kernel: one of "+strings.Join(Names(), ", "))
	}
	c.family = familyOf(c.name)
	if c.family == nil {
		return c, p.fail(c.pos, fmt.Sprintf("the unknown kernel %q", c.name), "one of "+strings.Join(Names(), ", ")+hint(c.name, Names()))
	}
	if !p.accept(':') {
		return c, nil
	}
	for {
		a, err := p.assignment(c)
		if err != nil {
			return c, err
		}
		c.values = append(c.values, a)
		if !p.accept(',') {
			return c, nil
		}
	}
}

func (p *parser) assignment(c call) (assignment, error) {
	p.space()
	a := assignment{keyPos: p.pos}
	a.key = p.take(isWord)
	if a.key == "" {
		return a, p.fail(p.pos, p.rest(), p.keys(c))
	}
	if !p.accept('=') {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("= and a value behind %q", a.key))
	}
	p.space()
	a.valuePos = p.pos
	a.value = p.take(isValue)
	if a.value == "" {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("a value for %q", a.key))
	}
	return a, nil
}

// keys says which keys the kernel c takes, and follow what may come behind c as it stands.
func (p *parser) keys(c call) string {
	return "one of the keys of " + c.name + ": " + strings.Join(c.family.keys(), ", ")
}

func (p *parser) follow(c call) string {
	if len(c.values) > 0 {
		return "a comma and another key, or the end"
	}
	return "a colon and " + p.keys(c) + ", or the end"
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

// isValue takes what words and numbers are made of. A plus belongs to a number only as the sign of an exponent: elsewhere it joins kernels.
func isValue(run string, b byte) bool {
	return isWord(run, b) || b == '.' || b == '+' && exponentAhead(run)
}

func exponentAhead(run string) bool {
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

func (p *parser) fail(pos int, found, expected string) error {
	return &SpecError{Spec: p.spec, Column: pos + 1, Found: found, Expected: expected}
}

// parseNumber reads a finite decimal number or pi. What else strconv reads (inf, nan, hexadecimal, underscores) is refused.
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

// formatNumber writes a number as [parseNumber] reads it, in the fewest digits that give it back.
func formatNumber(v float64) string {
	if v == math.Pi {
		return "pi"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
