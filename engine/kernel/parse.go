package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// Parse reads a kernel specification: a name, and behind a colon keys with their values, separated by commas, such as
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
// [Catalogue] lists names, keys, defaults and ranges. Spaces between the parts are allowed. A number is written in decimal, with an exponent if need be, or is pi.
//
// A key belongs to the kernel before it, with one exception: the last keys within parentheses belong to the kernel in front of the parentheses where that
// takes them (layers, in the example); a pair of parentheses around the part, or behind the others a colon and the key, says it otherwise.
//
// Every kernel takes embed, an embedding as sparse.ParseEmbedding reads it. The parts of a kernel share one: all that are named must agree, and where
// none is, it is the default of the first part.
//
// Parse(k.String()) gives k again. A specification that is wrong is answered with a [*SpecError].
func Parse(spec string) (Kernel, error) { return parseKernel(spec, nil) }

// ParseIn is [Parse] with another default for the embedding, of whatever parts the kernel is made.
func ParseIn(spec string, e sparse.Embedding) (Kernel, error) { return parseKernel(spec, &e) }

func parseKernel(spec string, e *sparse.Embedding) (Kernel, error) {
	p := parser{spec: spec}
	c, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.spec) {
		return nil, p.fail(p.pos, p.rest(), p.follow(c))
	}
	return p.kernel(c, e)
}

// MustParse is [Parse] for specifications that are part of a program: it panics where Parse returns an error.
func MustParse(spec string) Kernel {
	k, err := Parse(spec)
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

// call is a kernel as written: its name, its keys, and what it is made of.
type call struct {
	name     string
	pos, end int
	family   *family // what the name means
	values   []assignment
	parts    []*call
	numbers  []assignment // what stands among the parts without a key
	weights  []float64    // of the parts of a sum
	within   int          // how many of values are within the parentheses
	enclosed bool         // in parentheses
}

// assignment is key=value as written.
type assignment struct {
	key, value       string
	keyPos, valuePos int
}

// Bounds on what a specification may ask for.
const (
	mostDepth  = 16  // parentheses within each other
	mostParts  = 64  // of a kernel
	mostLayers = 32  // of a composition
	mostLeaves = 512 // kernels in all, layers that are repeated counted as often: each is computed
)

// parser reads a specification by recursive descent; every method begins where pos stands and leaves pos behind what it read.
//
//	sum        = term { "+" term }
//	term       = [ number "*" ] ( "(" sum ")" [ keys ] | call )
//	call       = word [ "(" argument { "," argument } ")" ] [ keys ]
//	argument   = assignment | number | sum
//	keys       = ":" assignment { "," assignment }
//	assignment = word "=" value
//
// Within parentheses a comma goes on with the keys where a word and "=" follow, otherwise with the arguments.
type parser struct {
	spec  string
	pos   int
	depth int
}

// sum reads terms; one of weight 1 is no sum.
func (p *parser) sum() (*call, error) {
	s := &call{name: "sum", family: familyOf("sum")}
	p.space()
	s.pos = p.pos
	for {
		weight, err := p.weight()
		if err != nil {
			return nil, err
		}
		term, err := p.term()
		if err != nil {
			return nil, err
		}
		s.parts, s.weights = append(s.parts, term), append(s.weights, weight)
		if !p.accept('+') {
			break
		}
		if len(s.parts) == mostParts {
			return nil, p.fail(p.pos-1, p.spec[p.pos-1:], fmt.Sprintf("at most %d terms", mostParts))
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
	if q := weightParam(); !ok || !q.allows(v) || math.Abs(v) < tiny {
		return 0, p.fail(at, text, q.Allowed)
	}
	if !p.accept('*') {
		return 0, p.fail(p.pos, p.rest(), "* and the kernel that it multiplies")
	}
	return v, nil
}

func (p *parser) numberAhead() bool {
	return p.pos < len(p.spec) && strings.IndexByte("-.0123456789", p.spec[p.pos]) >= 0
}

func (p *parser) term() (*call, error) {
	p.space()
	at := p.pos
	if !p.accept('(') {
		return p.call()
	}
	var c *call
	err := p.nest(at, func() (err error) {
		if c, err = p.sum(); err == nil && !p.accept(')') {
			err = p.fail(p.pos, p.rest(), "a closing parenthesis")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.enclosed = true
	if !p.accept(':') {
		return c, nil
	}
	s := &call{name: "sum", family: familyOf("sum"), pos: at, parts: []*call{c}, weights: []float64{1}}
	err = p.keys(s)
	s.end = p.pos
	return s, err
}

// nest runs what is within the parenthesis at a place.
func (p *parser) nest(at int, within func() error) error {
	if p.depth == mostDepth {
		return p.fail(at, "another parenthesis", fmt.Sprintf("at most %d within each other", mostDepth))
	}
	p.depth++
	defer func() { p.depth-- }()
	return within()
}

func (p *parser) call() (*call, error) {
	p.space()
	c := &call{pos: p.pos}
	c.name = p.take(isWord)
	if c.name == "" {
		return c, p.fail(c.pos, p.rest(), "the name of a kernel: one of "+strings.Join(Names(), ", "))
	}
	c.family = familyOf(c.name)
	if c.family == nil {
		return c, p.fail(c.pos, fmt.Sprintf("the unknown kernel %q", c.name), "one of "+strings.Join(Names(), ", ")+hint(c.name, Names()))
	}
	if at := p.pos; c.family.combine != nil {
		if !p.accept('(') {
			return c, p.fail(p.pos, p.rest(), "parentheses with "+c.family.Parts)
		}
		if err := p.nest(at, func() error { return p.arguments(c) }); err != nil {
			return c, err
		}
	}
	var err error
	if p.accept(':') {
		err = p.keys(c)
	}
	c.end = p.pos
	return c, err
}

// arguments reads what is between the parentheses of a kernel made of others.
func (p *parser) arguments(c *call) error {
	for {
		p.space()
		at := p.pos
		switch {
		case p.keyAhead():
			a, err := p.assignment(c)
			if err != nil {
				return err
			}
			c.values = append(c.values, a)
		case p.numberAhead():
			text := p.take(isValue)
			if p.accept('*') {
				p.pos = at
				if err := p.argument(c); err != nil {
					return err
				}
			} else {
				c.numbers = append(c.numbers, assignment{value: text, keyPos: at, valuePos: at})
			}
		default:
			if err := p.argument(c); err != nil {
				return err
			}
		}
		if p.accept(')') {
			break
		}
		if !p.accept(',') {
			return p.fail(p.pos, p.rest(), "a comma and another part of "+c.name+", or a closing parenthesis")
		}
	}
	if len(c.parts) > 0 {
		c.claim(c.parts[len(c.parts)-1])
	}
	c.within = len(c.values)
	return nil
}

func (p *parser) argument(c *call) error {
	if len(c.parts) == mostParts {
		return p.fail(p.pos, p.rest(), fmt.Sprintf("at most %d parts", mostParts))
	}
	part, err := p.sum()
	c.parts = append(c.parts, part)
	return err
}

// claim takes over the last keys of the last part that c knows: they stand before its closing parenthesis.
func (c *call) claim(last *call) {
	for last.name == "sum" && !last.enclosed && len(last.values) == 0 {
		last = last.parts[len(last.parts)-1]
	}
	if last.enclosed {
		return
	}
	for n := len(last.values); n > last.within && c.family.param(last.values[n-1].key) >= 0; n-- {
		c.values = append(c.values, last.values[n-1])
		last.values = last.values[:n-1]
	}
}

// keys reads assignments behind the colon that was read.
func (p *parser) keys(c *call) error {
	for {
		a, err := p.assignment(c)
		if err != nil {
			return err
		}
		c.values = append(c.values, a)
		at := p.pos
		if !p.accept(',') {
			return nil
		}
		if p.depth > 0 && !p.keyAhead() { // the comma is that of the arguments
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

func (p *parser) assignment(c *call) (assignment, error) {
	p.space()
	a := assignment{keyPos: p.pos}
	a.key = p.take(isWord)
	if a.key == "" {
		return a, p.fail(p.pos, p.rest(), c.keys())
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
func (c *call) keys() string {
	return "one of the keys of " + c.name + ": " + strings.Join(c.family.keys(), ", ")
}

func (p *parser) follow(c *call) string {
	if c.name == "sum" && !c.enclosed {
		c = c.parts[len(c.parts)-1]
	}
	if len(c.values) > 0 {
		return "a comma and another key, a plus and another kernel, or the end"
	}
	return "a colon and " + c.keys() + ", a plus and another kernel, or the end"
}
