package corpus

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

var csvFormat = fileFormat{name: FormatCSV, endings: []string{".csv"}, read: readCSV}

// Reading a record or an object takes itemBytes of memory per field, key or label without its text,
// and up to copies times the size of the text, including growing buffers.
const itemBytes, copies = 256, 12

// readTable reads the documents of a table whose columns [table.find] has set. Records are read as
// encoding/csv reads them, but quotes within a field are allowed.
func readTable(ctx context.Context, in *input, opt *Options, m *meter, t *table) (*Corpus, error) {
	if t.bad != nil {
		return nil, t.bad.at(in.name, 1)
	}
	opt.Tokenizer = cmp.Or(t.tokenizer, opt.Tokenizer)
	t.cut = opt.Tokenizer.Columns()
	if opt.TextColumn == "" && t.header && t.row == nil && t.text >= 0 && len(t.first) > 2 &&
		!slices.Contains(textNames, t.names[t.text]) {
		opt.TextColumn = t.first[t.text] // so that Form names the column for similar sources
	}
	if t.header {
		head, _ := in.r.Peek(t.length) // can't fail, because the bytes have been read before
		in.line += int64(bytes.Count(head, []byte{'\n'}))
		in.r.Discard(t.length)
	}
	in.quoted, t.maxLine = t.separator, opt.MaxLineBytes
	var c *Corpus
	var err error
	if t.keys {
		c, err = readTextLines(ctx, in, opt, m, "JSON objects", t.addObject)
	} else {
		c, err = readTexts(ctx, in, opt, m, "records with a label and a text", t.parse)
	}
	if err != nil {
		return nil, t.explain(err)
	}
	if c.Inferred = t.inferred; t.first != nil {
		c.Table = t.columns
	}
	t.warn(c)
	return c, nil
}

// nearBytes is the size of the beginning of a table from which columns are detected.
const nearBytes = 64 << 10

// beginRows prepares the reading of rows, and returns the beginning of the file.
func (in *input) beginRows(opt *Options) ([]byte, error) {
	if !opt.Strict {
		if err := in.notBinary(); err != nil {
			return nil, err
		}
	}
	opt.rows = true
	head, err := in.r.Peek(nearBytes)
	if err == nil && longVector.Match(head) {
		in.r = bufio.NewReaderSize(in.r, nearVectors)
		head, err = in.r.Peek(nearVectors)
	}
	if err != nil && err != io.EOF {
		return nil, in.readError(in.line, err)
	}
	return head, nil
}

// table detects the columns of a table from the options and the beginning of the table, which stays
// unread.
func (in *input) table(separator byte, opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t, r := &table{separator: separator}, records{text: string(head), separator: separator}
	for r.next() && (len(head) < nearBytes || r.end < len(head)) { // the last record may be cut off
		if record := slices.Clone(r.fields); t.first == nil {
			t.first, t.length = record, r.end
		} else {
			t.near = append(t.near, record)
		}
	}
	t.find(opt)
	return t, nil
}

// document is a document of a table without its labels, which are added first.
type document struct {
	line              int32
	text              []byte   // text of the document; unused if documents are rows
	row               []string // fields of the tokenizer's columns
	weight, group, id string
}

func (t *table) add(p *textPiece, d *document) *SyntaxError {
	if t.weight >= 0 {
		w, bad := parseWeight(d.weight)
		if bad != nil {
			return bad
		}
		p.weights = append(p.weights, w)
	}
	if t.group >= 0 {
		p.groups.add(strings.TrimSpace(d.group))
	}
	if t.row == nil {
		p.add(d.text, d.line)
	} else if bad := p.addRow(d.row, d.line); bad != nil {
		return bad
	}
	if d.id != "" {
		p.names.add(d.id)
	}
	return nil
}

// parse adds the documents of whole records.
func (t *table) parse(p *textPiece, check textCheck, data []byte) *SyntaxError {
	if len(data) > 2*blockBytes && !p.labels.memory.room(copies*int64(len(data))) {
		return nil // the piece is discarded, because the memory limit is exceeded
	}
	clean := check.clean(data)
	r := records{text: string(data), separator: t.separator, most: len(t.columns)}
	var d document
	var label []byte
	field := func(at int) string {
		if at < 0 {
			return ""
		}
		return r.fields[at]
	}
	add := func(line int32) *SyntaxError {
		raw := data[r.begin:r.end]
		if len(raw) > t.maxLine+len("\r\n") {
			return lineTooLong(t.maxLine)
		}
		if r.count != len(t.columns) {
			return fault(fmt.Sprintf("%d fields", r.count), fmt.Sprintf("%d, as in the first line", len(t.columns)))
		}
		if bad := check.look(p, clean, raw, line); bad != nil {
			return bad
		}
		label = append(label[:0], field(t.label)...)
		if len(bytes.TrimSpace(label)) == 0 {
			p.labels.addNone()
		} else if bad := p.labels.add(label); bad != nil {
			return bad
		}
		d.line, d.row = line, t.fields(r.fields, d.row[:0])
		d.weight, d.group, d.id = field(t.weight), field(t.group), field(t.id)
		d.text = append(d.text[:0], field(t.text)...)
		return t.add(p, &d)
	}
	for r.next() {
		if bad := add(int32(r.line)); bad != nil {
			bad.Line += int64(r.line)
			return bad
		}
	}
	return nil
}

func readLines(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	var tabs atomic.Int64
	add := func(p *textPiece, l []byte, line int32) *SyntaxError {
		if !p.skips(l, line) {
			p.labels.addNone()
			p.add(l, line)
			if bytes.IndexByte(l, '\t') >= 0 {
				tabs.Add(1)
			}
		}
		return nil
	}
	c, err := readTextLines(ctx, in, opt, m, "texts, one per line", add)
	if err == nil && tabs.Load() == int64(c.Documents.Rows()) {
		c.warn().addOption("each line has a TAB, and the text before it is read as words", tabs.Load(), place(in.name, 1),
			"Format", "tsv reads it as labels")
	}
	return c, err
}

// readCSV reads a table separated by commas, semicolons or TABs. It uses the first separator for
// which the first record is a header. Without a header, it uses TABs or semicolons only if they
// divide all of the first records into the same number of fields, at least two. TABs take
// precedence. Semicolons also require that numbers have decimal commas, or that commas don't give
// the columns that options name. Otherwise it uses commas.
func readCSV(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	if err := in.addVectors(ctx, opt, in.separator()); err != nil {
		return nil, err
	}
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
	case cuts(tables[1]) && tables[1].comma, tables[0].bad != nil && tables[1].bad == nil && cuts(tables[1]):
		return readTable(ctx, in, opt, m, tables[1])
	}
	return readTable(ctx, in, opt, m, tables[0])
}
