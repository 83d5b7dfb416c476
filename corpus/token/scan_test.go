package token_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

// A scanner accepts any text in any pieces. It returns no empty terms, and none after the end.
func TestScanAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, tokenizer := range []token.Tokenizer{
		{}, {MinN: 2, MaxN: 3}, {Analyzer: token.AnalyzerChar, MinN: 3}, {Analyzer: token.AnalyzerCharWB, MinN: 5},
		{Pattern: "x*|(y)"},
		{Pairs: true}, {Pairs: true, MinN: 2, MaxN: 3, StopWords: "手机"},
		{Normalize: "NFKD", StripAccents: true, StopWords: "a \xff b", Digits: true, KeepCase: true},
	} {
		for range 50 {
			s := musttest.Get(tokenizer.NewScanner())(t)
			text := make([]byte, r.IntN(200))
			for i := range text {
				text[i] = []byte{'a', 'Z', ' ', '\n', 0, 0xff, 0xc3, 0xa9, byte(r.IntN(256))}[r.IntN(9)]
			}
			for range 2 {
				s.Next()
				s.Feed(text)
				for term := s.Next(); term != nil; term = s.Next() {
					if len(term) == 0 {
						t.Fatalf("%v of %q: an empty term", tokenizer, text)
					}
				}
				s.Feed(text)
				s.Next()
				s.End()
				s.End()
				if s.Next() != nil {
					t.Fatalf("%v of %q: a term behind the end", tokenizer, text)
				}
			}
		}
	}
}
