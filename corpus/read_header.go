package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
)

// Names that columns and keys of labels and texts have where none is given, best first.
var (
	labelNames = []string{"label", "labels", "class", "category", "target", "sentiment", "topic"}
	textNames  = []string{"text", "content", "body", "message", "document", "review", "sentence", "comment", "tweet"}
)

// columns say which fields of a record are label and text.
type columns struct {
	label, text int      // from 0; label is -1 for none
	group       int      // -1 for none
	name        int      // of the names of documents; -1 for none
	row         []int    // columns of views; nil where text is the document
	header      []string // nil where the first record is a document
	fields      int      // of every record
	unknown     bool     // there may be a column of labels, but its name isn't known
}

// table is the beginning of a table, and what is guessed from it.
type table struct {
	separator byte
	first     []string   // the first record; nil if it isn't within nearBytes
	length    int        // bytes of the first record
	near      [][]string // further records within nearBytes

	columns
	bad     *SyntaxError // why there are no columns
	labels  int          // index of the column of labels, guessed from the names of two columns; -1: none
	views   bool         // some views of the other columns are known
	numbers string       // the views of columns that were taken for numbers and categories
	classes string       // the name of the column that labels were then taken from
}

// nearBytes is the size of the beginning of a table by which columns are guessed.
const nearBytes = 64 << 10

// table guesses the columns of a table by the options and its beginning, which it leaves unread.
func (in *input) table(separator byte, opt *Options) (*table, error) {
	if !opt.Strict {
		if err := in.notBinary(); err != nil {
			return nil, err
		}
	}
	opt.rows = true
	if err := opt.askTokenizer(); err != nil {
		return nil, err
	}
	head, err := in.r.Peek(nearBytes)
	if err != nil && err != io.EOF {
		return nil, in.readError(in.line, err)
	}
	t, r := &table{separator: separator}, newCSV(bytes.NewReader(head), separator)
	for {
		record, bad := r.Read()
		switch cut := err == nil && int(r.InputOffset()) == len(head); {
		case bad != nil || cut: // the parser says what is wrong
			t.guess(opt)
			return t, nil
		case t.first == nil:
			t.first, t.length = record, int(r.InputOffset())
		default:
			t.near = append(t.near, record)
		}
	}
}

// guess finds the columns.
func (t *table) guess(opt *Options) {
	given := *opt
	if t.labels = t.headed(opt); t.labels >= 0 {
		given.LabelColumn = t.first[t.labels]
	}
	t.columns, t.bad = findColumns(t.first, &given)
	if t.bad == nil && (t.labels < 0 || slices.Contains(textNames, columnName(t.first[1-t.labels]))) {
		return
	}
	words, others, categories, labels := t.viewed(&given)
	t.views = labels && len(words)+len(others) > 0
	switch noText := t.bad != nil && t.bad.Option == "TextColumn"; {
	case t.bad != nil && !noText:
	case !labels:
		if noText && given.LabelColumn == "" && len(words) == 0 && len(others) > 0 {
			t.bad.Expected = "labels in one called " + strings.Join(labelNames, ", ") + ", else to know which has them"
			t.bad.Option = "LabelColumn"
		}
	case len(words) == 0 && len(others) > 0 && (noText || !categories): // else of two columns one is a text
		t.numbers = strings.Join(others, " + ")
		given.Tokenizer = token.Tokenizer{Views: t.numbers}
		t.columns, t.bad = findColumns(t.first, &given)
		if t.bad == nil && opt.LabelColumn == "" && t.label >= 0 {
			t.classes = t.first[t.label]
		}
	case noText && len(words) > 0:
		t.bad.Expected = "to know which is the text, or views of columns such as " +
			strings.Join(append(words, others...), " + ")
	}
}

// explain adds to an error of reading how columns that were taken for numbers can be read otherwise.
func (t *table) explain(err error) error {
	if bad := (*SyntaxError)(nil); t.numbers != "" && errors.As(err, &bad) && bad.Option == "" {
		bad.Option, bad.Remedy = "TextColumn", "names a column of texts"
	}
	return err
}

// warn warns of what was guessed, and of labels that may be in a column that none of the names is of.
func (t *table) warn(c *Corpus) {
	at, warn := place(c.Source, 1), c.warn()
	if t.numbers != "" {
		message := "no column of texts, "
		if t.classes != "" {
			message = fmt.Sprintf("labels in the column %s, and ", columnName(t.classes)) + message
		}
		warn.addOption(message+"the others read as views "+t.numbers, 1, at, "TextColumn", "names a column of texts")
	}
	if t.labels >= 0 && slices.ContainsFunc(c.Classes, func(name string) bool {
		return columnName(name) == columnName(t.first[t.labels])
	}) {
		warn.addOption(fmt.Sprintf("the first line, %s, taken for a header, though later documents have the label %s",
			quoteList(t.first), t.first[t.labels]), 1, at, "LabelColumn", strconv.Itoa(t.labels+1)+" takes it for a document")
	}
	if t.unknown {
		warn.addOption("no column of labels: "+strings.Join(t.header, ", "), 1, at, "LabelColumn", "names it")
	}
}

// headed returns which of two columns has labels, if the first record names it and no document nearby has the name for
// its label; else -1.
func (t *table) headed(opt *Options) int {
	if len(t.first) != 2 || len(t.near) == 0 || opt.LabelColumn+opt.TextColumn != "" || opt.Tokenizer.HasColumns() {
		return -1
	}
	at := slices.IndexFunc(t.first, func(name string) bool { return slices.Contains(labelNames, columnName(name)) })
	if at < 0 || slices.Contains(labelNames, columnName(t.first[1-at])) ||
		slices.ContainsFunc(t.near, func(record []string) bool {
			return len(record) != 2 || columnName(record[at]) == columnName(t.first[at])
		}) {
		return -1
	}
	return at
}

// A column holds categories if its values have at most maxCategoryBytes, each of them occurs minRecurring times in the
// mean, and at most a share of maxNumbers of them are numbers.
const maxCategoryBytes, minRecurring, maxNumbers = 64, 4, 0.5

// maxColumnsWeight is the maximum weight of a view.
const maxColumnsWeight = 1000

// viewed returns views of all named columns but that of labels: words has a view of each column of words, others one of
// the columns of categories and one of the columns of numbers. labels reports whether one column has labels. It returns
// no views if the first record isn't a header or the terms are known.
func (t *table) viewed(opt *Options) (words, others []string, categories, labels bool) {
	known := opt.TokenizerLater != nil || opt.VocabularyLater != nil || opt.Vocabulary != nil
	if known || opt.TextColumn != "" || opt.Tokenizer != (token.Tokenizer{}).WithPairs(true) || len(t.near) == 0 ||
		slices.ContainsFunc(t.near, func(record []string) bool { return len(record) != len(t.first) }) {
		return nil, nil, false, false
	}
	labelled, named := 0, map[string]int{} // the columns that may have views
	for i, name := range t.first {
		switch of := columnName(name); {
		case opt.LabelColumn != "" && (of == columnName(opt.LabelColumn) || strconv.Itoa(i+1) == opt.LabelColumn),
			opt.LabelColumn == "" && slices.Contains(labelNames, of):
			labelled++
			continue
		case name == "" || of == columnName(opt.GroupColumn) || strconv.Itoa(i+1) == opt.GroupColumn: // or rows' numbers
			continue
		case labelled == 0 && i == len(t.first)-1: // which often has labels
			continue
		}
		_, number := token.ParseNumber(name)
		if _, twice := named[name]; number || twice {
			return nil, nil, false, false // no header, or a guess
		}
		named[name] = i
	}
	var columns [2][]string // of categories and of numbers
	for i, name := range t.first {
		if at, ok := named[name]; !ok || at != i {
			continue
		}
		numbers, numeric, short, values := 0, true, true, map[string]bool{}
		for _, record := range t.near {
			x, ok := token.ParseNumber(record[i])
			if numeric = numeric && ok; ok && !math.IsNaN(x) {
				numbers++
			}
			short = short && len(record[i]) <= maxCategoryBytes
			values[record[i]] = true
		}
		recurs := short && minRecurring*len(values) <= len(t.near)
		switch {
		case short && values[name]:
			return nil, nil, false, false // the first line is a document
		case numeric && numbers > 0: // a column without numbers is left out
			columns[1] = append(columns[1], name)
		case numeric:
		case recurs && float64(numbers) <= maxNumbers*float64(len(t.near)):
			columns[0] = append(columns[0], name)
		default:
			words = append(words, token.View{Columns: []string{name}}.String())
		}
	}
	for k, analyzer := range []token.Analyzer{token.Categories, token.Numbers} {
		if columns[k] == nil {
			continue
		}
		view := token.View{Columns: columns[k]}
		view.Analyzer = analyzer
		text := view.String()
		if n := len(columns[k]); n > 1 && len(words) == 0 && columns[1-k] != nil { // each column counts the same
			text = fmt.Sprintf("%d*%s", min(n, maxColumnsWeight), text)
		}
		others = append(others, text)
	}
	return words, others, columns[0] != nil, labelled == 1
}

// columnName returns a name without capitals, blanks, quotes and the mark of the byte order around it.
func columnName(name string) string {
	return strings.ToLower(strings.Trim(name, " \t\r\n\u00a0\ufeff\"'`"))
}

// findColumns finds label and text by the options and the first record. A column of labels that another source
// has may be missing.
func findColumns(first []string, opt *Options) (of columns, bad *SyntaxError) {
	of, bad = findGiven(first, opt)
	if bad != nil && opt.likeLabels {
		none := *opt
		none.LabelColumn = ""
		of, bad = findGiven(first, &none)
		of.label, of.unknown = -1, false
	}
	return of, bad
}

func findGiven(first []string, opt *Options) (of columns, bad *SyntaxError) {
	names := make([]string, len(first))
	for i, name := range first {
		names[i] = columnName(name)
	}
	of = columns{label: -1, text: -1, group: -1, name: -1, fields: len(first)}
	named := false
	one := func(at int, option string) int { // the first of two of a name would be a guess
		if at >= 0 && bad == nil && slices.Contains(first[at+1:], first[at]) {
			bad = fault("two columns called "+quote(first[at]), "one").withOption(option, "numbers it")
		}
		return at
	}
	find := func(given, option string) int {
		if given == "" || bad != nil {
			return -1
		}
		if n, err := strconv.Atoi(given); err == nil {
			if n < 1 || len(first) > 0 && n > len(first) {
				bad = fault(fmt.Sprintf("%d columns", len(first)), "a column "+given).withOption(option, "names or numbers it")
			}
			return n - 1
		}
		named = true
		at := slices.Index(first, given)
		if at < 0 {
			at = slices.Index(names, columnName(given))
		}
		if at < 0 {
			bad = fault("the columns "+quoteList(first), "one called "+quote(given)).withOption(option, "names or numbers it")
		}
		return one(at, option)
	}
	of.label, of.text = find(opt.LabelColumn, "LabelColumn"), find(opt.TextColumn, "TextColumn")
	of.group = find(opt.GroupColumn, "GroupColumn")
	if columns := opt.Tokenizer.Columns(); columns != nil && bad == nil {
		for _, column := range columns {
			of.row = append(of.row, find(column.Name, "Tokenizer"))
		}
		of.text = of.row[0]
	}
	if bad != nil {
		return of, bad
	}
	known := func(list []string, other int) int {
		for _, name := range list {
			if at := slices.Index(names, name); at >= 0 && at != other {
				return at
			}
		}
		return -1
	}
	if of.text < 0 {
		if at := known(textNames, of.label); at >= 0 && (named || of.label < 0 || len(first) > 2) {
			of.text, named = one(at, "TextColumn"), true
		}
	}
	if of.label < 0 && named {
		of.label = one(known(labelNames, of.text), "LabelColumn")
	}
	if bad != nil {
		return of, bad
	}
	if len(first) == 2 && of.label != of.text { // the other one
		if of.text < 0 && of.label >= 0 {
			of.text = 1 - of.label
		}
		if of.label < 0 && of.text >= 0 {
			of.label = 1 - of.text
		}
	}
	switch {
	case of.text >= 0:
	case len(first) == 0: // a long one
		of.label, of.text, of.fields = 0, 1, 2
	case len(first) == 1 && of.label < 0:
		of.text = 0
	case len(first) == 2:
		of.label, of.text = 0, 1
	default:
		return of, fault(fmt.Sprintf("%d columns, none of them called text: %s", len(first), quoteList(first)),
			"to know which is the text, or views of columns such as price,age=numbers").
			withOption("TextColumn", "names or numbers it")
	}
	if of.label == of.text || of.label >= 0 && slices.Contains(of.row, of.label) {
		return of, fault("the same column for labels and texts", "two columns").
			withOption("LabelColumn", "names or numbers another")
	}
	if named {
		of.header = first
		at := slices.Index(names, nameKey)
		if !slices.Contains(append([]int{of.label, of.text, of.group}, of.row...), at) {
			of.name = at
		}
		of.unknown = of.label < 0 && len(first) > 2
	}
	return of, nil
}
