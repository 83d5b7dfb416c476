package learners

import (
	"strings"
	"unicode"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// warnLabels warns about rare labels that differ from a frequent label only by case, one letter or
// two swapped adjacent letters, such as "shiping" and "shipping".
func warnLabels(e *cli.Env, c *corpus.Corpus) {
	const (
		most  = 5  // maximum number of warnings
		times = 10 // minimum ratio of the two labels' document counts
		least = 4  // minimum length of the frequent label in letters
	)
	count := make([]int, len(c.Classes))
	for _, id := range c.Labels.IDs {
		count[id]++
	}
	warned := 0
	for i, rare := range c.Classes {
		for k, frequent := range c.Classes {
			if count[i] == 0 || count[k] < times*count[i] || len([]rune(frequent)) < least || !similarLabels(rare, frequent) {
				continue
			}
			if warned++; warned <= most {
				e.Warnf("label %q (%s) may be a misspelling of %q (%s)", rare, report.FormatDocuments(count[i]), frequent,
					report.FormatDocuments(count[k]))
			}
			break
		}
	}
}

// similarLabels reports whether a and b differ only by case, one letter or two swapped adjacent
// letters. Labels that differ in digits or punctuation are never similar.
func similarLabels(a, b string) bool {
	if strings.EqualFold(a, b) {
		return a != b
	}
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	for _, r := range string(x) + string(y) {
		if !unicode.IsLetter(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return len(x) <= 1 && len(y) <= 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}
