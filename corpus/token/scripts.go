package token

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// script is a script without spaces between words, or Hangul, which may have spaces.
type script uint8

const (
	spacedScript script = iota // any script with spaces
	han
	kana
	hangul
	thai
	lao
	khmer
	myanmar
	tibetan
	scriptCount
)

var languages = [scriptCount]string{
	han: "Chinese", kana: "Japanese", hangul: "Korean", thai: "Thai", lao: "Lao", khmer: "Khmer", myanmar: "Burmese",
	tibetan: "Tibetan",
}

// firstUnspaced is a lower bound on the code points of letters whose script isn't spaced.
const firstUnspaced = 0x0e00

// scriptOf returns the script of a letter from its Unicode block. Signs that are also used in other
// scripts, such as 々 and ー, are Han or Kana.
func scriptOf(r rune) script {
	switch {
	case r < firstUnspaced:
		return spacedScript
	case 0x3400 <= r && r <= 0x9fff, 0x20000 <= r && r <= 0x3ffff, 0xf900 <= r && r <= 0xfaff,
		r == 0x3005, r == 0x3006, r == 0x303b, r == 0x16fe3:
		return han
	case 0x3031 <= r && r <= 0x3035, 0x3041 <= r && r <= 0x30ff, 0x31f0 <= r && r <= 0x31ff, 0xff66 <= r && r <= 0xff9f,
		0x1aff0 <= r && r <= 0x1b16f:
		return kana
	case 0xac00 <= r && r <= 0xd7ff, 0x1100 <= r && r <= 0x11ff, 0x3131 <= r && r <= 0x318e, 0xa960 <= r && r <= 0xa97f,
		0xffa0 <= r && r <= 0xffdc:
		return hangul
	case r <= 0x0e7f:
		return thai
	case r <= 0x0eff:
		return lao
	case r <= 0x0fff:
		return tibetan
	case r <= 0x109f, 0xa9e0 <= r && r <= 0xa9ff, 0xaa60 <= r && r <= 0xaa7f:
		return myanmar
	case 0x1780 <= r && r <= 0x17ff:
		return khmer
	}
	return spacedScript
}

// extendsCharacter reports whether r extends the character before it: a combining mark, a vowel or
// final consonant of a decomposed Hangul syllable, or a half-width voicing mark of Kana.
func extendsCharacter(r rune) bool {
	return unicode.IsMark(r) || 0x1160 <= r && r <= 0x11ff || 0xd7b0 <= r && r <= 0xd7ff || r == 0xff9e || r == 0xff9f
}

// spacedHangul is the maximum number of syllables of a Korean word with spaces around it. A longer
// run is treated as text without spaces. "국제올림픽위원회에서" has ten syllables.
const spacedHangul = 12

// characterFinder finds characters in a text that belong to scripts without spaces between words.
// The zero value is at the start of a text.
type characterFinder struct {
	script    script // script of the last character
	size      int    // length of the last character
	end       int    // end of the last character in the text
	prevSize  int    // length of the character directly before the last character; 0 for none
	spacedEnd int    // Hangul before this index is in words with spaces around them
}

// startsCharacter reports whether the letter r at text[i] starts a character of a script without
// spaces.
func (c *characterFinder) startsCharacter(text []byte, i int, r rune) bool {
	switch scriptOf(r) {
	case spacedScript:
		return false
	case hangul:
		if i < c.spacedEnd {
			return false
		}
		if c.script == hangul && c.size > 0 && c.end == i {
			return true
		}
		syllables, end := 0, i
		for end < len(text) && syllables <= spacedHangul {
			r, size := utf8.DecodeRune(text[end:])
			switch {
			case extendsCharacter(r) && end > i:
			case unicode.IsLetter(r) && scriptOf(r) == hangul:
				syllables++
			default:
				c.spacedEnd = end
				return false
			}
			end += size
		}
		if syllables <= spacedHangul {
			c.spacedEnd = end
			return false
		}
	}
	return true
}

// next returns the character at the start of text[i:], and counts it in counts by script.
func (c *characterFinder) next(text []byte, i int, counts *[scriptCount]int64) []byte {
	r, end := utf8.DecodeRune(text[i:])
	own := scriptOf(r)
	for end += i; end < len(text); {
		r, size := utf8.DecodeRune(text[end:])
		if !extendsCharacter(r) {
			break
		}
		end += size
	}
	c.prevSize = 0
	if c.end == i {
		c.prevSize = c.size
	}
	c.script, c.size, c.end = own, end-i, end
	counts[own]++
	return text[i:end:end]
}

// Script describes the letters of a text that belong to a script without spaces between words.
type Script struct {
	Name  string  `json:"name"`  // name of the language, such as Chinese
	Share float64 `json:"share"` // fraction of all letters
}

// CountScripts returns the scripts that [Tokenizer.Pairs] divided into characters, in descending
// order of frequency in the scanners' texts. Han and Kana are counted together as Japanese if at
// least a tenth of them are Kana.
func CountScripts(scanners ...*Scanner) []Script {
	var counts [scriptCount]int64
	for _, s := range scanners {
		s.addLetterCounts(&counts)
	}
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	if 9*counts[kana] >= counts[han] {
		counts[han], counts[kana] = 0, counts[han]+counts[kana]
	}
	var out []Script
	for i, n := range counts {
		if script(i) != spacedScript && n > 0 {
			out = append(out, Script{languages[i], float64(n) / float64(all)})
		}
	}
	slices.SortStableFunc(out, func(a, b Script) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// addLetterCounts adds the letters of all views to counts.
func (s *Scanner) addLetterCounts(counts *[scriptCount]int64) {
	for i, n := range s.letterCounts {
		counts[i] += n
	}
	if s.views != nil {
		for _, v := range s.views.scanners {
			v.addLetterCounts(counts)
		}
	}
}
