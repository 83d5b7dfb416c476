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

// tableHeader is what the beginning of a table says of its columns, and what was guessed.
type tableHeader struct {
	columns
	labels  int    // of two columns, the one whose name says that it has labels; -1 where nothing was guessed
	numbers string // the views of columns that were taken for numbers and categories
	classes string // and the name of the column that labels were then taken from
}

// readHeader finds the columns by the options, the first record and those nearby. Where columns are taken for numbers
// and categories, opt.Tokenizer becomes their views.
func (in *input) readHeader(first []string, separator byte, opt *Options) (h tableHeader, bad *SyntaxError) {
	given := *opt
	if h.labels = in.headed(first, separator, opt); h.labels >= 0 {
		given.LabelColumn = first[h.labels]
	}
	h.columns, bad = findColumns(first, &given)
	unknown := bad != nil && bad.Option == "TextColumn" ||
		h.labels >= 0 && !slices.Contains(textNames, columnName(first[1-h.labels]))
	if !unknown {
		return h, bad
	}
	words, others, categories := in.viewed(first, separator, &given)
	if bad != nil && bad.Option == "TextColumn" && words == nil && others == nil && given.LabelColumn == "" {
		like := given // as if the last had them
		like.LabelColumn = strconv.Itoa(len(first))
		if words, others, _ := in.viewed(first, separator, &like); len(words) == 0 && len(others) > 0 {
			bad.Expected = "labels in one called " + strings.Join(labelNames, ", ") + ", else to know which has them"
			bad.Option = "LabelColumn"
			return h, bad
		}
	}
	switch {
	case len(words) == 0 && len(others) > 0 && (bad != nil || !categories): // else of two columns one is a text
		h.numbers = strings.Join(others, " + ")
		given.Tokenizer = token.Tokenizer{Views: h.numbers}
		opt.Tokenizer = given.Tokenizer
		h.columns, bad = findColumns(first, &given)
		if bad == nil && opt.LabelColumn == "" && h.label >= 0 {
			h.classes = first[h.label]
		}
	case bad != nil && len(words) > 0:
		words = append(words, others...)
		bad.Expected = "to know which is the text, or views of columns such as " + strings.Join(words, " + ")
	}
	return h, bad
}

// explain adds to an error of reading how columns that were taken for numbers can be read otherwise.
func (h *tableHeader) explain(err error) error {
	if bad := (*SyntaxError)(nil); h.numbers != "" && errors.As(err, &bad) && bad.Option == "" {
		bad.Option, bad.Remedy = "TextColumn", "names a column of texts"
	}
	return err
}

// warn warns of what was guessed, and of labels that may be in a column that none of the names is of.
func (h *tableHeader) warn(c *Corpus, first []string) {
	at, warn := place(c.Source, 1), (*warnings)(&c.Warnings)
	if h.numbers != "" {
		message := "no column of texts, "
		if h.classes != "" {
			message = fmt.Sprintf("labels in the column %s, and ", columnName(h.classes)) + message
		}
		warn.warn(Warning{
			Message: message + "the others read as views " + h.numbers, Count: 1, First: at,
			Option: "TextColumn", Remedy: "names a column of texts",
		})
	}
	if h.labels >= 0 && slices.ContainsFunc(c.Classes, func(name string) bool {
		return columnName(name) == columnName(first[h.labels])
	}) {
		warn.warn(Warning{
			Message: fmt.Sprintf("the first line, %s, taken for a header, though later documents have the label %s",
				quoteList(first), first[h.labels]), Count: 1, First: at,
			Option: "LabelColumn", Remedy: strconv.Itoa(h.labels+1) + " takes it for a document",
		})
	}
	if h.unknown {
		warn.warn(Warning{
			Message: "no column of labels: " + strings.Join(h.header, ", "), Count: 1, First: at,
			Option: "LabelColumn", Remedy: "names it",
		})
	}
}

// nearBytes are what is looked at before a table is read, as many as its buffer holds.
const nearBytes = 64 << 10

// firstRecord returns the first record without reading on, and its bytes; nil if it isn't near.
func (in *input) firstRecord(separator byte) (record []string, length int, err error) {
	head, err := in.r.Peek(nearBytes)
	if err != nil && err != io.EOF {
		return nil, 0, in.readError(in.line, err)
	}
	whole := err == io.EOF
	r := newCSV(bytes.NewReader(head), rune(separator))
	record, bad := r.Read()
	if length = int(r.InputOffset()); bad != nil || !whole && length == len(head) {
		return nil, 0, nil // the parser says what is wrong
	}
	return record, length, nil
}

// headed returns which of two columns has labels, where the first record names it and, as far as can be seen from
// here, no document has the name for its label; -1 elsewhere.
func (in *input) headed(first []string, separator byte, opt *Options) int {
	if len(first) != 2 || opt.LabelColumn+opt.TextColumn != "" || opt.Tokenizer.Rows() != nil {
		return -1
	}
	at := slices.IndexFunc(first, func(name string) bool { return slices.Contains(labelNames, columnName(name)) })
	if at < 0 || slices.Contains(labelNames, columnName(first[1-at])) {
		return -1
	}
	all, records := in.near(first, separator, func(record []string) bool {
		return len(record) == 2 && columnName(record[at]) != columnName(first[at])
	})
	if !all || records == 0 {
		return -1
	}
	return at
}

// spaced reports whether the first record has blanks before quotes.
func spaced(first []string) bool {
	return slices.ContainsFunc(first, func(name string) bool { return strings.HasPrefix(name, ` "`) })
}

// near reports whether all records nearby but the first are as they should be, and how many there are.
func (in *input) near(first []string, separator byte, good func(record []string) bool) (all bool, records int) {
	head, _ := in.r.Peek(nearBytes)
	whole := len(head) < nearBytes
	if spaced(first) {
		head = withoutBlanks(bytes.Clone(head), separator)
	}
	r := newCSV(bytes.NewReader(head), rune(separator))
	r.Read()
	for ; ; records++ {
		record, err := r.Read()
		if err != nil || !whole && int(r.InputOffset()) == len(head) {
			return true, records
		}
		if !good(record) {
			return false, records
		}
	}
}

// A column holds categories where its values are short and recur: those of the records nearby often enough in the mean,
// and no more than some of them numbers, since a column of numbers with a word among them is none.
const mostCategoryBytes, leastRecurring, mostNumbers = 64, 4, 0.5

// mostColumnsWeight is the greatest weight of a view.
const mostColumnsWeight = 1000

// viewed returns views of all named columns but that of labels, where the first record names them: one of
// each that has words in the records nearby, and one of those that have categories, if any, and of those that have
// numbers. It returns none where that can't be said or the terms are known.
func (in *input) viewed(first []string, separator byte, opt *Options) (words, others []string, categories bool) {
	known := opt.TokenizerLater != nil || opt.VocabularyLater != nil || opt.Vocabulary != nil
	if known || opt.TextColumn != "" || opt.Tokenizer != (token.Tokenizer{}).WithPairs(true) {
		return nil, nil, false
	}
	names, labels, blanks := slices.Clone(first), 0, spaced(first)
	seen, numbered := map[string]bool{}, map[int]bool{} // of columns without labels, whether all there are numbers
	for i, name := range first {
		if blanks {
			name = strings.Trim(name, ` "`)
			names[i] = name
		}
		switch of := columnName(name); {
		case opt.LabelColumn != "" && (of == columnName(opt.LabelColumn) || strconv.Itoa(i+1) == opt.LabelColumn),
			opt.LabelColumn == "" && slices.Contains(labelNames, of):
			labels++
			continue
		case name == "" || of == columnName(opt.GroupColumn) || strconv.Itoa(i+1) == opt.GroupColumn: // or rows' numbers
			continue
		}
		if _, number := token.ParseNumber(name); number || seen[name] {
			return nil, nil, false // no header, or a guess
		}
		seen[name], numbered[i] = true, true
	}
	some := map[int]int{}               // how many numbers there are that aren't missing
	values := map[int]map[string]bool{} // that are short; nil after a longer one
	for i := range numbered {
		values[i] = map[string]bool{}
	}
	all, records := in.near(first, separator, func(record []string) bool {
		if len(record) != len(first) {
			return false
		}
		for i := range numbered {
			x, ok := token.ParseNumber(record[i])
			if numbered[i] = numbered[i] && ok; ok && !math.IsNaN(x) {
				some[i]++
			}
			if len(record[i]) > mostCategoryBytes {
				values[i] = nil
			} else if values[i] != nil {
				values[i][record[i]] = true
			}
		}
		return true
	})
	if !all || records == 0 || labels != 1 {
		return nil, nil, false
	}
	var columns [2][]string // of categories and of numbers
	for i, name := range names {
		if values[i][first[i]] {
			return nil, nil, false // the first line is a document
		}
		recurs := values[i] != nil && leastRecurring*len(values[i]) <= records
		switch number, ok := numbered[i]; {
		case number && some[i] > 0: // a column without any has nothing to tell
			columns[1] = append(columns[1], name)
		case ok && !number && recurs && float64(some[i]) <= mostNumbers*float64(records):
			columns[0] = append(columns[0], name)
		case ok && !number:
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
			text = fmt.Sprintf("%d*%s", min(n, mostColumnsWeight), text)
		}
		others = append(others, text)
	}
	return words, others, columns[0] != nil
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
			bad = fault("two columns called "+quote(first[at]), "one")
			bad.Option, bad.Remedy = option, "numbers it"
		}
		return at
	}
	find := func(given, option string) int {
		if given == "" || bad != nil {
			return -1
		}
		if n, err := strconv.Atoi(given); err == nil {
			if n < 1 || len(first) > 0 && n > len(first) {
				bad = fault(fmt.Sprintf("%d columns", len(first)), "a column "+given)
				bad.Option, bad.Remedy = option, "names or numbers it"
			}
			return n - 1
		}
		named = true
		at := slices.Index(first, given)
		if at < 0 {
			at = slices.Index(names, columnName(given))
		}
		if at < 0 {
			bad = fault("the columns "+quoteList(first), "one called "+quote(given))
			bad.Option, bad.Remedy = option, "names or numbers it"
		}
		return one(at, option)
	}
	of.label, of.text = find(opt.LabelColumn, "LabelColumn"), find(opt.TextColumn, "TextColumn")
	of.group = find(opt.GroupColumn, "GroupColumn")
	if rows := opt.Tokenizer.Rows(); rows != nil && bad == nil {
		for _, name := range rows.Names() {
			of.row = append(of.row, find(name, "Tokenizer"))
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
		bad = fault(fmt.Sprintf("%d columns, none of them called text: %s", len(first), quoteList(first)),
			"to know which is the text, or views of columns such as price,age=numbers")
		bad.Option, bad.Remedy = "TextColumn", "names or numbers it"
		return of, bad
	}
	if of.label == of.text || of.label >= 0 && slices.Contains(of.row, of.label) {
		bad = fault("the same column for labels and texts", "two columns")
		bad.Option, bad.Remedy = "LabelColumn", "names or numbers another"
		return of, bad
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

// separator returns what separates the fields of a table: the comma, the semicolon, as spreadsheets write
// it where numbers have commas, or the TAB that makes the first record a header; without a header the TAB
// where it cuts all records nearby into as many fields, two at least, and else the comma.
func (in *input) separator(opt *Options) (byte, error) {
	for _, s := range []byte(",;\t") {
		first, _, err := in.firstRecord(s)
		if err != nil {
			return 0, err
		}
		if len(first) < 2 {
			continue
		}
		of, bad := findColumns(first, opt)
		if bad == nil && of.header != nil || in.headed(first, s, opt) >= 0 {
			return s, nil
		}
		if bad != nil {
			if words, others, _ := in.viewed(first, s, opt); len(words) > 0 || len(others) > 0 {
				return s, nil
			}
		}
	}
	head, _ := in.r.Peek(nearBytes)
	r, fields := newCSV(bytes.NewReader(head), '\t'), 0
	for {
		record, err := r.Read()
		cut := len(head) == nearBytes && int(r.InputOffset()) == len(head) // in the midst of a record, perhaps
		switch {
		case fields > 0 && (err == io.EOF || cut):
			return '\t', nil
		case err != nil || cut || len(record) < 2 || fields > 0 && len(record) != fields:
			return ',', nil
		}
		fields = len(record)
	}
}
