// Package token cuts text into terms.
//
// A [Tokenizer] says how: words, runs of characters, n-grams of either, and what is done to the
// text before. It is a plain value with a text form ([Tokenizer.String], [Parse]), so that a corpus
// and a model can keep it, and test documents are cut as the training documents were. A [Scanner]
// does the work, one document after another.
package token

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Analyzer says what terms are made of, in scikit-learn's words.
type Analyzer string

// The analyzers.
const (
	Word   Analyzer = ""        // words
	Char   Analyzer = "char"    // characters, across words; runs of white space are one space
	CharWB Analyzer = "char_wb" // characters within words, each with a space before and behind
)

// wordName is Word in the text form.
const wordName = "word"

// Tokenizer says how text becomes terms. The zero value is the default: terms are the longest runs
// of letters of any script (Unicode category L, with combining marks, category M, that follow), in
// lower case. Everything else separates terms, bytes that are not UTF-8 included. Tokenizers are
// equal (==) if all their fields are.
//
// Text is changed in this order: lower case, Normalize, StripAccents; then it is cut, stop words
// are dropped, and n-grams are made, as scikit-learn's CountVectorizer does. Its parameters of the
// same names mean the same.
type Tokenizer struct {
	Analyzer Analyzer

	// MinN and MaxN are the range of n-grams (ngram_range): words with a space between, or
	// characters. 0 stands for 1, or for MinN in MaxN. N-grams of words know no sentences or lines.
	MinN, MaxN int

	Digits   bool // words may hold digits, Unicode category N, too
	KeepCase bool // capitals stay

	// Pairs makes characters and pairs of neighbours, as search engines do, of runs in scripts without
	// spaces: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, Tibetan, and Hangul in runs of more
	// than 12 syllables. A character is a letter with the marks that follow. N-grams of words count each
	// as a word, with no space between neighbours; pairs are among them already unless 1 is all that is
	// asked for. Readers of documents set it and keep it where there are such scripts.
	Pairs bool `json:",omitempty"`

	// Pattern is a regular expression in Go's syntax (RE2) whose matches are the words, or what its
	// one group matches (token_pattern). It is applied to each line. \w and \d know all scripts,
	// as in Python; \b knows ASCII alone, but in scikit-learn's default, (?u)\b\w\w+\b, and \b\w+\b.
	Pattern string

	// StopWords are words to leave out, with white space between. They are cut as text is, but for
	// one such as @english, which stands for a list of [StopLists] (stop_words='english', a list of
	// other words).
	StopWords string

	Normalize    string // Unicode normalisation: NFC, NFD, NFKC, NFKD; none where empty
	StripAccents bool   // NFKD without combining marks, as strip_accents='unicode'

	// Views, if not empty, cuts each document into several sets of terms, and all other fields are zero:
	// tokenizers in their text form with + between, each with a weight and * before it where that isn't 1,
	// such as "words:1..2 + 0.5*chars:2..5". words stands for word, chars for char_wb, and a range for
	// ngrams=. Terms begin with a byte that numbers their view, 1 for the first. Embeddings give each view
	// its share of a document by weight, however many terms it has. Where documents are rows, names of columns
	// and = stand before each view, as in "title=words + body=words:1..2 + price,age=numbers"; see [Numbers].
	Views string `json:",omitempty"` // stores of clusters know the other fields alone
}

// maxN bounds n-grams; longer ones are a slip.
const maxN = 100

var forms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

// ngrams returns the range of n-grams.
func (t Tokenizer) ngrams() (least, most int) {
	least = cmp.Or(t.MinN, 1)
	return least, cmp.Or(t.MaxN, least)
}

// Reach returns how many words before and behind a place in a line the terms of it depend on, where white space
// separates words and each has a letter; -1 where the whole line may count: for patterns, stop words, normalisation,
// scripts without spaces, and rows.
func (t Tokenizer) Reach() (words int) {
	views, err := t.Split()
	if views == nil {
		views = []View{{Tokenizer: t}}
	}
	for _, v := range views {
		if err != nil || v.Pattern+v.StopWords+v.Normalize != "" || v.StripAccents || v.Pairs || v.Columns != nil {
			return -1
		}
		_, most := v.ngrams()
		words = max(words, most)
	}
	return words
}

// Validate checks that the tokenizer exists: a known analyzer and form of normalisation, a range of
// n-grams from 1 to 100, a pattern that compiles and has one group at most, and no pattern, digits
// or stop words for characters.
func (t Tokenizer) Validate() error {
	_, err := t.compile()
	return err
}

// compile checks the tokenizer and compiles its pattern, nil for none.
func (t Tokenizer) compile() (*regexp.Regexp, error) {
	if t.Views != "" {
		return nil, t.validateViews()
	}
	if t.Analyzer != Word && t.Analyzer != Char && t.Analyzer != CharWB {
		return nil, fmt.Errorf("token: analyzer %q, expected word, char or char_wb", string(t.Analyzer))
	}
	if least, most := t.ngrams(); least < 1 || most < least || most > maxN {
		return nil, fmt.Errorf("token: n-grams from %d to %d, expected a range within 1 to %d", least, most, maxN)
	}
	if _, ok := forms[t.Normalize]; !ok && t.Normalize != "" {
		return nil, fmt.Errorf("token: normalisation %q, expected NFC, NFD, NFKC or NFKD", t.Normalize)
	}
	if t.Analyzer != Word && (t.Pattern != "" || t.Digits || t.StopWords != "") {
		return nil, fmt.Errorf("token: a pattern, digits or stop words for the analyzer %s, expected the analyzer word",
			t.Analyzer)
	}
	if t.Pairs && !t.cutsWords() {
		return nil, fmt.Errorf("token: pairs for a pattern or the analyzer %s, expected words of letters",
			cmp.Or(t.Analyzer, wordName))
	}
	if t.Pattern == "" {
		return nil, nil
	}
	if t.Digits {
		return nil, fmt.Errorf("token: a pattern and digits, expected one of them: the pattern says what a word is")
	}
	pattern, err := regexp.Compile(inGo(t.Pattern))
	switch {
	case err != nil:
		return nil, fmt.Errorf("token: pattern %q isn't in Go's syntax (RE2): %w", t.Pattern, err)
	case pattern.NumSubexp() > 1:
		return nil, fmt.Errorf("token: pattern %q has %d groups, expected one at most", t.Pattern, pattern.NumSubexp())
	}
	return pattern, nil
}

// wholeWords are patterns of whole words of so many characters at least, in Python's syntax.
var wholeWords = regexp.MustCompile(`^\\b((?:\\w)*)\\w\+\\b$`)

// inGo returns a pattern with Python's meaning of \w and \d, and without its flag (?u).
func inGo(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "(?u)")
	if m := wholeWords.FindStringSubmatch(pattern); m != nil {
		return fmt.Sprintf(`[\pL\pN_]{%d,}`, 1+len(m[1])/2)
	}
	var b strings.Builder
	class := false // between [ and ]
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '\\' && i+1 < len(pattern) {
			i++
			sets := map[byte]string{'w': `\pL\pN_`, 'd': `\p{Nd}`}
			switch set := sets[pattern[i]]; {
			case set != "" && class:
				b.WriteString(set)
			case set != "":
				b.WriteString("[" + set + "]")
			case pattern[i] == 'W' && !class:
				b.WriteString("[^" + sets['w'] + "]")
			default:
				b.WriteString(pattern[i-1 : i+1])
			}
			continue
		}
		class = c == '[' || class && c != ']'
		b.WriteByte(c)
	}
	return b.String()
}

// cutsWords reports whether words are what the tokenizer takes for them, for which there may be pairs.
func (t Tokenizer) cutsWords() bool { return t.Analyzer == Word && t.Pattern == "" }

// WithPairs returns the tokenizer with Pairs or without, for all views. Those that can't have them stay
// as they are.
func (t Tokenizer) WithPairs(pairs bool) Tokenizer {
	if views, err := t.Split(); err == nil && views != nil {
		for i := range views {
			views[i].Tokenizer = views[i].Tokenizer.WithPairs(pairs)
		}
		t.Views = OfViews(views).Views
		return t
	}
	t.Pairs = pairs && t.cutsWords()
	return t
}

// SameCut reports whether two tokenizers cut a text into the same terms. It ignores Pairs, which readers set
// from the format of the file.
func (t Tokenizer) SameCut(as Tokenizer) bool { return t.WithPairs(true) == as.WithPairs(true) }

// String returns the tokenizer as [Parse] reads it, in one form only: the analyzer and, behind a
// colon, what differs from the default, such as "word", "word:ngrams=1..2,digits" or
// "char_wb:ngrams=2..4,case,normalize=NFKC,accents=strip,pattern=…,stop=…". Pattern and stop words
// are quoted as in Go.
//
// Views are their text forms with + between.
func (t Tokenizer) String() string {
	if t.Views != "" {
		return t.Canonical().Views
	}
	var parts []string
	add := func(there bool, part string) {
		if there {
			parts = append(parts, part)
		}
	}
	least, most := t.ngrams()
	add(most > least, fmt.Sprintf("ngrams=%d..%d", least, most))
	add(most == least && most != 1, fmt.Sprintf("ngrams=%d", most))
	add(t.Digits, "digits")
	add(t.KeepCase, "case")
	add(t.Pairs, "pairs")
	add(t.Normalize != "", "normalize="+t.Normalize)
	add(t.StripAccents, "accents=strip")
	add(t.Pattern != "", "pattern="+strconv.Quote(t.Pattern))
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(t.StopWords)))
	add(len(words) > 0, "stop="+strconv.Quote(strings.Join(words, " ")))
	s := cmp.Or(string(t.Analyzer), wordName)
	if len(parts) > 0 {
		s += ":" + strings.Join(parts, ",")
	}
	return s
}

// Parse reads the text form of a tokenizer, parts in any order. "" is the default.
func Parse(s string) (Tokenizer, error) {
	if name, _, _ := strings.Cut(s, ":"); strings.ContainsAny(name, `*+="`) || len(splitViews(s)) > 1 {
		return ParseViews(s)
	}
	return parseOne(s)
}

// parseOne reads a tokenizer without views.
func parseOne(s string) (Tokenizer, error) {
	var t Tokenizer
	analyzer, rest, colon := strings.Cut(s, ":")
	if analyzer != wordName {
		t.Analyzer = Analyzer(analyzer)
	}
	fail := func(part string) (Tokenizer, error) {
		return Tokenizer{}, fmt.Errorf("token: tokenizer %q: found %q, expected ngrams=1..2, digits, case, pairs, "+
			"normalize=NFKC, accents=strip, pattern=\"…\" or stop=\"…\", each once, with commas between", s, part)
	}
	flags := map[string]*bool{"digits": &t.Digits, "case": &t.KeepCase, "pairs": &t.Pairs}
	seen := map[string]bool{}
	for more := colon; more; {
		at := strings.IndexAny(rest, "=,")
		key, value := rest, ""
		switch {
		case at < 0:
			more = false
		case rest[at] == ',':
			key, rest = rest[:at], rest[at+1:]
		default:
			key, rest = rest[:at], rest[at+1:]
			if quoted, err := strconv.QuotedPrefix(rest); err == nil && quoted[0] == '"' {
				value, _ = strconv.Unquote(quoted)
				if rest = rest[len(quoted):]; rest != "" && rest[0] != ',' {
					return fail(rest)
				}
				more = rest != ""
				rest = strings.TrimPrefix(rest, ",")
			} else {
				value, rest, more = strings.Cut(rest, ",")
			}
			if value == "" {
				return fail(key + "=")
			}
		}
		ok, flag := true, flags[key]
		switch key {
		case "ngrams":
			t.MinN, t.MaxN, ok = ParseRange(value)
		case "normalize":
			t.Normalize = strings.ToUpper(value)
		case "accents":
			t.StripAccents = true
			ok = value == "strip"
		case "pattern":
			t.Pattern = value
		case "stop":
			t.StopWords = value
		default:
			if ok = flag != nil; ok {
				*flag = true
			}
		}
		if !ok || seen[key] || (value == "") != (flag != nil) {
			return fail(key)
		}
		seen[key] = true
	}
	return t, t.Validate()
}

// ParseRange reads a range of n-grams: N, or FROM..TO. A range of 1 alone is 0, 0, as in the zero
// value.
func ParseRange(s string) (least, most int, ok bool) {
	from, to, is := strings.Cut(s, "..")
	least, err := strconv.Atoi(from)
	if most = least; is && err == nil {
		most, err = strconv.Atoi(to)
	}
	switch {
	case err != nil || least < 1 || most < least || most > maxN:
		return 0, 0, false
	case most == 1:
		return 0, 0, true
	}
	return least, most, true
}

// Canonical returns the same tokenizer with fields in one form only, so that equal text forms mean
// equal values.
func (t Tokenizer) Canonical() Tokenizer {
	if views, err := t.Split(); err == nil && views != nil {
		t.Views = OfViews(views).Views
		return t
	}
	if t.MinN, t.MaxN = t.ngrams(); t.MinN == 1 && t.MaxN == 1 {
		t.MinN, t.MaxN = 0, 0
	}
	t.StopWords = strings.Join(slices.Compact(slices.Sorted(strings.FieldsSeq(t.StopWords))), " ")
	return t
}
