package token

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// What the default costs on text of several scripts, line by line.
func BenchmarkScanner(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"english", "It was the best of times, it was the worst of times; it was the age of Wisdom (or of foolishness). "},
		{"french", "C'était le meilleur des temps, c'était le pire des temps; l'âge de la sagesse, celui de la Folie. "},
		{"russian", "Это было лучшее изо всех времен, это было худшее изо всех времен; это был век мудрости. "},
		{"chinese", "那是最美好的时代，那是最糟糕的时代；那是个睿智的年月，那是个蒙昧的年月。"},
	} {
		b.Run(c.name, func(b *testing.B) {
			tokenizer := musttest.Get(Parse("word:pairs"))(b)
			s := musttest.Get(tokenizer.NewScanner())(b)
			line := []byte(strings.Repeat(c.text, 10) + "\n")
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				s.Feed(line)
				for s.Next() != nil {
				}
				s.End()
			}
		})
	}
}
