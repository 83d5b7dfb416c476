package token

import (
	"unicode"
	"unicode/utf8"
)

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

// plainWord returns the next word of the text by the default's rules, or nil at the end of the
// text.
func (s *Scanner) plainWord() []byte {
	text := s.text
	i := 0
	for {
		for i < len(text) && byteClass[text[i]] == otherByte {
			i++
		}
		if i == len(text) {
			s.text = nil
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
		s.text = text[i:]
		return text[start:i:i]
	}
	// The run goes on with capitals or beyond ASCII: copy it.
	buf := append(s.buf[:0], text[start:i]...)
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
	s.buf, s.text = buf, text[i:]
	return buf
}

// word returns the next word of the open line, which is prepared, or nil at its end: letters, and
// digits if they are asked for, with the combining marks that follow.
func (s *Scanner) word() []byte {
	start := -1
	for i := 0; i < len(s.line); {
		r, size := utf8.DecodeRune(s.line[i:])
		in := unicode.IsLetter(r) || s.tokenizer.Digits && unicode.IsNumber(r) || start >= 0 && unicode.IsMark(r)
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			w := s.line[start:i:i]
			s.line = s.line[i:]
			return w
		}
		i += size
	}
	line := s.line
	if s.line = nil; start < 0 {
		return nil
	}
	return line[start:]
}
