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

var csvFormat = fileFormat{name: FormatCSV, extensions: []string{".csv"}, read: readCSV}

// Reading a record or an object takes itemBytes of memory per field, key or label without its text,
// and up to recordCopies times the size of the text, including growing buffers.
const itemBytes, recordCopies = 256, 12

// readTable reads the documents of a table whose columns [table.detectColumns] has set. Records are
// read as encoding/csv reads them, but quotes within a field are allowed.
func readTable(ctx context.Context, in *input, opt *Options, m *progressMeter, t *table) (*Corpus, error) {
	if t.err != nil {
		return nil, t.err.withPosition(in.name, 1)
	}
	opt.Tokenizer = cmp.Or(t.tokenizer, opt.Tokenizer)
	t.tokenizerColumns = opt.Tokenizer.Columns()
	if opt.TextColumn == "" && t.hasHeader && t.rowColumns == nil && t.textColumn >= 0 && len(t.firstRecord) > 2 &&
		!slices.Contains(textNames, t.names[t.textColumn]) {
		opt.TextColumn = t.firstRecord[t.textColumn] // so that FormatOptions names the column for similar sources
	}
	if t.hasHeader {
		head, _ := in.r.Peek(t.firstBytes) // can't fail, because the bytes have been read before
		in.line += int64(bytes.Count(head, []byte{'\n'}))
		in.r.Discard(t.firstBytes)
	}
	in.quotedSeparator, t.maxLine = t.separator, opt.MaxLineBytes
	var c *Corpus
	var err error
	if t.keyed {
		c, err = readTextLines(ctx, in, opt, m, "JSON objects", t.addObject)
	} else {
		c, err = readTexts(ctx, in, opt, m, "records with a label and a text", t.parse)
	}
	if err != nil {
		return nil, t.addRemedy(err)
	}
	if c.ViewsInferred = t.viewsInferred; t.firstRecord != nil {
		c.Table = t.columns
	}
	t.warn(c)
	return c, nil
}

// sampleBytes is the size of the beginning of a table from which columns are detected.
const sampleBytes = 64 << 10

// beginRows prepares the reading of rows, and returns the beginning of the file.
func (in *input) beginRows(opt *Options) ([]byte, error) {
	if !opt.Strict {
		if err := in.checkNotBinary(); err != nil {
			return nil, err
		}
	}
	opt.mayHaveRows = true
	head, err := in.r.Peek(sampleBytes)
	if err == nil && longVector.Match(head) {
		in.r = bufio.NewReaderSize(in.r, sampleVectorBytes)
		head, err = in.r.Peek(sampleVectorBytes)
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
	for r.next() && (len(head) < sampleBytes || r.end < len(head)) { // the last record may be cut off
		if record := slices.Clone(r.fields); t.firstRecord == nil {
			t.firstRecord, t.firstBytes = record, r.end
		} else {
			t.sampleRecords = append(t.sampleRecords, record)
		}
	}
	t.detectColumns(opt)
	return t, nil
}

// document is a document of a table without its labels, which are added first.
type document struct {
	line              int32
	text              []byte   // text of the document; unused if documents are rows
	row               []string // fields of the tokenizer's columns
	weight, group, id string
}

func (t *table) add(p *parsedTexts, d *document) *SyntaxError {
	if t.weightColumn >= 0 {
		w, bad := parseWeight(d.weight)
		if bad != nil {
			return bad
		}
		p.weights = append(p.weights, w)
	}
	if t.groupColumn >= 0 {
		p.groups.add(strings.TrimSpace(d.group))
	}
	if t.rowColumns == nil {
		p.add(d.text, d.line)
	} else if bad := p.addRow(d.row, d.line); bad != nil {
		return bad
	}
	if d.id != "" {
		p.names.add(d.id)
	}
	return nil
}

func (t *table) parse(p *parsedTexts, check textCheck, data []byte) *SyntaxError {
	if len(data) > 2*blockBytes && !p.labels.memory.canAllocate(recordCopies*int64(len(data))) {
		return nil // the piece is discarded, because the memory limit is exceeded
	}
	clean := check.isClean(data)
	r := records{text: string(data), separator: t.separator, maxFields: len(t.columns)}
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
		if r.fieldCount != len(t.columns) {
			return newSyntaxError(fmt.Sprintf("%d fields", r.fieldCount),
				fmt.Sprintf("%d fields as in the first line", len(t.columns)))
		}
		if bad := check.checkLine(p, clean, raw, line); bad != nil {
			return bad
		}
		label = append(label[:0], field(t.labelColumn)...)
		if len(bytes.TrimSpace(label)) == 0 {
			p.labels.addUnlabelled()
		} else if bad := p.labels.add(label); bad != nil {
			return bad
		}
		d.line, d.row = line, t.appendFields(r.fields, d.row[:0])
		d.weight, d.group, d.id = field(t.weightColumn), field(t.groupColumn), field(t.idColumn)
		d.text = append(d.text[:0], field(t.textColumn)...)
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

func readLines(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	var tabs atomic.Int64
	add := func(p *parsedTexts, l []byte, line int32) *SyntaxError {
		if !p.skipBlank(l, line) {
			p.labels.addUnlabelled()
			p.add(l, line)
			if bytes.IndexByte(l, '\t') >= 0 {
				tabs.Add(1)
			}
		}
		return nil
	}
	c, err := readTextLines(ctx, in, opt, m, "texts, one per line", add)
	if err == nil && tabs.Load() == int64(c.Documents.Rows()) {
		c.warningList().addWithOption("each line has a TAB, and the text before it is read as words", tabs.Load(),
			position(in.name, 1),
			"Format", "tsv reads it as labels")
	}
	return c, err
}

// readCSV reads a table separated by commas, semicolons or TABs. It uses the first separator for
// which the first record is a header. Without a header, it uses TABs or semicolons only if they
// divide all of the first records into the same number of fields, at least two. TABs take
// precedence. Semicolons also require that numbers have decimal commas, or that the columns named
// by options are found with semicolons but not with commas. Otherwise it uses commas.
func readCSV(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	if err := in.addVectors(ctx, opt, in.separator()); err != nil {
		return nil, err
	}
	tables := make([]*table, 3)
	for i, separator := range []byte(",;\t") {
		t, err := in.table(separator, opt)
		if err != nil {
			return nil, err
		}
		if len(t.firstRecord) > 1 && t.hasHeader {
			return readTable(ctx, in, opt, m, t)
		}
		tables[i] = t
	}
	cuts := func(t *table) bool {
		return len(t.firstRecord) > 1 &&
			!slices.ContainsFunc(t.sampleRecords, func(record []string) bool { return len(record) != len(t.firstRecord) })
	}
	switch {
	case cuts(tables[2]):
		return readTable(ctx, in, opt, m, tables[2])
	case cuts(tables[1]) && tables[1].decimalComma, tables[0].err != nil && tables[1].err == nil && cuts(tables[1]):
		return readTable(ctx, in, opt, m, tables[1])
	}
	return readTable(ctx, in, opt, m, tables[0])
}
