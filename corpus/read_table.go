package corpus

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/gramengine/gram/corpus/token"
)

var csvFormat = fileFormat{name: FormatCSV, endings: []string{".csv"}, read: readCSV}

// Memory while a record or an object is read: that of a field, a key or a label beside its text, in bytes, and how
// often a text is there, with what is copied while buffers grow.
const itemBytes, copies = 256, 12

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
	h, bad := in.readHeader(first, separator, opt)
	if bad != nil {
		return nil, bad.at(in.name, 1)
	}
	if h.header != nil {
		skipped, err := in.skip(bytes)
		if err != nil {
			return nil, in.readError(1, err)
		}
		in.line += int64(skipped)
	}
	in.quoted, in.spaced = separator, spaced(first)
	p := &tableParser{opt.MaxLineBytes, rune(separator), in.spaced, h.columns, opt.Tokenizer.Rows()}
	c, err := readTexts(ctx, in, opt, m, "records with a label and a text", p.parse)
	if err != nil {
		return nil, h.explain(err)
	}
	h.warn(c, first)
	return c, nil
}

// newCSV returns a reader of records.
func newCSV(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.LazyQuotes, c.FieldsPerRecord = separator, true, -1
	return c
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
		if p.group >= 0 {
			if bad := out.groups.addGroup(record[p.group]); bad != nil {
				return fail(bad, line)
			}
		}
		if bad := out.addRow(p.rows, label, text, int32(line-1)); bad != nil {
			return fail(bad, line)
		}
		if p.name >= 0 && record[p.name] != "" {
			out.names = append(out.names, oneLine([]byte(record[p.name])))
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
