package corpus

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

var csvFormat = fileFormat{name: FormatCSV, endings: []string{".csv"}, read: readCSV}

// While a record or an object is read, a field, key or label takes itemBytes without its text, and
// there are up to copies copies of a text, including buffers that grow.
const itemBytes, copies = 256, 12

// readTable reads records as encoding/csv does, and allows quotes within a field. [table.find] sets
// the columns.
func readTable(ctx context.Context, in *input, opt *Options, m *meter, t *table) (*Corpus, error) {
	if t.bad != nil {
		return nil, t.bad.at(in.name, 1)
	}
	opt.Tokenizer = t.tokenizerOr(opt.Tokenizer)
	if opt.TextColumn == "" && t.header && t.row == nil && t.text >= 0 && len(t.first) > 2 &&
		!slices.Contains(textNames, t.names[t.text]) {
		opt.TextColumn = t.first[t.text] // for similar sources
	}
	if t.header {
		if err := in.skip(t.length); err != nil {
			return nil, err
		}
	}
	in.quoted = t.separator
	p := &tableParser{opt.MaxLineBytes, t}
	c, err := readTexts(ctx, in, opt, m, "records with a label and a text", p.parse)
	if err != nil {
		return nil, t.explain(err)
	}
	c.Table, c.Inferred = t.columns, t.inferred
	t.warn(c)
	return c, nil
}

// nearBytes is the size of the beginning of a table in which columns are detected.
const nearBytes = 64 << 10

// beginRows prepares the reading of rows, and returns the beginning of the file.
func (in *input) beginRows(opt *Options) ([]byte, error) {
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
	return head, nil
}

// table finds the columns of a table by the options and its beginning, which it leaves unread.
func (in *input) table(separator byte, opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t, r := &table{separator: separator}, newCSV(bytes.NewReader(head), separator)
	for {
		record, bad := r.Read()
		switch cut := len(head) == nearBytes && int(r.InputOffset()) == len(head); {
		case bad != nil || cut: // the parser reports the error
			t.find(opt)
			return t, nil
		case t.first == nil:
			t.first, t.length = record, int(r.InputOffset())
		default:
			t.near = append(t.near, record)
		}
	}
}

// newCSV returns a CSV reader.
func newCSV(r io.Reader, separator byte) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.LazyQuotes, c.FieldsPerRecord, c.TrimLeadingSpace = rune(separator), true, -1, separator != '\t'
	return c
}

// skip skips the first n bytes, which have been peeked at.
func (in *input) skip(n int) error {
	head, err := in.r.Peek(n)
	if err != nil {
		return in.readError(1, err)
	}
	in.line += int64(bytes.Count(head, []byte{'\n'}))
	in.r.Discard(n)
	return nil
}

// tableParser parses records.
type tableParser struct {
	maxLine int
	*table
}

func (p *tableParser) parse(out *textPiece, check textCheck, data []byte) *SyntaxError {
	separator := []byte{p.separator}
	fields, long := bytes.Count(data, separator), len(data) // upper bounds for a record
	if len(data) <= 2*blockBytes {
		fields, long = 0, 0 // limits are per line, because a quoted field may hold many lines
		for l := range bytes.Lines(data) {
			fields = max(fields, bytes.Count(l, separator))
		}
	}
	if !out.labels.memory.room(itemBytes*int64(fields) + copies*int64(long)) {
		return nil // the piece is discarded
	}
	clean := check.clean(data)
	r := newCSV(bytes.NewReader(data), p.separator)
	r.ReuseRecord = true
	var row []string // fields of the tokenizer's columns
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
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return fail(fault(parse.Err.Error(), "fields as in CSV"), parse.Line)
		}
		line, _ := r.FieldPos(0)
		raw := bytes.TrimLeft(data[begin:r.InputOffset()], "\r\n") // without preceding blank lines
		if len(raw) > p.maxLine+len("\r\n") {
			return fail(lineTooLong(p.maxLine), line)
		}
		if len(record) != len(p.columns) {
			expected := fmt.Sprintf("%d, as in the first line", len(p.columns))
			return fail(fault(fmt.Sprintf("%d fields", len(record)), expected), line)
		}
		if bad := check.look(out, clean, raw, int32(line-1)); bad != nil {
			return fail(bad, line)
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
		if p.weight >= 0 {
			w, bad := parseWeight(record[p.weight])
			if bad != nil {
				return fail(bad, line)
			}
			out.weights = append(out.weights, w)
		}
		if p.group >= 0 {
			if bad := out.groups.addGroup(record[p.group]); bad != nil {
				return fail(bad, line)
			}
		}
		if row = p.fields(record, row[:0]); p.row == nil {
			out.add(label, []byte(record[p.text]), int32(line-1))
		} else if bad := out.addRow(row, int32(line-1)); bad != nil {
			return fail(bad, line)
		}
		if p.id >= 0 && record[p.id] != "" {
			out.names = append(out.names, oneLine([]byte(record[p.id])))
		}
	}
}

// quoteState is the state of quotes in records, as encoding/csv interprets them.
type quoteState uint8

const (
	fieldStart quoteState = iota
	inField
	inQuotes
	quoteSeen   // after a quote in a quoted field, which may end it
	quoteReturn // after such a quote and a carriage return
)

// next returns the state after a byte. After a line end it is fieldStart exactly if a record ends
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
	case q == quoteSeen: // a doubled quote, or a quote within a field
		return inQuotes
	case q == fieldStart && separator != '\t' && (c == ' ' || '\t' <= c && c <= '\r'): // ignored, see newCSV
		return fieldStart
	}
	return inField
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
		c.warn().addOption("TAB in each line, with the text before it counted as words", tabs.Load(), place(in.name, 1),
			"Format", "tsv reads it as labels")
	}
	return c, err
}

// decimalCommas reports whether the records below the first have fields with commas, all of which are
// decimal numbers.
func (t *table) decimalCommas() bool {
	var fields []string
	for _, record := range t.near {
		for _, field := range record {
			if strings.Contains(field, ",") {
				fields = append(fields, field)
			}
		}
	}
	_, all := numbersOf(fields, true)
	return fields != nil && all
}

// readCSV reads a table separated by commas, semicolons or TABs: the first of these for which the
// first record is a header. A table without a header is separated by TABs if they divide all
// records nearby into the same number of fields, at least two, else by semicolons if these do and all
// commas are in decimal numbers, else by commas, or by semicolons if commas don't give the
// columns that options name.
func readCSV(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	tables := make([]*table, 3)
	for i, separator := range []byte(",;\t") {
		t, err := in.table(separator, opt)
		if err != nil {
			return nil, err
		}
		if len(t.first) > 1 && t.header {
			return readTable(ctx, in, opt, m, t)
		}
		tables[i] = t
	}
	cuts := func(t *table) bool {
		return len(t.first) > 1 &&
			!slices.ContainsFunc(t.near, func(record []string) bool { return len(record) != len(t.first) })
	}
	switch {
	case cuts(tables[2]):
		return readTable(ctx, in, opt, m, tables[2])
	case cuts(tables[1]) && tables[1].decimalCommas(), tables[0].bad != nil && tables[1].bad == nil && cuts(tables[1]):
		return readTable(ctx, in, opt, m, tables[1])
	}
	return readTable(ctx, in, opt, m, tables[0])
}
