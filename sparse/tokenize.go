package sparse

import (
	"unicode"
	"unicode/utf8"
)

// tokenizer cuts text into terms: the longest runs of letters of any script (Unicode category L,
// with the combining marks, category M, that follow a letter), each letter in lower case.
// Everything else separates, bytes that are not UTF-8 included. Composed and decomposed forms of a
// letter stay distinct.
type tokenizer struct {
	text []byte
	buf  []byte // holds terms that differ from the text
}

// classes of ASCII bytes.
const (
	otherByte = iota
	lowerByte
	upperByte
	beyondASCII
)

var byteClass = func() (c [256]uint8) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z':
			c[b] = lowerByte
		case 'A' <= b && b <= 'Z':
			c[b] = upperByte
		case b >= utf8.RuneSelf:
			c[b] = beyondASCII
		}
	}
	return c
}()

// next returns the next term, which stays valid until the next call, or nil at the end of the text.
func (t *tokenizer) next() []byte {
	text := t.text
	i := 0
	for {
		for i < len(text) && byteClass[text[i]] == otherByte {
			i++
		}
		if i == len(text) {
			t.text = nil
			return nil
		}
		if byteClass[text[i]] != beyondASCII {
			break
		}
		r, size := utf8.DecodeRune(text[i:])
		if unicode.IsLetter(r) {
			break
		}
		i += size
	}
	start := i
	for i < len(text) && byteClass[text[i]] == lowerByte {
		i++
	}
	if i == len(text) || byteClass[text[i]] == otherByte {
		t.text = text[i:]
		return text[start:i:i]
	}
	// The run goes on with capitals or beyond ASCII: it is made anew.
	buf := append(t.buf[:0], text[start:i]...)
letters:
	for i < len(text) {
		switch b := text[i]; byteClass[b] {
		case lowerByte:
			buf = append(buf, b)
			i++
		case upperByte:
			buf = append(buf, b|0x20)
			i++
		case otherByte:
			break letters
		default:
			r, size := utf8.DecodeRune(text[i:])
			switch {
			case unicode.IsLetter(r):
				buf = utf8.AppendRune(buf, unicode.ToLower(r))
			case unicode.IsMark(r):
				buf = append(buf, text[i:i+size]...)
			default:
				break letters
			}
			i += size
		}
	}
	t.buf, t.text = buf, text[i:]
	return buf
}
