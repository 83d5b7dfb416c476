package token

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/musttest"
)

// The fast path and the general path give the correct terms for each script.
func TestPairs(t *testing.T) {
	long := strings.Repeat("가", 12)
	for _, c := range []struct {
		name, text, want string // terms are separated by commas
	}{
		{"chinese", "手机很好", "手,机,手机,很,机很,好,很好"},
		{"mixed", "iPhone手机很好 OK", "iphone,手,机,手机,很,机很,好,很好,ok"},
		{"one", "好, 好x好", "好,好,x,好"},
		{"punctuation and digits", "很好！贵3元", "很,好,很好,贵,元"},
		{"lines", "手\n机", "手,机"},
		{"lines in which places agree", "手\nabc手机", "手,abc,手,机,手机"},
		{"iteration", "人々〆切", "人,々,人々,〆,々〆,切,〆切"},
		{"four bytes", "𠮷野\U00030000", "𠮷,野,𠮷野,\U00030000,野\U00030000"},
		{"compatibility", "\uf900豈", "\uf900,豈,\uf900豈"},
		{"variation selector", "葛\U000e0100飾", "葛\U000e0100,飾,葛\U000e0100飾"},
		{"hiragana", "すし", "す,し,すし"},
		{"katakana", "コーヒ・ヒ", "コ,ー,コー,ヒ,ーヒ,ヒ"},
		{"half width", "ﾊﾞｽ", "ﾊﾞ,ｽ,ﾊﾞｽ"},
		{"voicing mark", "か\u3099き", "か\u3099,き,か\u3099き"},
		{"japanese", "犬がSkyを", "犬,が,犬が,sky,を"},
		{"korean", "한국어 는 좋다", "한국어,는,좋다"},
		{"korean and latin", "PC방에서", "pc방에서"},
		{"korean, as long as a word may be", long, long},
		{"korean and han", "大韓은", "大,韓,大韓,은"},
		{"jamo", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "\u1112\u1161\u11ab\u1100\u116e\u11a8"},
		{"thai", "ที่นี", "ที่,นี,ที่นี"},
		{"lao", "ດີໆ", "ດີ,ໆ,ດີໆ"},
		{"khmer", "ក្ខុ", "ក្,ខុ,ក្ខុ"},
		{"burmese", "မြန်", "မြ,န်,မြန်"},
		{"tibetan", "བོད་ཡིག", "བོ,ད,བོད,ཡི,ག,ཡིག"},
		{"arabic", "مرحبا بالعالَم", "مرحبا,بالعالَم"},
		{"hebrew", "שָׁלוֹם עולם", "שָׁלוֹם,עולם"},
		{"arabic and han", "مرحبا手机", "مرحبا,手,机,手机"},
		{"hindi", "नमस्ते दुनिया", "नमस्ते,दुनिया"},
		{"emoji", "好👍🏽很👨‍👩‍👧棒❤️!", "好,很,棒"},
		{"flag and keycap", "🇨🇳国1️⃣家", "国,家"},
		{"marks alone", "\u0301手\u0301 \u0301", "手\u0301"},
		{"not UTF-8", "手\xff机\xe6\x89很\xf0\xa0", "手,机,很"},
		{"latin extended", "Ǆungla ﬃ Ａ好", "ǆungla,ﬃ,ａ,好"},
	} {
		// Normalisation would change the text; a stop word only selects the general path.
		for _, tokenizer := range []Tokenizer{{Pairs: true}, {Pairs: true, StopWords: "none"}} {
			got := terms(t, tokenizer, c.text, c.text)
			if c.want != strings.Join(got[1], ",") || !slices.Equal(got[0], got[1]) {
				t.Errorf("%s, %s: %q, expected %q", c.name, tokenizer, got, c.want)
			}
		}
	}
	// A run with one syllable more than the longest word is divided into characters.
	for _, syllable := range []string{"가", "\u1100\u1161", "\u1112\u1161\u11ab"} {
		run := strings.Repeat(syllable, 13)
		for _, text := range []string{run, run + "手", "pc" + run, run + run} {
			got := terms(t, Tokenizer{Pairs: true}, text)[0]
			if !slices.Contains(got, syllable) || !slices.Contains(got, syllable+syllable) || slices.Contains(got, run) {
				t.Errorf("%q: %q", text, got)
			}
		}
		run = strings.Repeat(syllable, 12)
		if got := terms(t, Tokenizer{Pairs: true}, run)[0]; !slices.Equal(got, []string{run}) {
			t.Errorf("%q: %q, want one word", run, got)
		}
	}
}

// Characters count as words in n-grams, and pairs of neighbours occur once.
func TestPairsInNGrams(t *testing.T) {
	for _, c := range []struct{ tokenizer, text, want string }{
		{"word:ngrams=1..2,pairs", "iPhone手机 很", "iphone,手,iphone 手,机,手机,很,机 很"},
		{"word:ngrams=2,pairs", "手机很", "手机,机很"},
		{"word:ngrams=3,pairs", "a手机很b", "a 手机,手机很,机很 b"},
		{"word:digits,pairs", "5G手机3", "5g,手,机,手机,3"},
		{"word:case,pairs", "iPhone手机", "iPhone,手,机,手机"},
		{`word:pairs,stop="手机 很 the"`, "the 手机很好 手 好吃", "手,机,好,手,好,吃,好吃"},
		{"word:normalize=NFKC,pairs", "ﾊﾞｽ", "バ,ス,バス"},
		{"word:accents=strip,pairs", "한국 バ", "\u1112\u1161\u11ab\u1100\u116e\u11a8,ハ"},
		{"words:pairs + words:digits", "好3", "\x01好,\x02好3"},
	} {
		tokenizer, err := Parse(c.tokenizer)
		if err != nil {
			t.Errorf("%s: %v", c.tokenizer, err)
			continue
		}
		if got := strings.Join(terms(t, tokenizer, c.text)[0], ","); got != c.want {
			t.Errorf("%s of %q: %q, expected %q", c.tokenizer, c.text, got, c.want)
		}
	}
}

// Text forms from before Pairs give the same terms as then.
func TestNoPairs(t *testing.T) {
	for _, s := range []string{"", "word", "word:ngrams=1"} {
		tokenizer := musttest.Get(Parse(s))(t)
		if got := terms(t, tokenizer, "iPhone手机很好 ที่นี่")[0]; !slices.Equal(got, []string{"iphone手机很好", "ที่นี่"}) {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestWithPairs(t *testing.T) {
	for s, want := range map[string]string{
		"word": "word:pairs", "word:ngrams=1..2": "word:ngrams=1..2,pairs", "char:ngrams=2": "char:ngrams=2",
		`word:pattern="a"`: `word:pattern="a"`, "words + 2*chars:2..3": "word:pairs + 2*char_wb:ngrams=2..3",
	} {
		tokenizer := musttest.Get(Parse(s))(t)
		with := tokenizer.WithPairs(true)
		if with.String() != want || with.WithPairs(false) != tokenizer.Canonical() || with.Validate() != nil {
			t.Errorf("%s with pairs is %s, %v, expected %s", s, with, with.Validate(), want)
		}
	}
}

func TestScripts(t *testing.T) {
	for _, c := range []struct{ tokenizer, text, want string }{
		{"word:pairs", "English, café naïve; مرحبا 한국", "[]"},
		{"word:pairs", "abc手机é!", "[{Chinese 0.3333}]"},
		{"word:digits,pairs", "abc手机é1!", "[{Chinese 0.3333}]"},
		{"word:pairs", "犬がいる a", "[{Japanese 0.8000}]"},
		{"word:pairs", strings.Repeat("手", 9) + "が", "[{Japanese 1.0000}]"},
		{"word:pairs", strings.Repeat("手", 18) + "がが" + strings.Repeat("a", 20), "[{Japanese 0.5000}]"},
		{"word:pairs", strings.Repeat("手", 19) + "が", "[{Chinese 0.9500} {Japanese 0.0500}]"},
		{"word:pairs", "ที่ดดด手手手手手ក", "[{Chinese 0.5000} {Thai 0.4000} {Khmer 0.1000}]"},
		{"word", "手机", "[]"},
		{"words:pairs + chars:2", "手机ab", "[{Chinese 0.5000}]"},
		{"word:pairs", strings.Repeat("long lines of words ", 20) + "手", "[{Chinese 0.0031}]"},
	} {
		tokenizer := musttest.Get(Parse(c.tokenizer))(t)
		var scanners []*Scanner
		for range 2 { // like two workers
			s, _ := tokenizer.NewScanner()
			fed(s, c.text)
			s.End()
			scanners = append(scanners, s)
		}
		got := "["
		for i, s := range CountScripts(scanners...) {
			got += fmt.Sprintf("%s{%s %.4f}", strings.Repeat(" ", min(i, 1)), s.Name, s.Share)
		}
		if got += "]"; got != c.want {
			t.Errorf("%s of %q: %s, expected %s", c.tokenizer, c.text, got, c.want)
		}
	}
}

// oracle returns the script of a letter by Unicode's tables, with exceptions for shared letters.
func oracle(r rune) script {
	switch {
	case !unicode.IsLetter(r):
		return spacedScript
	case r == 0x3006:
		return han
	case r >= 0x3031 && r <= 0x3035, strings.ContainsRune("ーｰﾞﾟ", r):
		return kana
	}
	for table, of := range map[*unicode.RangeTable]script{
		unicode.Han: han, unicode.Hiragana: kana, unicode.Katakana: kana, unicode.Hangul: hangul, unicode.Thai: thai,
		unicode.Lao: lao, unicode.Khmer: khmer, unicode.Myanmar: myanmar, unicode.Tibetan: tibetan,
	} {
		if unicode.Is(table, r) {
			return of
		}
	}
	return spacedScript
}

func TestScriptOfLetters(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if got, want := scriptOf(r), oracle(r); unicode.IsLetter(r) && got != want {
			t.Errorf("%U %c: script %d, expected %d", r, r, got, want)
		}
		if oracle(r) != spacedScript && (r < firstUnspaced || unicode.ToLower(r) != r) {
			t.Errorf("%U %c is below the first or has case", r, r)
		}
	}
}

// These patterns match character kinds from [kinds], one byte per character.
var (
	unitKinds = regexp.MustCompile(`(?P<character>[CV][MJV]*)|(?P<long>[HJ][MJV]*(?:H[MJV]*){12,})|.`)
	syllable  = regexp.MustCompile(`[HJ][MJV]*`)
	wordKinds = map[bool]*regexp.Regexp{
		false: regexp.MustCompile(`[LHJ][LHJM]*`), true: regexp.MustCompile(`[LHJN][LHJMN]*`),
	}
)

// kinds returns the kind of each character: C letter of a script without spaces, V letter that
// extends it, H Hangul, J Hangul that extends it, L other letter, M mark, N number, x other.
func kinds(text []rune, pairs bool) []byte {
	out := make([]byte, len(text))
	for i, r := range text {
		switch {
		case unicode.Is(unicode.M, r):
			out[i] = 'M'
		case unicode.Is(unicode.N, r):
			out[i] = 'N'
		case !unicode.Is(unicode.L, r):
			out[i] = 'x'
		case !pairs || oracle(r) == spacedScript:
			out[i] = 'L'
		case strings.ContainsRune("ﾞﾟ", r):
			out[i] = 'V'
		case r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff:
			out[i] = 'J'
		case oracle(r) == hangul:
			out[i] = 'H'
		default:
			out[i] = 'C'
		}
	}
	return out
}

// slideUnits returns n-grams of words and characters by an independent method, regular expressions.
func slideUnits(t Tokenizer, text string, give func(term string)) {
	runes := []rune(text)
	what := kinds(runes, t.Pairs)
	type unit struct {
		begin, end int
		character  bool
	}
	var units []unit
	for _, m := range unitKinds.FindAllSubmatchIndex(what, -1) {
		switch {
		case m[2] >= 0:
			units = append(units, unit{m[0], m[1], true})
		case m[4] >= 0:
			for _, own := range syllable.FindAllIndex(what[m[0]:m[1]], -1) {
				units = append(units, unit{m[0] + own[0], m[0] + own[1], true})
			}
		}
	}
	rest := slices.Clone(what)
	for _, u := range units {
		for i := u.begin; i < u.end; i++ {
			rest[i] = 'x'
		}
	}
	for _, m := range wordKinds[t.Digits].FindAllIndex(rest, -1) {
		units = append(units, unit{m[0], m[1], false})
	}
	slices.SortFunc(units, func(a, b unit) int { return a.begin - b.begin })
	least, most := t.ngramRange()
	for i := range units {
		gram := ""
		for k := i; k < min(len(units), i+max(most, 2)); k++ {
			u, n := units[k], k-i+1
			joined := n > 1 && u.character && units[k-1].character && units[k-1].end == u.begin
			if n > 1 && !joined {
				gram += " "
			}
			gram += string(runes[u.begin:u.end])
			if n >= least && n <= most || t.Pairs && most == 1 && n == 2 && joined {
				give(gram)
			}
		}
	}
}

// The fast paths agree with the reference, for text as a whole and line by line, and terms are
// valid UTF-8.
func FuzzPairs(f *testing.F) {
	for _, s := range []string{
		"iPhone手机很好，5G网络。コーヒーﾊﾞｯｸﾞ葛\U000E0100飾 𠮷野家\nที่นี่ Ünï مرحبا 👨‍👩‍👧",
		strings.Repeat("가\u1102\u1161\u11ab", 7) + "는 한국어PC방\xff手\xe6\x89机\x00",
		"\u1161手\u1161\uff9e가\uff9e\u0301나 İK",
		"Hello, World!", "Ünïcode ÜBER x", "u\u0308ber \u0308x", "bad\xffbyte\xc3a", "日本語 text",
		"don't x2y", "ABCdef snake_case", "aÉb", "é\x00", "", " \t\n12.5", "naïve ΣΟΦΙΑ война", "हिन्दी", "İı \u212a",
		"soft\u00adhyphen 'quoted’s", "Ⅷ ①",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lower := strings.Map(unicode.ToLower, strings.ToValidUTF8(text, "\ufffd"))
		for _, tokenizer := range []Tokenizer{{}, {Pairs: true}} {
			var want []string
			slideUnits(tokenizer, lower, func(term string) { want = append(want, term) })
			got := terms(t, tokenizer, text)[0]
			s, _ := tokenizer.NewScanner()
			whole := fed(s, text)
			if !slices.Equal(whole, got) {
				t.Fatalf("%s of %q: %q whole, %q line by line", tokenizer, text, whole, got)
			}
			for _, term := range got {
				if !utf8.ValidString(term) {
					t.Fatalf("%s of %q: the term %q", tokenizer, text, term)
				}
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("%s of %q: %q, expected %q", tokenizer, text, got, want)
			}
		}
	})
}
