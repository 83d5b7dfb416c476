package doors

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/sparse/token"
)

func tokenCases() map[string]testCase {
	return map[string]testCase{
		"token.Tokenizer.Canonical":  {run: tokenizers},
		"token.Tokenizer.NewScanner": {run: tokenizers},
		"token.Tokenizer.String":     {run: tokenizers},
		"token.Tokenizer.Validate":   {run: tokenizers},
		"token.Scanner.End":          {run: scanners},
		"token.Scanner.Feed":         {run: scanners},
		"token.Scanner.Next":         {run: scanners},
	}
}

// oddTokenizer draws a tokenizer that doesn't exist.
func (p *program) oddTokenizer() token.Tokenizer {
	t := token.Tokenizer{}
	switch p.IntN(5) {
	case 0:
		t.Analyzer = "words"
	case 1:
		t.MinN = pick(p, -1, math.MinInt, math.MaxInt, 101)
	case 2:
		t.MinN, t.MaxN = 3, pick(p, 2, -1, math.MaxInt)
	case 3:
		t.Pattern = pick(p, "(", "(a)(b)", "[", "\\")
	case 4:
		t.Normalize = pick(p, "nfc", "NFX", "\xff")
	}
	return t
}

func tokenizers(p *program) {
	t := p.oddTokenizer()
	p.bad(fmt.Sprintf("%+v", t), t.Validate)
	p.bad(fmt.Sprintf("a scanner of %+v", t), func() error { _, err := t.NewScanner(); return err })
	p.quiet(fmt.Sprintf("String of %+v", t), func() { _ = t.Canonical().String() })
	p.good("the zero value", token.Tokenizer{}.Validate)
}

func scanners(p *program) {
	t := pick(p, token.Tokenizer{}, token.Tokenizer{MinN: 2, MaxN: 3}, token.Tokenizer{Analyzer: token.Char, MinN: 3},
		token.Tokenizer{Analyzer: token.CharWB, MinN: 5}, token.Tokenizer{Pattern: "x*|(y)"},
		token.Tokenizer{Pairs: true}, token.Tokenizer{Pairs: true, MinN: 2, MaxN: 3, StopWords: "手机"},
		token.Tokenizer{Normalize: "NFKD", StripAccents: true, StopWords: "a \xff b", Digits: true, KeepCase: true})
	text := make([]byte, p.IntN(200))
	for i := range text {
		text[i] = pick(p, byte('a'), 'Z', ' ', '\n', 0, 0xff, 0xc3, 0xa9, byte(p.IntN(256)))
	}
	p.good(fmt.Sprintf("%v of %q", t, text), func() error {
		s, err := t.NewScanner()
		if err != nil {
			return err
		}
		for range 2 {
			s.Next()
			s.Feed(text)
			for term := s.Next(); term != nil; term = s.Next() {
				if len(term) == 0 {
					p.fails("an empty term")
				}
			}
			s.Feed(text)
			s.Next()
			s.End()
			s.End()
			if s.Next() != nil {
				p.fails("a term behind the end")
			}
		}
		return nil
	})
	p.quiet("the zero value", func() {
		var s token.Scanner
		s.Next()
		s.Feed(nil)
		s.Next()
		s.Feed(text)
		s.Next()
		s.End()
	})
}
