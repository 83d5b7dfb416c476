package token

import (
	"bytes"
	"regexp"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Scanner tokenises documents, one after another:
//
//	for each document {
//		s.Feed(text) // whole lines, any number of times
//		for term := s.Next(); term != nil; term = s.Next() { … }
//		s.End()
//	}
//
// Terms don't depend on how a document is divided into calls of Feed. A Scanner must be used by one
// goroutine.
type Scanner struct {
	text []byte
	buf  []byte // holds words that differ from the text

	views *viewScanners // nil for none

	isGeneral    bool // false for the default tokenizer, whose terms are mostly slices of the text
	fastPath     fastPath
	letterCounts [scriptCount]int64 // number of letters by script, see [CountScripts]

	// The general path prepares each line of text, divides it into words or characters, and forms
	// n-grams.
	tokenizer Tokenizer
	pattern   *regexp.Regexp
	stop      stopWords
	form      norm.Form
	line      []byte // rest of the prepared line; for words, the whole line, of which line[at:] is unread
	at        int
	prepared  []byte
	scratch   []byte
	matches   [][]int // remaining matches of the pattern in the line
	matched   []byte  // line in which the pattern is matched
	grams     grams
	chars     charState
	unspaced  characterFinder // finds characters of scripts without spaces in the line
}

// charState is the state of the character analyzers after the text so far.
type charState struct {
	afterSpace bool // true if the last character was white space
	inWord     bool // true within a word, for AnalyzerCharWB
	wordEnded  bool // true if a word has ended, so that its n-grams with the final space come next
}

// NewScanner returns a scanner. It fails if [Tokenizer.Validate] fails.
func (t Tokenizer) NewScanner() (*Scanner, error) {
	pattern, err := t.compile()
	if err != nil {
		return nil, err
	}
	t = t.Canonical()
	if t.Views != "" {
		views, err := t.SplitViews()
		if err != nil {
			return nil, err
		}
		s := &Scanner{}
		s.views, err = newViewScanners(views)
		return s, err
	}
	s := &Scanner{isGeneral: t != Tokenizer{Pairs: t.Pairs}, tokenizer: t, pattern: pattern}
	s.grams.minN, s.grams.maxN = t.ngramRange()
	if s.grams.pairs = t.Pairs && s.grams.maxN == 1; s.grams.pairs {
		s.grams.maxN = 2
	}
	s.grams.separate = t.Analyzer == AnalyzerWord
	s.form = norm.NFKD
	if t.Normalize != "" {
		s.form = normForms[t.Normalize]
	}
	if t.StopWords != "" {
		if s.stop, err = newStopWords(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Feed passes more whole lines of the open document to the scanner. Next must have returned nil.
// The text must not change until Next returns nil again.
func (s *Scanner) Feed(text []byte) {
	if s.views != nil {
		s.views.feed(text)
		return
	}
	s.text, s.fastPath = text, fastPath{}
}

// FeedRow passes a row, which is a complete document, to the scanner. fields are in the order of
// [Tokenizer.Columns]. It returns a [*ColumnError] if a number or vector is invalid.
func (s *Scanner) FeedRow(fields []string) error { return s.views.feedRow(fields) }

// RowTerms returns the distinct terms of numbers, categories and vectors in the last row. Next
// doesn't return these terms. The result is valid until the next FeedRow.
func (s *Scanner) RowTerms() []RowTerm {
	if s.views == nil {
		return nil
	}
	return s.views.rowTerms
}

// Numbers returns the numbers of the last row by column: NaN for missing numbers and other columns.
// The result is valid until the next FeedRow.
func (s *Scanner) Numbers() []float64 { return s.views.numbers }

// FeedNumbers passes numbers, which are a result of Numbers, to the scanner as a row. The row has
// only the RowTerms of numeric columns.
func (s *Scanner) FeedNumbers(numbers []float64) {
	v := s.views
	v.rowTerms = v.rowTerms[:0]
	for i := range v.views {
		if v.views[i].HasNumbers() {
			for k, at := range v.viewColumns[i] {
				v.addNumber(i, k, numbers[at])
			}
		}
	}
}

// End ends the open document; the next Feed starts another. Unread text is dropped.
func (s *Scanner) End() {
	if s.views != nil {
		s.views.end()
		return
	}
	s.text, s.line, s.matches, s.fastPath = nil, nil, nil, fastPath{}
	s.grams.reset()
	s.chars = charState{}
}

// Next returns the next term, or nil at the end of the text. The term is valid until the next call.
func (s *Scanner) Next() []byte {
	if s.views != nil {
		return s.views.next()
	}
	for {
		if !s.isGeneral && s.line == nil && s.grams.n == 0 {
			if w := s.fastWord(); w != nil || s.line == nil {
				return w
			}
		}
		if gram := s.grams.next(); gram != nil {
			if s.tokenizer.Pairs && s.stop.has(gram) { // a stop word of several characters
				continue
			}
			return gram
		}
		if s.grams.useWholeWord(s.tokenizer.Analyzer == AnalyzerCharWB && s.chars.wordEnded) {
			continue
		}
		if !s.addUnit() && s.isGeneral {
			if len(s.text) == 0 {
				return nil
			}
			s.nextLine()
		}
	}
}

// lineChunkBytes is the length above which a line is divided at white space, to bound memory.
const lineChunkBytes = 64 << 10

func (s *Scanner) nextLine() {
	end := bytes.IndexByte(s.text, '\n') + 1
	if end == 0 {
		end = len(s.text)
	}
	if end > lineChunkBytes {
		if white := bytes.IndexAny(s.text[lineChunkBytes:end], " \t"); white >= 0 {
			end = lineChunkBytes + white + 1
		}
	}
	s.line = s.prepare(s.text[:end])
	s.text = s.text[end:]
	s.at, s.unspaced = 0, characterFinder{}
	if s.pattern != nil {
		s.matched = bytes.TrimRight(s.line, "\r\n")
		s.matches = s.pattern.FindAllSubmatchIndex(s.matched, -1)
		s.line = nil
	}
}

// prepare changes text according to the tokenizer. NUL and invalid UTF-8 become U+FFFD.
func (s *Scanner) prepare(text []byte) []byte {
	out := s.prepared[:0]
	for i := 0; i < len(text); {
		b := text[i]
		switch {
		case b == 0:
			out = utf8.AppendRune(out, utf8.RuneError)
			i++
			continue
		case b < utf8.RuneSelf:
			if 'A' <= b && b <= 'Z' && !s.tokenizer.KeepCase {
				b |= 0x20
			}
			out = append(out, b)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !s.tokenizer.KeepCase {
			r, _ = lowerLetter(r)
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	s.prepared = out
	if s.tokenizer.Normalize != "" {
		s.scratch = s.form.Append(s.scratch[:0], out...)
		s.prepared, s.scratch = s.scratch, s.prepared
	}
	if s.tokenizer.StripAccents {
		s.scratch = norm.NFKD.Append(s.scratch[:0], s.prepared...)
		out = s.prepared[:0]
		for i := 0; i < len(s.scratch); {
			p := norm.NFKD.Properties(s.scratch[i:])
			size := max(p.Size(), 1)
			if p.CCC() == 0 {
				out = append(out, s.scratch[i:i+size]...)
			}
			i += size
		}
		s.prepared = out
	}
	return s.prepared
}

// addUnit adds the next word or character of the line to the n-grams. It returns false at the end
// of the line.
func (s *Scanner) addUnit() bool {
	if s.tokenizer.Analyzer != AnalyzerWord {
		return s.addChar()
	}
	for dropped := false; ; dropped = true {
		var w []byte
		var joined bool
		if s.pattern != nil {
			w = s.nextMatch()
		} else {
			w, joined = s.nextWord()
		}
		switch {
		case w == nil:
			return false
		case len(w) > 0 && !s.stop.has(w):
			s.grams.add(w, joined && !dropped)
			return true
		}
	}
}

// nextMatch returns the next match of the pattern, which may be empty, or nil if there is none.
func (s *Scanner) nextMatch() []byte {
	if len(s.matches) == 0 {
		return nil
	}
	m := s.matches[0]
	s.matches = s.matches[1:]
	if len(m) == 4 { // the pattern has a group
		m = m[2:]
	}
	if m[0] < 0 { // the group isn't part of the match
		return s.matched[:0]
	}
	return s.matched[m[0]:m[1]]
}

// addChar adds the next character of the line. For [AnalyzerCharWB], it adds a space before and
// after each word.
func (s *Scanner) addChar() bool {
	c := &s.chars
	if s.tokenizer.Analyzer == AnalyzerCharWB && c.wordEnded {
		s.grams.reset()
		c.wordEnded = false
	}
	for len(s.line) > 0 {
		r, size := utf8.DecodeRune(s.line)
		white := unicode.IsSpace(r)
		switch {
		case s.tokenizer.Analyzer == AnalyzerChar:
			unit := s.line[:size]
			s.line = s.line[size:]
			if white && c.afterSpace {
				continue
			}
			if c.afterSpace = white; white {
				unit = oneSpace
			}
			s.grams.add(unit, false)
			return true
		case white && c.inWord:
			s.line = s.line[size:]
			c.inWord, c.wordEnded = false, true
			s.grams.add(oneSpace, false)
			return true
		case white:
			s.line = s.line[size:]
		case !c.inWord:
			c.inWord = true
			s.grams.add(oneSpace, false)
			return true
		default:
			s.grams.add(s.line[:size], false)
			s.line = s.line[size:]
			return true
		}
	}
	// The end of a line ends its last word, with or without a line break.
	if s.tokenizer.Analyzer == AnalyzerCharWB && c.inWord {
		c.inWord, c.wordEnded = false, true
		s.grams.add(oneSpace, false)
		return true
	}
	return false
}

var oneSpace = []byte{' '}

// grams forms n-grams of the words or characters (units) of a document. All n-grams that end at the
// last unit must be read before the next unit is added.
type grams struct {
	minN, maxN int
	separate   bool // true if a space is inserted between units that aren't joined
	pairs      bool // true if n-grams are units and pairs of joined units, see Tokenizer.Pairs

	buf      []byte // text of the last units
	starts   []int  // start of each unit in buf
	n        int    // number of units of the next n-gram; 0 for none
	joined   bool   // true if the last two units are adjacent
	returned bool   // true if next has returned an n-gram since reset
}

func (g *grams) add(unit []byte, joined bool) {
	if len(g.starts) == g.maxN { // slide the window
		first := len(g.buf)
		if g.maxN > 1 {
			first = g.starts[1]
		}
		g.buf = append(g.buf[:0], g.buf[first:]...)
		copy(g.starts, g.starts[1:])
		g.starts = g.starts[:g.maxN-1]
		for i := range g.starts {
			g.starts[i] -= first
		}
	}
	if g.separate && len(g.starts) > 0 && !joined {
		g.buf = append(g.buf, ' ')
	}
	g.starts = append(g.starts, len(g.buf))
	g.buf = append(g.buf, unit...)
	g.n, g.joined = g.minN, joined
}

// next returns the next n-gram that ends at the last unit, or nil.
func (g *grams) next() []byte {
	if g.n == 0 || g.n > min(g.maxN, len(g.starts)) || g.pairs && g.n > 1 && !g.joined {
		g.n = 0
		return nil
	}
	gram := g.buf[g.starts[len(g.starts)-g.n]:]
	g.n++
	g.returned = true
	return gram
}

// useWholeWord reports whether the word has ended and is shorter than the shortest n-gram. The next
// n-gram is then the whole word.
func (g *grams) useWholeWord(ended bool) bool {
	if !ended || g.returned || len(g.starts) == 0 {
		return false
	}
	g.n, g.returned = len(g.starts), true
	return true
}

func (g *grams) reset() {
	g.buf, g.starts, g.n, g.returned = g.buf[:0], g.starts[:0], 0, false
}
