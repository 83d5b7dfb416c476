package token

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// fastPath is the state of [Scanner.fastWord], which applies the default tokenizer's rules.
type fastPath struct {
	nextBlock int    // start of the next block of 64 bytes
	runBits   uint64 // bit set of the bytes in the previous block that are in unread runs
}

// fastWord returns the next word of the text by the default rules. It returns nil at the end of the
// text, and after it has prepared a run with non-ASCII bytes as a line. It searches for runs of
// ASCII letters and non-ASCII bytes, because each word is within a run.
func (s *Scanner) fastWord() []byte {
	text, p := s.text, &s.fastPath
	for p.runBits == 0 {
		if p.nextBlock >= len(text) {
			s.text = nil
			return nil
		}
		p.runBits = letterBits(text[p.nextBlock:])
		p.nextBlock += 64
		s.letterCounts[spacedScript] += int64(bits.OnesCount64(p.runBits))
	}
	begin := bits.TrailingZeros64(p.runBits)
	start := p.nextBlock - 64 + begin
	end := begin + bits.TrailingZeros64(^(p.runBits >> begin))
	for end == 64 && p.nextBlock < len(text) { // the run continues in the next block
		p.runBits = letterBits(text[p.nextBlock:])
		p.nextBlock += 64
		s.letterCounts[spacedScript] += int64(bits.OnesCount64(p.runBits))
		end = bits.TrailingZeros64(^p.runBits)
	}
	p.runBits = p.runBits >> end << end
	word := text[start : p.nextBlock-64+end]

	const small = 0x20 * lowBits // the bit that distinguishes lower-case letters, for each byte
	if n := len(word); n <= 8 && cap(word) >= 8 {
		x := binary.LittleEndian.Uint64(word[:8])
		own := uint64(1)<<(8*n) - 1
		switch {
		case x&highBits&own != 0:
			return s.beginRun(word)
		case ^x&small&own != 0:
			s.buf = binary.LittleEndian.AppendUint64(s.buf[:0], x|small)[:n]
			return s.buf
		}
		return word
	}
	all, some := byte(0xff), byte(0) // AND and OR of the bytes
	for _, b := range word {
		all &= b
		some |= b
	}
	if some >= utf8.RuneSelf {
		return s.beginRun(word)
	}
	if all&0x20 == 0 {
		s.buf = append(s.buf[:0], word...)
		for i := range s.buf {
			s.buf[i] |= 0x20
		}
		return s.buf
	}
	return word
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x80 * lowBits
)

// letterBits returns a bit for each of the first 64 bytes of the text: 1 if it is an ASCII letter
// or not ASCII.
func letterBits(text []byte) (set uint64) {
	var last [64]byte
	if len(text) < 64 {
		copy(last[:], text)
		text = last[:]
	}
	text = text[:64]
	for i := 0; i < 64; i += 8 {
		x := binary.LittleEndian.Uint64(text[i : i+8])
		lower := (x | 0x20*lowBits) &^ highBits // no sum below carries into the next byte
		letters := (lower + (0x80-'a')*lowBits) &^ (lower + (0x7f-'z')*lowBits)
		// The product collects the high bits in the highest byte.
		set |= (letters | x) & highBits >> 7 * 0x0102040810204080 >> 56 << i
	}
	return set
}

// beginRun prepares a run with non-ASCII bytes as a line, and subtracts its bytes from the letter
// counts. It returns nil.
func (s *Scanner) beginRun(run []byte) []byte {
	s.letterCounts[spacedScript] -= int64(len(run))
	s.line, s.at, s.unspaced = s.prepare(run), 0, characterFinder{}
	return nil
}

// alphabets holds lower-case forms and letters of the Latin, Greek, Cyrillic and Armenian blocks,
// because a lookup is faster than the functions of package unicode.
var alphabets = func() (table [0x590]struct {
	lower  rune
	letter bool
}) {
	for r := range table {
		table[r].lower, table[r].letter = unicode.ToLower(rune(r)), unicode.IsLetter(rune(r))
	}
	return table
}()

// lowerLetter returns a character in lower case, and reports whether it is a letter.
func lowerLetter(r rune) (lower rune, letter bool) {
	switch {
	case int(r) < len(alphabets):
		return alphabets[r].lower, alphabets[r].letter
	case 0x4e00 <= r && r <= 0x9fff: // Han
		return r, true
	}
	return unicode.ToLower(r), unicode.IsLetter(r)
}

// nextWord returns the next word of the prepared line: letters, and digits if Digits is set, with
// the combining marks that follow. The word may also be a character of a script without spaces;
// joined then reports whether the previous character is adjacent. It returns nil at the end of the
// line.
func (s *Scanner) nextWord() (word []byte, joined bool) {
	start := -1
	for i := s.at; i < len(s.line); {
		r, size := utf8.DecodeRune(s.line[i:])
		_, letter := lowerLetter(r)
		apart := letter && s.tokenizer.Pairs && s.unspaced.startsCharacter(s.line, i, r)
		in := !apart && (letter || s.tokenizer.Digits && unicode.IsNumber(r) || start >= 0 && unicode.IsMark(r))
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			s.at = i
			return s.line[start:i:i], false
		case apart:
			w := s.unspaced.next(s.line, i, &s.letterCounts)
			s.at = i + len(w)
			return w, s.unspaced.prevSize > 0
		}
		if letter {
			s.letterCounts[spacedScript]++
		}
		i += size
	}
	line := s.line
	if s.line = nil; start < 0 {
		return nil, false
	}
	return line[start:], false
}
