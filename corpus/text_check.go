package corpus

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// textCheck detects bytes that aren't text: invalid UTF-8, NUL (from binary files and UTF-16) and,
// in decoded text, U+FFFD, which replaces bytes that can't be decoded.
type textCheck struct {
	strict  bool // true if invalid bytes are an error; otherwise, invalid bytes separate terms and are counted
	decoded bool
}

func newTextCheck(in *input, opt *Options) textCheck { return textCheck{opt.Strict, in.decoded} }

const replacement = "\uFFFD"

func (c textCheck) isClean(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 && !(c.decoded && bytes.Contains(data, []byte(replacement)))
}

// eachInvalid calls found with the index of each byte or character that isn't text, until found
// returns false.
func (c textCheck) eachInvalid(text []byte, found func(at int) bool) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if (r == 0 || r == utf8.RuneError && (size == 1 || c.decoded)) && !found(i) {
			return
		}
		i += size
	}
}

func (c textCheck) countInvalid(text []byte) (n int64) {
	c.eachInvalid(text, func(int) bool { n++; return true })
	return n
}

// errorFor returns an error if the check is strict and a line isn't text.
func (c textCheck) errorFor(l []byte) (bad *SyntaxError) {
	if !c.strict {
		return nil
	}
	c.eachInvalid(l, func(at int) bool {
		switch {
		case l[at] == 0:
			bad = newSyntaxError(fmt.Sprintf("a NUL byte at position %d of the line", at+1), "UTF-8 text")
		case c.decoded:
			found := fmt.Sprintf("a character that is invalid in the encoding at UTF-8 position %d of the line", at+1)
			bad = newSyntaxError(found, "text")
		default:
			found := fmt.Sprintf("the invalid byte %#02x at position %d of the line", l[at], at+1)
			bad = newSyntaxError(found, "UTF-8 text")
		}
		bad.withOption("Encoding", "sets another encoding, such as windows-1252")
		return false
	})
	return bad
}

// checkLine counts the invalid bytes of a line in p, and returns the error of a strict check. If
// clean is set, all lines are text.
func (c textCheck) checkLine(p *parsedTexts, clean bool, l []byte, line int32) *SyntaxError {
	if clean {
		return nil
	}
	p.badBytes.add(c.countInvalid(l), line)
	return c.errorFor(l)
}
