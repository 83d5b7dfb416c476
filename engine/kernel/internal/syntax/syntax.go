// Package syntax reads specifications: a grammar of calls, keys and weighted sums, and the tree
// that they make. It knows no kernels: a [Vocabulary] says which names there are, and which keys
// these take.
package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
)

// Error says where a kernel specification is wrong and what is allowed there.
type Error struct {
	Spec     string // the specification
	Column   int    // where it is wrong, in bytes from 1
	Found    string // what is there
	Expected string // what is allowed there
}

func (e *Error) Error() string {
	return fmt.Sprintf("engine: kernel %q, column %d: found %s, expected %s", e.Spec, e.Column, e.Found, e.Expected)
}

// Vocabulary says what names mean.
type Vocabulary struct {
	Names   []string                // all names, for messages
	Word    func(name string) *Word // nil for a name that there isn't
	Weight  func(v float64) bool    // whether v may be the weight of a term
	Weights string                  // what weights may be, for messages
}

// Word is what the grammar must know of a name.
type Word struct {
	Parts string   // what stands in parentheses after it; empty for a name without
	Keys  []string // for messages
	Takes func(key string) bool
}

// Call is a kernel as written: its name, its keys, and what it is made of. A sum has the name
// "sum".
type Call struct {
	*Word
	Name     string
	Pos, End int
	Values   []Assignment
	Parts    []*Call
	Numbers  []Assignment // what stands among the parts without a key
	Weights  []float64    // of the parts of a sum

	within   int  // how many of Values are within the parentheses
	enclosed bool // in parentheses
}

// Assignment is key=value as written.
type Assignment struct {
	Key, Value       string
	KeyPos, ValuePos int
}

// Parse reads a specification.
func Parse(spec string, v *Vocabulary) (*Call, error) {
	p := parser{Vocabulary: v, spec: spec}
	c, err := p.sum()
	return p.ended(c, err, p.follow)
}

// ParseCall reads a specification that is one call, no sum.
func ParseCall(spec string, v *Vocabulary) (*Call, error) {
	p := parser{Vocabulary: v, spec: spec}
	c, err := p.call()
	return p.ended(c, err, func(c *Call) string { return "a colon or a comma and " + c.KeyList() + ", or the end" })
}

// ended returns the call where nothing is after it.
func (p *parser) ended(c *Call, err error, follow func(c *Call) string) (*Call, error) {
	if p.space(); err == nil && p.pos < len(p.spec) {
		err = p.fail(p.pos, p.rest(), follow(c))
	}
	return c, err
}

// FirstWord returns the word that a specification begins with.
func FirstWord(spec string) string {
	p := parser{spec: spec}
	p.space()
	return p.take(isWord)
}

// Fail is the error that something was found at a place of a specification, in bytes from 0.
func Fail(spec string, pos int, found, expected string) error {
	return &Error{Spec: spec, Column: pos + 1, Found: found, Expected: expected}
}

// Bounds on what a specification may ask for.
const (
	mostDepth = 16 // parentheses within each other
	mostParts = 64 // of a kernel
)

// parser reads a specification by recursive descent; every method begins where pos stands and
// leaves pos after what it read.
//
//	sum        = term { "+" term }
//	term       = [ number "*" ] ( "(" sum ")" [ keys ] | call )
//	call       = word [ "(" argument { "," argument } ")" ] [ keys ]
//	argument   = assignment | number | sum
//	keys       = ":" assignment { "," assignment }
//	assignment = word "=" value
//
// Within parentheses a comma goes on with the keys where a word and "=" follow, otherwise with the
// arguments.
type parser struct {
	*Vocabulary
	spec  string
	pos   int
	depth int
}

// sum reads terms; one of weight 1 is no sum.
func (p *parser) sum() (*Call, error) {
	s := &Call{Word: p.Word("sum"), Name: "sum"}
	p.space()
	s.Pos = p.pos
	for {
		weight, err := p.weight()
		if err != nil {
			return nil, err
		}
		term, err := p.term()
		if err != nil {
			return nil, err
		}
		s.Parts, s.Weights = append(s.Parts, term), append(s.Weights, weight)
		if !p.accept('+') {
			break
		}
		if len(s.Parts) == mostParts {
			return nil, p.fail(p.pos-1, p.spec[p.pos-1:], fmt.Sprintf("at most %d terms", mostParts))
		}
	}
	s.End = p.pos
	if len(s.Parts) == 1 && s.Weights[0] == 1 {
		return s.Parts[0], nil
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
	v, ok := ParseNumber(text)
	if !ok || !p.Weight(v) {
		return 0, p.fail(at, text, p.Weights)
	}
	if !p.accept('*') {
		return 0, p.fail(p.pos, p.rest(), "* and the kernel that it multiplies")
	}
	return v, nil
}

func (p *parser) numberAhead() bool {
	return p.pos < len(p.spec) && strings.IndexByte("-.0123456789", p.spec[p.pos]) >= 0
}

func (p *parser) term() (*Call, error) {
	p.space()
	at := p.pos
	if !p.accept('(') {
		return p.call()
	}
	var c *Call
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
	s := &Call{Word: p.Word("sum"), Name: "sum", Pos: at, Parts: []*Call{c}, Weights: []float64{1}}
	err = p.keys(s)
	s.End = p.pos
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

func (p *parser) call() (*Call, error) {
	p.space()
	c := &Call{Pos: p.pos}
	c.Name = p.take(isWord)
	if c.Name == "" {
		return c, p.fail(c.Pos, p.rest(), "the name of a kernel: one of "+strings.Join(p.Names, ", "))
	}
	if c.Word = p.Word(c.Name); c.Word == nil {
		return c, p.fail(c.Pos, fmt.Sprintf("the unknown kernel %q", c.Name),
			"one of "+strings.Join(p.Names, ", ")+Hint(c.Name, p.Names))
	}
	if at := p.pos; c.Word.Parts != "" {
		if !p.accept('(') {
			return c, p.fail(p.pos, p.rest(), "parentheses with "+c.Word.Parts)
		}
		if err := p.nest(at, func() error { return p.arguments(c) }); err != nil {
			return c, err
		}
	}
	var err error
	if p.accept(':') {
		err = p.keys(c)
	}
	c.End = p.pos
	return c, err
}

// arguments reads what is between the parentheses of a kernel made of others.
func (p *parser) arguments(c *Call) error {
	for {
		p.space()
		at := p.pos
		switch {
		case p.keyAhead():
			a, err := p.assignment(c)
			if err != nil {
				return err
			}
			c.Values = append(c.Values, a)
		case p.numberAhead():
			text := p.take(isValue)
			if p.accept('*') {
				p.pos = at
				if err := p.argument(c); err != nil {
					return err
				}
			} else {
				c.Numbers = append(c.Numbers, Assignment{Value: text, KeyPos: at, ValuePos: at})
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
			return p.fail(p.pos, p.rest(), "a comma and another part of "+c.Name+", or a closing parenthesis")
		}
	}
	if len(c.Parts) > 0 {
		c.claim(c.Parts[len(c.Parts)-1])
	}
	c.within = len(c.Values)
	return nil
}

func (p *parser) argument(c *Call) error {
	if len(c.Parts) == mostParts {
		return p.fail(p.pos, p.rest(), fmt.Sprintf("at most %d parts", mostParts))
	}
	part, err := p.sum()
	c.Parts = append(c.Parts, part)
	return err
}

// claim takes over the last keys of the last part that c knows: they stand before its closing
// parenthesis.
func (c *Call) claim(last *Call) {
	for last.Name == "sum" && !last.enclosed && len(last.Values) == 0 {
		last = last.Parts[len(last.Parts)-1]
	}
	if last.enclosed {
		return
	}
	for n := len(last.Values); n > last.within && c.Takes(last.Values[n-1].Key); n-- {
		c.Values = append(c.Values, last.Values[n-1])
		last.Values = last.Values[:n-1]
	}
}

// keys reads assignments after the colon that was read.
func (p *parser) keys(c *Call) error {
	for {
		a, err := p.assignment(c)
		if err != nil {
			return err
		}
		c.Values = append(c.Values, a)
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

func (p *parser) assignment(c *Call) (Assignment, error) {
	p.space()
	a := Assignment{KeyPos: p.pos}
	a.Key = p.take(isWord)
	if a.Key == "" {
		return a, p.fail(p.pos, p.rest(), c.KeyList())
	}
	if !p.accept('=') {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("= and a value after %q", a.Key))
	}
	p.space()
	a.ValuePos = p.pos
	a.Value = p.take(isValue)
	if a.Value == "" {
		return a, p.fail(p.pos, p.rest(), fmt.Sprintf("a value for %q", a.Key))
	}
	return a, nil
}

// KeyList says which keys the kernel c takes.
func (c *Call) KeyList() string {
	return "one of the keys of " + c.Name + ": " + strings.Join(c.Keys, ", ")
}

// follow says what may follow c as it stands.
func (p *parser) follow(c *Call) string {
	if c.Weights != nil && !c.enclosed && len(c.Values) == 0 { // written with plus signs
		c = c.Parts[len(c.Parts)-1]
	}
	if len(c.Values) > 0 {
		return "a comma and another key, a plus and another kernel, or the end"
	}
	return "a colon and " + c.KeyList() + ", a plus and another kernel, or the end"
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
	return Fail(p.spec, pos, found, expected)
}

// ParseNumber reads a finite decimal number or pi. What else strconv reads (inf, nan, hexadecimal,
// underscores) is refused.
func ParseNumber(s string) (float64, bool) {
	if s == "pi" {
		return math.Pi, true
	}
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v + 0, err == nil // + 0 turns -0 into 0
}

// FormatNumber writes a number as [ParseNumber] reads it, in the shortest way that gives it back.
func FormatNumber(v float64) string {
	if v == math.Pi {
		return "pi"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if digits := strconv.FormatFloat(v, 'f', -1, 64); len(digits) < len(text) {
		return digits // such as 2147483647, which %g writes as 2.147483647e+09
	}
	return text
}

// Hint asks for the candidate that is one or two slips away from the word written, or says nothing.
func Hint(word string, candidates []string) string {
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
