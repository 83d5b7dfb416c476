package sparse

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gramengine/gram/sparse/token"
)

// Names that columns and keys of labels and texts have where none is given, best first.
var (
	labelNames = []string{"label", "labels", "class", "category", "target", "sentiment", "topic"}
	textNames  = []string{"text", "content", "body", "message", "document", "review", "sentence", "comment", "tweet"}
)

// Memory while a record or an object is read: that of a field, a key or a label beside its text, in bytes, and how
// often a text is there, with what is copied while buffers grow.
const itemBytes, copies = 256, 12

// columns say which fields of a record are label and text.
type columns struct {
	label, text int      // from 0; label is -1 for none
	row         []int    // columns of views; nil where text is the document
	header      []string // nil where the first record is a document
	fields      int      // of every record
	unknown     bool     // there may be a column of labels, but its name isn't known
}

// readTable reads records of fields as encoding/csv does, quotes in the midst of a field allowed.
// If columns are given by name, or none are given and the first record holds names of textNames, it
// is the header; of two columns the name of one of labels does, too. The fields of two columns are else label and text,
// that of one is the text; numbers are a view.
func readTable(ctx context.Context, in *input, opt *Options, m *meter, separator byte) (*Corpus, error) {
	if !opt.Strict {
		if err := in.notBinary(); err != nil {
			return nil, err
		}
	}
	opt.rows = true
	if err := opt.askTokenizer(); err != nil {
		return nil, err
	}
	first, bytes, err := in.firstRecord(separator)
	if err != nil {
		return nil, err
	}
	given := *opt
	headed := in.headed(first, separator, opt)
	if headed >= 0 {
		given.LabelColumn = first[headed]
	}
	of, bad := findColumns(first, &given)
	numbers := "" // the view of columns that are taken for numbers
	unknown := bad != nil && bad.Option == "TextColumn" ||
		headed >= 0 && !slices.Contains(textNames, columnName(first[1-headed]))
	if unknown {
		switch words, view := in.viewed(first, separator, &given); {
		case words == "" && view != "":
			given.Tokenizer = token.Tokenizer{Views: view}
			opt.Tokenizer, numbers = given.Tokenizer, view
			of, bad = findColumns(first, &given)
		case bad != nil && words+view != "":
			bad.Expected = "to know which is the text, or views of columns such as " +
				strings.Join(slices.DeleteFunc([]string{words, view}, func(s string) bool { return s == "" }), " + ")
		}
	}
	if bad != nil {
		return nil, bad.at(in.name, 1)
	}
	if of.header != nil {
		skipped, err := in.skip(bytes)
		if err != nil {
			return nil, in.readError(1, err)
		}
		in.line += int64(skipped)
	}
	in.quoted, in.spaced = separator, spaced(first)
	p := &tableParser{opt.MaxLineBytes, rune(separator), in.spaced, of, opt.Tokenizer.Rows()}
	c, err := readTexts(ctx, in, opt, m, "records with a label and a text", p.parse)
	if err != nil {
		if bad := (*SyntaxError)(nil); numbers != "" && errors.As(err, &bad) && bad.Option == "" {
			bad.Option, bad.Remedy = "TextColumn", "names a column of texts"
		}
		return nil, err
	}
	warn := (*warnings)(&c.Warnings)
	if numbers != "" {
		warn.warn(Warning{
			Message: "no column of texts, those of numbers read as views " + numbers, Count: 1, First: place(in.name, 1),
			Option: "TextColumn", Remedy: "names a column of texts",
		})
	}
	if headed >= 0 && slices.ContainsFunc(c.Classes, func(name string) bool {
		return columnName(name) == columnName(first[headed])
	}) {
		warn.warn(Warning{
			Message: fmt.Sprintf("the first line, %s, taken for a header, though later documents have the label %s",
				quoteList(first), first[headed]), Count: 1, First: place(in.name, 1),
			Option: "LabelColumn", Remedy: strconv.Itoa(headed+1) + " takes it for a document",
		})
	}
	if of.unknown {
		warn.warn(Warning{
			Message: "no column of labels: " + strings.Join(of.header, ", "), Count: 1, First: place(in.name, 1),
			Option: "LabelColumn", Remedy: "names it",
		})
	}
	return c, nil
}

// newCSV returns a reader of records.
func newCSV(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.LazyQuotes, c.FieldsPerRecord = separator, true, -1
	return c
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

// viewed returns views of all named columns but that of labels, where the first record names them: one of columns that
// have numbers in the records nearby, and one of each other, in words. It returns "" where that can't be said or the
// terms are known.
func (in *input) viewed(first []string, separator byte, opt *Options) (words, numbers string) {
	known := opt.TokenizerLater != nil || opt.VocabularyLater != nil || opt.Vocabulary != nil
	if known || opt.TextColumn != "" || opt.Tokenizer != (token.Tokenizer{}).WithPairs(true) {
		return "", ""
	}
	labels, numbered := 0, map[int]bool{} // columns without labels, and whether all there are numbers
	names, some := make([]string, len(first)), map[int]bool{}
	for i, name := range first {
		if spaced(first) {
			name = strings.Trim(name, ` "`)
		}
		names[i] = name
		switch of := columnName(name); {
		case opt.LabelColumn != "" && (of == columnName(opt.LabelColumn) || strconv.Itoa(i+1) == opt.LabelColumn),
			opt.LabelColumn == "" && slices.Contains(labelNames, of):
			labels++
			continue
		case name == "": // of the rows' numbers
			continue
		}
		if _, number := token.ParseNumber(name); number || slices.Contains(names[:i], name) {
			return "", "" // no header, or a guess
		}
		numbered[i] = true
	}
	all, records := in.near(first, separator, func(record []string) bool {
		for i := range numbered {
			if len(record) == len(first) {
				x, ok := token.ParseNumber(record[i])
				numbered[i], some[i] = numbered[i] && ok, some[i] || !math.IsNaN(x)
			}
		}
		return len(record) == len(first)
	})
	if !all || records == 0 || labels != 1 {
		return "", ""
	}
	var view token.View
	var texts []string
	for i, name := range names {
		switch number, ok := numbered[i]; {
		case number && some[i]: // a column without any has nothing to tell
			view.Columns = append(view.Columns, name)
		case ok && !number:
			texts = append(texts, token.View{Columns: []string{name}}.String())
		}
	}
	if view.Analyzer = token.Numbers; view.Columns != nil {
		numbers = view.String()
	}
	return strings.Join(texts, " + "), numbers
}

// skip reads so many bytes and returns how many lines they end.
func (in *input) skip(n int) (lines int, err error) {
	head, err := in.r.Peek(n)
	if err != nil {
		return 0, err
	}
	lines = bytes.Count(head, []byte{'\n'})
	_, err = in.r.Discard(n)
	return lines, err
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
	of = columns{label: -1, text: -1, fields: len(first)}
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
		of.unknown = of.label < 0 && len(first) > 2
	}
	return of, nil
}

// tableParser parses records.
type tableParser struct {
	maxLine   int
	separator rune
	spaced    bool // blanks precede quotes, as in the first record
	columns
	rows *token.Rows // nil where text is the document
}

func (p *tableParser) parse(out *textPiece, check textCheck, data []byte) *SyntaxError {
	separator := []byte(string(p.separator))
	fields, long := bytes.Count(data, separator), len(data) // of a record, at most
	if len(data) <= 2*blockBytes {
		fields, long = 0, 0 // of a line: a quote that holds many of them is long
		for l := range bytes.Lines(data) {
			fields = max(fields, bytes.Count(l, separator))
		}
	}
	if !out.labels.memory.room(itemBytes*int64(fields) + copies*int64(long)) {
		return nil // the piece isn't looked at
	}
	if p.spaced {
		data = withoutBlanks(data, byte(p.separator))
	}
	clean := check.clean(data)
	r := newCSV(bytes.NewReader(data), p.separator)
	r.ReuseRecord = true
	for {
		begin := r.InputOffset()
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		fail := func(bad *SyntaxError, line int) *SyntaxError {
			bad.Line += int64(line) - 1
			return bad
		}
		var parse *csv.ParseError
		switch {
		case errors.As(err, &parse):
			return fail(fault(parse.Err.Error(), "fields as in CSV"), parse.Line)
		case err != nil:
			return fail(fault(err.Error(), "fields as in CSV"), 1)
		}
		line, _ := r.FieldPos(0)
		raw := bytes.TrimLeft(data[begin:r.InputOffset()], "\r\n") // blank lines before it
		if len(raw) > p.maxLine+len("\r\n") {
			return fail(lineTooLong(p.maxLine), line)
		}
		if len(record) != p.fields {
			expected := fmt.Sprintf("%d, as in the first line", p.fields)
			return fail(fault(fmt.Sprintf("%d fields", len(record)), expected), line)
		}
		var text []byte
		if p.rows == nil {
			text = []byte(record[p.text])
		} else {
			values := make([]string, len(p.row))
			for i, column := range p.row {
				values[i] = record[column]
			}
			text = []byte(p.rows.Text(values))
		}
		if !clean {
			if bad := check.fault(raw); bad != nil && check.strict {
				return fail(bad, line)
			}
			out.bad.add(check.count(raw), int32(line-1))
		}
		var label []byte
		if p.label >= 0 {
			label = []byte(record[p.label])
		}
		if len(bytes.TrimSpace(label)) == 0 {
			out.labels.addNone()
		} else if bad := out.labels.add(label); bad != nil {
			return fail(bad, line)
		}
		if bad := out.addRow(p.rows, label, text, int32(line-1)); bad != nil {
			return fail(bad, line)
		}
	}
}

// quoteState follows quotes through records, byte by byte, as encoding/csv reads them.
type quoteState uint8

const (
	fieldStart quoteState = iota
	inField
	inQuotes
	quoteSeen   // after a quote inside quotes: it may end them
	quoteReturn // and after a carriage return there
)

// next is the state after a byte. After a line end it is fieldStart exactly if a record ends
// there.
func (q quoteState) next(c, separator byte) quoteState {
	switch {
	case q == inQuotes || q == quoteReturn && c != '\n':
		if c == '"' {
			return quoteSeen
		}
		return inQuotes
	case c == separator || c == '\n':
		return fieldStart
	case q == fieldStart && c == '"':
		return inQuotes
	case q == quoteSeen && c == '\r':
		return quoteReturn
	case q == quoteSeen: // a doubled quote, or one in the midst
		return inQuotes
	}
	return inField
}

// withoutBlanks removes the blanks before fields, in place.
func withoutBlanks(data []byte, separator byte) []byte {
	kept, state := data[:0], fieldStart
	for _, c := range data {
		if state != fieldStart || c != ' ' {
			kept, state = append(kept, c), state.next(c, separator)
		}
	}
	return kept
}

func readLines(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	var tabs atomic.Int64
	add := func(p *textPiece, l []byte, line int32) *SyntaxError {
		if !p.skips(l, line) {
			p.labels.addNone()
			p.add(nil, l, line)
			if bytes.IndexByte(l, '\t') >= 0 {
				tabs.Add(1)
			}
		}
		return nil
	}
	c, err := readTextLines(ctx, in, opt, m, "texts, one per line", add)
	if err == nil && tabs.Load() == int64(c.Documents.Rows()) {
		(*warnings)(&c.Warnings).warn(Warning{
			Message: "TAB in each line, what stands before it counted as words", Count: tabs.Load(),
			First: place(in.name, 1), Option: "Format", Remedy: "tsv takes it for labels",
		})
	}
	return c, err
}

// readCSV reads a table with commas, semicolons or TABs, as its first lines show.
func readCSV(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	if err := opt.askTokenizer(); err != nil {
		return nil, err
	}
	separator, err := in.separator(opt)
	if err != nil {
		return nil, err
	}
	return readTable(ctx, in, opt, m, separator)
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
		of, bad := findColumns(first, opt)
		if len(first) < 2 {
			continue
		}
		if bad == nil && of.header != nil || in.headed(first, s, opt) >= 0 {
			return s, nil
		}
		if words, numbers := in.viewed(first, s, opt); bad != nil && words+numbers != "" {
			return s, nil
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
