// Package token divides text into terms.
//
// A [Tokenizer] describes the terms: words, characters or n-grams, after changes of the text such
// as lower case. It is a plain value with a text form ([Tokenizer.String], [Parse]), so that
// corpora and models can store it, and test documents are divided like training documents. A
// [Scanner] applies a Tokenizer to one document after another.
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

// Analyzer is the unit of terms, named as in scikit-learn.
type Analyzer string

// The analyzers.
const (
	AnalyzerWord   Analyzer = ""        // words
	AnalyzerChar   Analyzer = "char"    // character n-grams, which may span words; a run of white space becomes a space
	AnalyzerCharWB Analyzer = "char_wb" // character n-grams within words, which begin and end with a space
)

// wordName is the name of [AnalyzerWord] in the text form.
const wordName = "word"

// Tokenizer describes the terms of a text. By default, terms are the longest runs of letters of any
// script (Unicode category L, with the combining marks of category M that follow), in lower case.
// Everything else separates terms, including invalid UTF-8.
//
// Text is changed in this order: lower case, Normalize, StripAccents. Then it is divided into
// units, stop words are dropped, and n-grams are formed, as in scikit-learn's CountVectorizer.
// Fields named like CountVectorizer's parameters have the same meaning.
type Tokenizer struct {
	Analyzer Analyzer

	// MinN and MaxN (ngram_range) are the smallest and largest n of word or character n-grams. MinN
	// defaults to 1, MaxN to MinN. A space separates the words of an n-gram, which may span lines.
	MinN, MaxN int

	Digits   bool // true if words may contain digits (Unicode category N)
	KeepCase bool // true if text isn't converted to lower case

	// Pairs, if true, divides runs in scripts without spaces into characters and pairs of adjacent
	// characters. The scripts are Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, Tibetan, and
	// Hangul in runs of more than 12 syllables. A character is a letter with its combining marks.
	// N-grams treat a character as a word, and join adjacent characters without a space. Pairs are
	// used only if MaxN is 1. Readers clear Pairs if the text contains none of the scripts.
	Pairs bool `json:",omitempty"`

	// Pattern is a regular expression in Go's syntax (RE2) that matches words (token_pattern). If
	// it has a group, the group is the word. It is applied to each line. \w and \d match all
	// scripts, as in Python; \b only recognises ASCII words, except in scikit-learn's default
	// (?u)\b\w\w+\b and in \b\w+\b.
	Pattern string

	// StopWords are words to drop, separated by white space and tokenised like text. A word such as
	// @english selects a list in [StopLists], whose words differ from stop_words='english' in
	// scikit-learn.
	StopWords string

	Normalize    string // Unicode normalisation: NFC, NFD, NFKC, NFKD; "" for none
	StripAccents bool   // true to apply NFKD and remove combining marks, like strip_accents='unicode'

	// Views, if not empty, lists several tokenizers. A document has the terms of all views; other
	// fields must be zero. Views are text forms separated by +, with optional weights, as in
	// "words:1..2 + 0.5*chars:2..5". words means word, chars means char_wb, and a range sets
	// ngrams. Terms start with the number of the view, from 1, as a byte. In embeddings, the
	// contribution of a view is proportional to its weight, whatever its number of terms. If
	// documents are rows, views start with column names and =, as in "title=words + body=words:1..2
	// + price,age=numbers"; see [AnalyzerNumbers].
	Views string `json:",omitempty"` // omitted if empty, for compatibility with stored cluster jobs
}

// maxN is the maximum n of n-grams; larger values are probably mistakes.
const maxN = 100

var normForms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

func (t Tokenizer) ngramRange() (least, most int) {
	least = cmp.Or(t.MinN, 1)
	return least, cmp.Or(t.MaxN, least)
}

// ContextWords returns the number of words before and after a position in a line that can affect
// the terms at this position, if white space separates words and each word has a letter. It returns
// -1 if the whole line can affect these terms: for patterns, stop words, normalisation, stripped
// accents, scripts without spaces, and rows.
func (t Tokenizer) ContextWords() (words int) {
	views, err := t.SplitViews()
	if views == nil {
		views = []View{{Tokenizer: t}}
	}
	for _, v := range views {
		if err != nil || v.Pattern+v.StopWords+v.Normalize != "" || v.StripAccents || v.Pairs || v.Columns != nil {
			return -1
		}
		_, most := v.ngramRange()
		words = max(words, most)
	}
	return words
}

// Validate returns an error unless the analyzer and the normalisation exist, n-grams are in the
// range 1 to 100, and the pattern compiles and has at most one group. Character analyzers allow no
// pattern, digits, pairs or stop words. A pattern allows no digits or pairs.
func (t Tokenizer) Validate() error {
	_, err := t.compile()
	return err
}

// compile checks the tokenizer and compiles its pattern. It returns nil without a pattern.
func (t Tokenizer) compile() (*regexp.Regexp, error) {
	if t.Views != "" {
		return nil, t.validateViews()
	}
	if t.Analyzer != AnalyzerWord && t.Analyzer != AnalyzerChar && t.Analyzer != AnalyzerCharWB {
		return nil, fmt.Errorf("token: analyzer must be word, char or char_wb, got %q", string(t.Analyzer))
	}
	if least, most := t.ngramRange(); least < 1 || most < least || most > maxN {
		return nil, fmt.Errorf("token: n-gram range must be within [1, %d], got [%d, %d]", maxN, least, most)
	}
	if _, ok := normForms[t.Normalize]; !ok && t.Normalize != "" {
		return nil, fmt.Errorf("token: normalisation must be NFC, NFD, NFKC or NFKD, got %q", t.Normalize)
	}
	if t.Analyzer != AnalyzerWord && (t.Pattern != "" || t.Digits || t.StopWords != "") {
		return nil, fmt.Errorf("token: Pattern, Digits and StopWords require analyzer \"word\", got %q", t.Analyzer)
	}
	if t.Pairs && !t.usesLetterRuns() {
		return nil, fmt.Errorf("token: Pairs requires analyzer \"word\" without Pattern, got analyzer %q and Pattern %q",
			cmp.Or(t.Analyzer, wordName), t.Pattern)
	}
	if t.Pattern == "" {
		return nil, nil
	}
	if t.Digits {
		return nil, fmt.Errorf("token: Pattern and Digits cannot be combined")
	}
	pattern, err := regexp.Compile(toGoPattern(t.Pattern))
	switch {
	case err != nil:
		return nil, fmt.Errorf("token: pattern %q is not a valid regular expression (RE2 syntax): %w", t.Pattern, err)
	case pattern.NumSubexp() > 1:
		return nil, fmt.Errorf("token: pattern %q has %d groups; the maximum is 1", t.Pattern, pattern.NumSubexp())
	}
	return pattern, nil
}

// wholeWordPattern matches patterns of whole words with a minimum length, in Python's syntax.
var wholeWordPattern = regexp.MustCompile(`^\\b((?:\\w)*)\\w\+\\b$`)

// toGoPattern returns a pattern with Python's meaning of \w and \d, and without the flag (?u).
func toGoPattern(pattern string) string {
	pattern = strings.TrimPrefix(pattern, "(?u)")
	if m := wholeWordPattern.FindStringSubmatch(pattern); m != nil {
		return fmt.Sprintf(`[\pL\pN_]{%d,}`, 1+len(m[1])/2)
	}
	var b strings.Builder
	class := false // within [ and ]
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

// usesLetterRuns reports whether words are runs of letters, which Pairs requires.
func (t Tokenizer) usesLetterRuns() bool { return t.Analyzer == AnalyzerWord && t.Pattern == "" }

// WithPairs returns the tokenizer with Pairs set or unset, in all views. Tokenizers that don't
// support Pairs are unchanged.
func (t Tokenizer) WithPairs(pairs bool) Tokenizer {
	if views, err := t.SplitViews(); err == nil && views != nil {
		for i := range views {
			views[i].Tokenizer = views[i].Tokenizer.WithPairs(pairs)
		}
		t.Views = FromViews(views).Views
		return t
	}
	t.Pairs = pairs && t.usesLetterRuns()
	return t
}

// SameTerms reports whether two tokenizers divide texts into the same terms. It ignores Pairs,
// which readers set depending on the texts.
func (t Tokenizer) SameTerms(as Tokenizer) bool { return t.WithPairs(true) == as.WithPairs(true) }

// String returns the canonical text form of the tokenizer for [Parse]: the analyzer and, after a
// colon, the differences from the default, such as "word", "word:ngrams=1..2,digits" or
// "char_wb:ngrams=2..4,case,normalize=NFKC,accents=strip,pattern=…,stop=…". Pattern and stop words
// are quoted as in Go.
//
// Views are separated by +.
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
	least, most := t.ngramRange()
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

// Parse parses the text form of a tokenizer, with options in any order. "" is the default.
func Parse(s string) (Tokenizer, error) {
	if name, _, _ := strings.Cut(s, ":"); strings.ContainsAny(name, `*+="`) || len(splitOutside(s, '+')) > 1 {
		return ParseViews(s)
	}
	return parseOne(s)
}

func parseOne(s string) (Tokenizer, error) {
	var t Tokenizer
	analyzer, rest, colon := strings.Cut(s, ":")
	if analyzer != wordName {
		t.Analyzer = Analyzer(analyzer)
	}
	fail := func(part string) (Tokenizer, error) {
		return Tokenizer{}, fmt.Errorf("token: tokenizer %q: unknown or repeated option %q; valid options are ngrams=1..2, "+
			"digits, case, pairs, normalize=NFKC, accents=strip, pattern=\"…\" and stop=\"…\", separated by commas", s, part)
	}
	flags := map[string]*bool{"digits": &t.Digits, "case": &t.KeepCase, "pairs": &t.Pairs}
	seen := map[string]bool{}
	if !colon {
		return t, t.Validate()
	}
	for _, part := range splitOutside(rest, ',') {
		key, value, valued := strings.Cut(part, "=")
		if quoted, err := strconv.QuotedPrefix(value); err == nil && quoted[0] == '"' {
			if quoted != value {
				return fail(part)
			}
			value, _ = strconv.Unquote(quoted)
		}
		if valued && value == "" {
			return fail(part)
		}
		ok, flag := true, flags[key]
		switch key {
		case "ngrams":
			t.MinN, t.MaxN, ok = ParseNGramRange(value)
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

// ParseNGramRange parses a range of n-grams: N or FROM..TO. It returns 0, 0 for the range 1, as in
// the zero Tokenizer.
func ParseNGramRange(s string) (least, most int, ok bool) {
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

// Canonical returns an equivalent tokenizer with canonical field values, so that equal text forms
// mean equal values.
func (t Tokenizer) Canonical() Tokenizer {
	if views, err := t.SplitViews(); err == nil && views != nil {
		t.Views = FromViews(views).Views
		return t
	}
	if t.MinN, t.MaxN = t.ngramRange(); t.MinN == 1 && t.MaxN == 1 {
		t.MinN, t.MaxN = 0, 0
	}
	t.StopWords = strings.Join(slices.Compact(slices.Sorted(strings.FieldsSeq(t.StopWords))), " ")
	return t
}
