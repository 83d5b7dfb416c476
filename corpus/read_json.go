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

var jsonlFormat = fileFormat{name: FormatJSONL, endings: []string{".jsonl", ".ndjson", ".json"}, read: readJSONL,
	line: func(l []byte) bool {
		l = bytes.TrimSpace(l)
		array, is := bytes.CutPrefix(l, []byte("["))
		array = bytes.TrimLeft(array, jsonBlanks)
		return l[0] == '{' && l[len(l)-1] == '}' || is && (len(array) == 0 || array[0] == '{')
	}}

func readJSONL(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	if err := in.openArray(opt.MaxLineBytes); err != nil {
		return nil, err
	}
	if err := in.addVectors(ctx, opt, 0); err != nil {
		return nil, err
	}
	t, err := in.keys(opt)
	if err != nil {
		return nil, err
	}
	return readTable(ctx, in, opt, m, t)
}

// keys detects the columns of JSON objects. A column that no option names is ignored if it is in at
// most half of the first objects, or contains arrays or objects.
func (in *input) keys(opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t := &table{header: true, keys: true, strings: in.strings}
	place, nested, has := map[string]int{}, map[int]bool{}, map[int]int{}
	column := func(key string) int {
		at, ok := place[columnName(key)]
		if !ok {
			at, t.first = len(t.first), append(t.first, key)
			place[columnName(key)] = at
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
			record = append(record, make([]string, len(t.first)-len(record))...)
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
		t.near = append(t.near, record)
	}
	for _, c := range opt.Tokenizer.Columns() {
		if c.MayMiss() {
			column(c.Name)
		}
	}
	for i := range t.near {
		t.near[i] = append(t.near[i], make([]string, len(t.first)-len(t.near[i]))...)
	}
	t.ignored = func(at int) bool { return nested[at] || 2*has[at] <= len(t.near) }
	if t.find(opt); t.near == nil {
		t.bad = nil // the first object is longer than head
	}
	return t, nil
}

// anyColumn is a column that accepts JSON values of all kinds.
var anyColumn = token.Column{Category: true, Size: 1}

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
	in.produce(func() ([]byte, error) {
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
			return nil, fault("data after the array", "the end of the file").at("", element)
		}
		switch {
		case limited.N == 0:
			return nil, lineTooLong(maxElement).at("", element)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil, fault("an unclosed array", "] at its end").at("", element)
		case err != nil:
			return nil, fault(err.Error(), "an array of JSON objects").at("", element)
		}
		json.Compact(&compact, object)
		return append(compact.Bytes(), '\n'), nil
	})
	return nil
}

const jsonBlanks = " \t\r\n"

// addObject adds the document in a line.
func (t *table) addObject(p *textPiece, l []byte, line int32) *SyntaxError {
	if p.skips(l, line) {
		return nil
	}
	if !p.labels.memory.room(itemBytes*int64(bytes.Count(l, []byte{','})) + copies*int64(len(l))) {
		return nil // the piece is discarded, because the memory limit is exceeded
	}
	object, err := token.DecodeObject(l)
	if err != nil {
		return fault(quote(bytes.TrimSpace(l))+": "+err.Error(), "a JSON object in one line")
	}
	var bad *SyntaxError // the first error
	// value returns the value of a column or, if the column is unknown, of the first usual key in
	// the object.
	value := func(at int, usual []string, option string) any {
		keys := usual
		if at >= 0 && at < len(t.first) {
			keys = t.first[at : at+1]
		}
		v, ok := firstKey(object, keys)
		if !ok && option != "" && bad == nil {
			bad = missing(object, keys, option)
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
	d.weight, _ = anyColumn.Field(value(t.weight, nil, ""))
	d.id, _ = anyColumn.Field(value(t.id, nil, ""))
	if t.row == nil {
		v := value(t.text, textNames, "TextColumn")
		if text, ok := v.(string); ok {
			d.text = []byte(text)
		} else if bad == nil {
			bad = fault("the text "+quoteJSON(v), "a JSON string")
		}
	} else {
		d.row, bad = t.rowOf(object)
	}
	option := ""
	if t.labelGiven {
		option = "LabelColumn"
	}
	names := labels(value(t.label, labelNames, option))
	if t.group >= 0 {
		d.group = strings.Join(labels(value(t.group, nil, "GroupColumn")), ",")
	}
	if bad == nil {
		bad = p.labels.addNames(names)
	}
	if bad == nil {
		bad = t.add(p, &d)
	}
	return bad
}

// missing returns the error for an object that has none of the keys.
func missing(object map[string]any, keys []string, option string) *SyntaxError {
	expected := "an object with this key"
	if len(keys) > 1 {
		expected = "an object with one of these keys"
	}
	present := slices.Sorted(maps.Keys(object))
	return fault("no key "+strings.Join(keys, ", ")+" among "+quoteList(present), expected).withOption(option,
		"sets its name")
}

// rowOf returns the fields of the tokenizer's columns in an object.
func (t *table) rowOf(object map[string]any) ([]string, *SyntaxError) {
	row, some := make([]string, len(t.cut)), false
	for i, column := range t.cut {
		v, ok := firstKey(object, []string{column.Name})
		var err error
		if row[i], err = column.Field(v); err != nil {
			return nil, rowFault(err)
		}
		some = some || ok
	}
	if !some {
		return nil, missing(object, t.cut.Names(), "Tokenizer")
	}
	t.plain(row)
	return row, nil
}

// firstKey returns the value of the first of keys that the object has. Exact matches take
// precedence over matches after columnName.
func firstKey(object map[string]any, keys []string) (any, bool) {
	for _, key := range keys {
		if v, ok := object[key]; ok {
			return v, true
		}
	}
	for _, key := range keys {
		for _, present := range slices.Sorted(maps.Keys(object)) {
			if columnName(present) == columnName(key) {
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
			return nil, fault("the label "+quoteJSON(value),
				"a string, a number, true, false, null, or an array of them")
		}
	}
	return names, nil
}
