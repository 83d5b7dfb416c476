package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// WordOccurrence is an occurrence of a word in a text. Effect is the word's effect.
type WordOccurrence struct {
	Start  int     `json:"from"` // byte offset in the text
	End    int     `json:"to"`
	Effect float64 `json:"effect"`
}

// Each word's effect takes a prediction of the whole text, so these constants limit the number of
// distinct words, and the size of a text in bytes.
const (
	maxWords          = 400
	maxExplainedBytes = 64 << 10
)

// ExplainText explains the prediction of a text by the n words whose removal changes f most (see
// [DocumentExplanation]), and returns the occurrences of these words in text order. The effect of a
// word is f(x) - f(text without the word), for any tokenizer. Effects are computed for the first
// 400 distinct words, with one prediction each. The result is nil if the text exceeds 64 KiB. It
// fails if n < 1, if the model was trained on vectors or precomputed kernel values, if the model is
// a classifier with only one class, or if a prediction fails.
func ExplainText(
	ctx context.Context, m Model, text string, n int, o Options,
) (_ *DocumentExplanation, _ []WordOccurrence, err error) {
	if n < 1 {
		return nil, nil, fmt.Errorf("learn: number of words must be at least 1, got %d", n)
	}
	a := m.About()
	if a.Vocabulary == nil {
		return nil, nil, errors.New("learn: explaining words requires a model trained on texts, not on vectors")
	}
	counter, err := corpus.NewCounter(a.Tokenizer, a.Vocabulary)
	if err != nil {
		return nil, nil, err
	}
	return explainWords(ctx, m, counter, text, n, -1, o)
}

// explainWords implements [ExplainText] with the model's counter. label is as in documentExplainer.
func explainWords(
	ctx context.Context, m Model, counter *corpus.Counter, text string, n, label int, o Options,
) (_ *DocumentExplanation, marks []WordOccurrence, err error) {
	if len(text) > maxExplainedBytes {
		return nil, nil, nil
	}
	words, places := wordsOf(text)
	count := make([]float64, len(words))
	for _, at := range places {
		count[at.word]++
	}
	x := &documentExplainer{m: m, n: n, o: o, label: label, partCount: len(words)}
	if x.document, err = counter.Count(ctx, []string{text}); err != nil {
		return nil, nil, err
	}
	reach, near := m.About().Tokenizer.ContextWords(), make([][]occurrence, len(words))
	for _, at := range places {
		near[at.word] = append(near[at.word], at)
	}
	x.withoutParts = func(first, end int) (*sparse.CSR, error) {
		if reach >= 0 {
			return countWithoutWords(ctx, counter, x.document, text, near[first:end], reach)
		}
		texts := make([]string, 0, end-first)
		for j := first; j < end; j++ {
			texts = append(texts, blankWord(text, places, j))
		}
		return counter.Count(ctx, texts)
	}
	out, err := x.explain(ctx, func(j int) (string, float64) { return words[j], count[j] })
	if err != nil {
		return nil, nil, err
	}
	effects := map[string]float64{}
	for _, e := range out.Terms {
		effects[e.Term] = e.Effect
	}
	for _, at := range places {
		if effect, ok := effects[words[at.word]]; ok {
			marks = append(marks, WordOccurrence{at.start, at.end, effect})
		}
	}
	return out, marks, nil
}

type occurrence struct{ word, start, end int }

// unspacedScripts lists scripts that don't separate words by spaces. Each letter of these scripts
// is treated as a word.
const unspacedScripts = `\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}`

// wordPattern matches a letter of an unspaced script with its combining marks, or a run of other
// letters, marks and digits.
var wordPattern = regexp.MustCompile(`[` + unspacedScripts + `]\pM*|(?:[^\PL` + unspacedScripts + `]|\pN)(?:[^\PL` +
	unspacedScripts +
	`]|[\pN\pM])*`)

// wordsOf returns the first maxWords distinct words of a text in lower case, and all occurrences of
// these words.
func wordsOf(text string) (words []string, places []occurrence) {
	number := map[string]int{}
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		word := strings.ToLower(text[at[0]:at[1]])
		j, known := number[word]
		if !known && len(words) < maxWords {
			j, known = len(words), true
			number[word], words = j, append(words, word)
		}
		if known {
			places = append(places, occurrence{j, at[0], at[1]})
		}
	}
	return words, places
}

func blankWord(text string, places []occurrence, word int) string {
	var b strings.Builder
	from := 0
	for _, at := range places {
		if at.word == word {
			b.WriteString(text[from:at.start])
			b.WriteByte(' ')
			from = at.end
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// countWithoutWords returns a row for each word: the term counts of the text without this word. It
// recounts only around the word's occurrences, because a term depends on at most reach words before
// and after it.
func countWithoutWords(
	ctx context.Context, counter *corpus.Counter, whole *sparse.CSR, text string, words [][]occurrence, reach int,
) (*sparse.CSR, error) {
	var pieces []string // pairs of a text with the word and the same text without the word
	ends := make([]int, len(words))
	for j, places := range words {
		for len(places) > 0 {
			lo, hi := contextRange(text, places[0], reach)
			n := 1
			for ; n < len(places); n++ {
				from, to := contextRange(text, places[n], reach)
				if from > hi {
					break
				}
				hi = to
			}
			own := slices.Clone(places[:n])
			for i := range own {
				own[i].start, own[i].end = own[i].start-lo, own[i].end-lo
			}
			pieces = append(pieces, text[lo:hi], blankWord(text[lo:hi], own, own[0].word))
			places = places[n:]
		}
		ends[j] = len(pieces)
	}
	counts, err := counter.Count(ctx, pieces)
	if err != nil {
		return nil, err
	}
	type change struct {
		term uint32
		by   float32
	}
	out, at := &sparse.CSR{Cols: counts.Cols, Offsets: []int64{0}}, 0
	for _, end := range ends {
		var changes []change
		for ; at < end; at++ {
			terms, values := counts.Row(at)
			for k, t := range terms {
				changes = append(changes, change{t, values[k] * float32(at%2*2-1)})
			}
		}
		slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.term, b.term) })
		terms, values := whole.Row(0)
		for len(changes) > 0 {
			t, n := changes[0].term, float32(0)
			for ; len(changes) > 0 && changes[0].term == t; changes = changes[1:] {
				n += changes[0].by
			}
			k, known := slices.BinarySearch(terms, t)
			out.Terms, out.Values = append(out.Terms, terms[:k]...), append(out.Values, values[:k]...)
			if known {
				n += values[k]
				k++
			}
			if n != 0 {
				out.Terms, out.Values = append(out.Terms, t), append(out.Values, n)
			}
			terms, values = terms[k:], values[k:]
		}
		out.Terms, out.Values = append(out.Terms, terms...), append(out.Values, values...)
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out, nil
}

// contextRange returns the range of a text from the reach-th word before an occurrence to the
// reach-th word after it. Words are separated by spaces and have at least one letter.
func contextRange(text string, at occurrence, reach int) (lo, hi int) {
	lo, hi = at.start, at.end
	for n := -1; n < reach && lo > 0; { // n is -1 until the beginning of the word is included
		space := max(strings.LastIndexByte(text[:lo], ' '), 0)
		if n < 0 || strings.ContainsFunc(text[space:lo], unicode.IsLetter) {
			n++
		}
		lo = space
	}
	for n := -1; n < reach && hi < len(text); {
		rest, _, _ := strings.Cut(text[hi:], " ")
		if n < 0 || strings.ContainsFunc(rest, unicode.IsLetter) {
			n++
		}
		hi = min(hi+len(rest)+1, len(text))
	}
	return lo, hi
}
