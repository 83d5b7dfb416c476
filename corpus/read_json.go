package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
)

var jsonlFormat = fileFormat{name: FormatJSONL, extensions: []string{".jsonl", ".ndjson", ".json"}, read: readJSONL,
	matchesLine: func(l []byte) bool {
		l = bytes.TrimSpace(l)
		array, is := bytes.CutPrefix(l, []byte("["))
		array = bytes.TrimLeft(array, jsonBlanks)
		return l[0] == '{' && l[len(l)-1] == '}' || is && (len(array) == 0 || array[0] == '{')
	}}

func readJSONL(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	if err := in.openArray(opt.MaxLineBytes); err != nil {
		return nil, err
	}
	if err := in.addVectors(ctx, opt, 0); err != nil {
		return nil, err
	}
	t, err := in.detectKeys(opt)
	if err != nil {
		return nil, err
	}
	return readTable(ctx, in, opt, m, t)
}

// detectKeys detects the columns of JSON objects. A column that no option names is ignored if it is
// in at most half of the first objects, or contains objects, or arrays other than vectors.
func (in *input) detectKeys(opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t := &table{hasHeader: true, keyed: true, stringColumns: in.strings}
	place, nested, has := map[string]int{}, map[int]bool{}, map[int]int{}
	column := func(key string) int {
		at, ok := place[normalizeName(key)]
		if !ok {
			at, t.firstRecord = len(t.firstRecord), append(t.firstRecord, key)
			place[normalizeName(key)] = at
		}
		return at
	}
	objects := json.NewDecoder(bytes.NewReader(head))
	for object := (json.RawMessage)(nil); objects.Decode(&object) == nil && object[0] == '{'; {
		members := json.NewDecoder(bytes.NewReader(object))
		members.UseNumber()
		var record []string
		members.Token()
		for members.More() { // if a key is repeated, its last value is used
			key, _ := members.Token()
			at := column(key.(string))
			record = append(record, make([]string, len(t.firstRecord)-len(record))...)
			has[at]++
			var value any
			members.Decode(&value)
			var err error
			record[at], err = anyColumn.Field(value)
			if _, list := value.([]any); list || err != nil {
				if nested[at] = true; token.ParseVector(record[at]) == nil {
					record[at] = ""
				}
			}
		}
		t.sampleRecords = append(t.sampleRecords, record)
	}
	for _, c := range opt.Tokenizer.Columns() {
		if c.IsOptional() {
			column(c.Name)
		}
	}
	for i := range t.sampleRecords {
		t.sampleRecords[i] = append(t.sampleRecords[i], make([]string, len(t.firstRecord)-len(t.sampleRecords[i]))...)
	}
	t.isIgnored = func(at int) bool { return nested[at] || 2*has[at] <= len(t.sampleRecords) }
	if t.detectColumns(opt); t.sampleRecords == nil {
		t.err = nil // the first object is longer than head
	}
	return t, nil
}

// anyColumn is a column that accepts all JSON values except objects.
var anyColumn = token.Column{IsCategory: true, Size: 1}

// openArray converts the elements of an array to lines of the input. It does nothing if the file
// isn't an array.
func (in *input) openArray(maxElement int) error {
	head, err := in.r.Peek(4 << 10)
	if err != nil && err != io.EOF {
		return in.readError(in.line, err)
	}
	if head = bytes.TrimLeft(head, jsonBlanks); len(head) == 0 || head[0] != '[' {
		return nil
	}
	limited := &io.LimitedReader{R: in.r, N: math.MaxInt64}
	d := json.NewDecoder(limited)
	d.Token()
	element := int64(0) // number of the element, from 1
	in.replaceText(func() ([]byte, error) {
		var object json.RawMessage
		var compact bytes.Buffer
		element++
		limited.N = int64(maxElement) + 1
		more := d.More()
		if more {
			err = d.Decode(&object)
		} else if _, err = d.Token(); err == nil {
			if _, err = d.Token(); err == io.EOF {
				return nil, io.EOF
			}
			return nil, newSyntaxError("data after the array", "the end of the file").withPosition("", element)
		}
		switch {
		case limited.N == 0:
			return nil, lineTooLong(maxElement).withPosition("", element)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, newSyntaxError("an unclosed array", "] at its end").withPosition("", element)
		case err != nil:
			return nil, newSyntaxError(err.Error(), "an array of JSON objects").withPosition("", element)
		}
		json.Compact(&compact, object)
		return append(compact.Bytes(), '\n'), nil
	})
	return nil
}

const jsonBlanks = " \t\r\n"

func (t *table) addObject(p *parsedTexts, l []byte, line int32) *SyntaxError {
	if p.skipBlank(l, line) {
		return nil
	}
	if !p.labels.memory.canAllocate(itemBytes*int64(bytes.Count(l, []byte{','})) + recordCopies*int64(len(l))) {
		return nil // the piece is discarded, because the memory limit is exceeded
	}
	object, err := token.DecodeObject(l)
	if err != nil {
		return newSyntaxError(quote(bytes.TrimSpace(l))+": "+err.Error(), "a JSON object in one line")
	}
	var bad *SyntaxError // first error in the lines
	// value returns the value of a column or, if the column is unknown, of the first usual key in
	// the object.
	value := func(at int, usual []string, option string) any {
		keys := usual
		if at >= 0 && at < len(t.firstRecord) {
			keys = t.firstRecord[at : at+1]
		}
		v, ok := firstKey(object, keys)
		if !ok && option != "" && bad == nil {
			bad = missingKeyError(object, keys, option)
		}
		return v
	}
	labels := func(value any) (names []string) {
		if bad == nil {
			names, bad = jsonLabels(value)
		}
		return names
	}
	d := document{line: line}
	d.weight, _ = anyColumn.Field(value(t.weightColumn, nil, ""))
	d.id, _ = anyColumn.Field(value(t.idColumn, nil, ""))
	if t.rowColumns == nil {
		v := value(t.textColumn, textNames, "TextColumn")
		if text, ok := v.(string); ok {
			d.text = []byte(text)
		} else if bad == nil {
			bad = newSyntaxError("the text "+quoteJSON(v), "a JSON string")
		}
	} else {
		d.row, bad = t.objectFields(object)
	}
	option := ""
	if t.labelNamed {
		option = "LabelColumn"
	}
	names := labels(value(t.labelColumn, labelNames, option))
	if t.groupColumn >= 0 {
		d.group = strings.Join(labels(value(t.groupColumn, nil, "GroupColumn")), ",")
	}
	if bad == nil {
		bad = p.labels.addNames(names)
	}
	if bad == nil {
		bad = t.add(p, &d)
	}
	return bad
}

func missingKeyError(object map[string]any, keys []string, option string) *SyntaxError {
	expected := "an object with this key"
	if len(keys) > 1 {
		expected = "an object with one of these keys"
	}
	present := slices.Sorted(maps.Keys(object))
	return newSyntaxError("no key "+strings.Join(keys, ", ")+" among "+quoteList(present), expected).withOption(option,
		"sets its name")
}

func (t *table) objectFields(object map[string]any) ([]string, *SyntaxError) {
	row, some := make([]string, len(t.tokenizerColumns)), false
	for i, column := range t.tokenizerColumns {
		v, ok := firstKey(object, []string{column.Name})
		var err error
		if row[i], err = column.Field(v); err != nil {
			return nil, rowError(err)
		}
		some = some || ok
	}
	if !some {
		return nil, missingKeyError(object, t.tokenizerColumns.Names(), "Tokenizer")
	}
	t.normalizeNumbers(row)
	return row, nil
}

// firstKey returns the value of the first of keys that the object has. Exact matches take
// precedence over matches of normalized names.
func firstKey(object map[string]any, keys []string) (any, bool) {
	for _, key := range keys {
		if v, ok := object[key]; ok {
			return v, true
		}
	}
	for _, key := range keys {
		for _, present := range slices.Sorted(maps.Keys(object)) {
			if normalizeName(present) == normalizeName(key) {
				return object[present], true
			}
		}
	}
	return nil, false
}

func quoteJSON(value any) string {
	text, _ := json.Marshal(value)
	return quote(text)
}

// jsonLabels returns the labels in a JSON value: a string, number or boolean is a label, an array
// holds several labels, and null, "" and "-" mean no label.
func jsonLabels(value any) ([]string, *SyntaxError) {
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	var names []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			if name := strings.TrimSpace(v); name != "" && name != noLabel {
				names = append(names, name)
			}
		case json.Number:
			names = append(names, canonicalNumber(v.String()))
		case bool:
			names = append(names, strconv.FormatBool(v))
		case nil:
		default:
			return nil, newSyntaxError("the label "+quoteJSON(value),
				"a string, a number, true, false, null, or an array of them")
		}
	}
	return names, nil
}
