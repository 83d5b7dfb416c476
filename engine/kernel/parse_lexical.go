package kernel

import (
	"math"
	"strconv"
	"strings"
)

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

// formatNumber writes a number as [parseNumber] reads it, in the shortest way that gives it back.
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
