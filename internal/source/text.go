package source

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/cli"
)

// textFlags holds the flags for reading and tokenising text.
type textFlags struct {
	digitsByDefault bool                 // true if digits are kept by default
	form            corpus.FormatOptions // format of the text; Format and ZeroBased aren't used
	labels          string
	strict          bool

	analyzer, ngrams, pattern, stopWords, normalize string
	views                                           string
	digits, keepCase, stripAccents                  bool
}

// TextTopic is the help topic "text".
var TextTopic = cli.Topic{Name: "text", Summary: "text encoding and tokenization", Text: `
Text is UTF-8, or UTF-16 with a byte order mark, unless -encoding is set. Invalid bytes separate
terms, binary files in a folder are skipped, and warnings count both. With -strict they are errors.

In tables (CSV, TSV with -label-column or -text-column) and JSON lines, labels and texts are in
columns or keys with common names, or in those set by flags. An empty label means no label.

By default, terms are lower-case words of letters. The flags correspond to parameters of
scikit-learn's CountVectorizer: -ngrams to ngram_range, -token-pattern to token_pattern (with RE2
syntax), -analyzer, -stop-words and -strip-accents (unicode) to parameters of the same names, and
-embed logtfidf to sublinear_tf. The stop words are from the Snowball stemmers. Models store these
settings, so that predict tokenizes like train.`,
	Declare: func(f *cli.Flags) {
		t := &textFlags{}
		t.declare(f)
		t.declareTokenizer(f)
	}}

func (t *textFlags) declare(f *cli.Flags) {
	f.StartGroup("Text", "text")
	defer f.StartGroup("Documents", topicName)
	f.StringVar(&t.form.Encoding, "encoding", "", "text encoding `NAME`: utf-8, utf-16, latin-1, windows-1252 "+
		"or any other web encoding (default: UTF-8, or UTF-16 with a byte order mark)")
	f.BoolVar(&t.strict, "strict", false, "fail on invalid bytes and binary files (default: skip them with a warning)")
	f.StringVar(&t.form.LabelColumn, "label-column", "", "`COLUMN` of the labels: a name in the header "+
		"line, a key of JSON objects, or a number from 1 (default: a column named label, class, ..., or else the "+
		"first of two columns)")
	f.StringVar(&t.form.TextColumn, "text-column", "",
		"read texts only from `COLUMN`, and ignore other columns (default: use all columns, see -columns)")
	f.StringVar(&t.form.Columns, "columns", "", "`KINDS` of table columns: text, number, category, vector, label, id, "+
		"group, weight or ignore, as in 'zip=category, notes=ignore', or an .npy file with a vector per row, as in "+
		"'embedding=e.npy' (default: inferred)")
	f.StringVar(&t.form.IDColumn, "id-column", "", "`COLUMN` of the document names (default: id, name, ..., "+
		"if its values are unique)")
	f.StringVar(&t.form.LabelSeparator, "label-separator", "", "`SEP` between the labels of a document, "+
		"or none (default: a comma)")
	f.InputVar(&t.labels, "labels", "read labels from `FILE`, one line per document")
	f.AddCheck(func() error {
		if err := (corpus.FormatOptions{Columns: t.form.Columns}).Validate(); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-columns: %w", err)}
		}
		if err := (corpus.FormatOptions{Encoding: t.form.Encoding}).Validate(); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-encoding: %w", err)}
		}
		return nil
	})
}

// TermFlags are the names of flags that affect the terms of documents.
var TermFlags = []string{"analyzer", "ngrams", "views", "digits", "case", "token-pattern", "stop-words", "normalize",
	"strip-accents", "min-df", "max-df"}

func (t *textFlags) declareTokenizer(f *cli.Flags) {
	f.StartGroup("Text", "text")
	defer f.StartGroup("Documents", topicName)
	f.ChoiceVar(&t.analyzer, "analyzer", "word",
		"text `ANALYZER`: word, char, or char_wb (characters within words)",
		[]string{"word", "char", "char_wb"})
	f.StringVar(&t.ngrams, "ngrams", "", "n-gram range, `N` or FROM..TO, such as 1..2 for words and word pairs "+
		"(default: 1)")
	f.StringVar(&t.views, "views", "", "combine several sets of `TERMS` with equal weight, such as words:1..2 + "+
		"chars:2..5, or sets per column, such as title=words + country=categories + price=numbers")
	f.BoolVar(&t.digits, "digits", false, "keep digits in words")
	f.BoolVar(&t.keepCase, "case", false, "keep capitals")
	f.StringVar(&t.pattern, "token-pattern", "", "regular expression `RE` of a word, such as "+
		`[\pL\pN_]{2,}`)
	f.InputVar(&t.stopWords, "stop-words",
		"ignore the words in `FILE` (separated by white space), or the stop words of a "+
			"language: "+strings.Join(token.StopLists(), ", "))
	f.ChoiceVar(&t.normalize, "normalize", "", "normalize text to Unicode `FORM`: NFC, NFD, NFKC or NFKD",
		[]string{"NFC", "NFD", "NFKC", "NFKD"})
	f.BoolVar(&t.stripAccents, "strip-accents", false, "remove accents from letters")
	f.AddCheck(func() error {
		for _, name := range TermFlags {
			if own := name == "views" || strings.HasSuffix(name, "-df"); own {
				continue
			}
			if t.views != "" && f.IsSet(name) {
				return cli.Usagef("-%s and -views cannot be combined; use view options, as in words:1..2,digits", name)
			}
		}
		_, err := t.tokenizerWithoutStopWords()
		if err != nil {
			return cli.UsageError{Err: err}
		}
		return nil
	})
}

// KeepDigitsByDefault makes -digits true by default, for commands that search for near duplicates.
func (d *Documents) KeepDigitsByDefault(f *cli.Flags) {
	d.text.digitsByDefault, d.text.digits = true, true
	digits := f.Lookup("digits")
	digits.DefValue, digits.Usage = "true", "keep digits in words (-digits=false removes them)"
}

func (t *textFlags) tokenizerWithoutStopWords() (corpus.Tokenizer, error) {
	if t.views != "" {
		out, err := token.ParseViews(t.views)
		if err != nil {
			err = fmt.Errorf("-views: %w", err)
		}
		return out, err
	}
	out := corpus.Tokenizer{
		Analyzer: token.Analyzer(t.analyzer), Digits: t.digits, KeepCase: t.keepCase, Pattern: t.pattern,
		Normalize: t.normalize, StripAccents: t.stripAccents,
	}
	if t.analyzer == "word" {
		out.Analyzer = token.AnalyzerWord
	}
	if t.digitsByDefault && (out.Analyzer != token.AnalyzerWord || out.Pattern != "") {
		out.Digits = false
	}
	var ok bool
	if out.MinN, out.MaxN, ok = token.ParseNGramRange(cmp.Or(t.ngrams, "1")); !ok {
		return out, fmt.Errorf("-ngrams must be a range in [1, 100], such as 1..2 or 3, got %q", t.ngrams)
	}
	return out, out.Validate()
}

// maxStopWords is the maximum size of a file of stop words in bytes.
const maxStopWords = 16 << 20

func (t *textFlags) tokenizer() (corpus.Tokenizer, error) {
	out, err := t.tokenizerWithoutStopWords()
	if err != nil || t.stopWords == "" {
		return out.Canonical(), err
	}
	if slices.Contains(token.StopLists(), t.stopWords) {
		out.StopWords = "@" + t.stopWords
		return out.Canonical(), out.Validate()
	}
	file, err := os.Open(t.stopWords)
	if err != nil {
		return out, fmt.Errorf("-stop-words: %w; must be a file of words separated by white space, or one of the "+
			"languages %s", err, strings.Join(token.StopLists(), ", "))
	}
	defer file.Close()
	words, err := io.ReadAll(io.LimitReader(file, maxStopWords+1))
	switch {
	case err != nil:
		return out, err
	case len(words) > maxStopWords:
		return out, fmt.Errorf("-stop-words %s: the file exceeds 16 MiB", t.stopWords)
	case len(strings.Fields(string(words))) == 0:
		return out, fmt.Errorf("-stop-words %s: the file has no words", t.stopWords)
	}
	out.StopWords = string(words)
	return out.Canonical(), out.Validate()
}
