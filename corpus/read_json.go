package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// jsonKeys are the keys of JSON objects that are read, one object per line or in an array.
type jsonKeys struct {
	label, text, group, id, weight []string // the object's first of these keys is used; nil for none
	labelGiven                     bool
	columns                        token.Columns // of rows; nil if a text is the document
	table                          *table
}

func readJSONL(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	if err := in.openArray(opt.MaxLineBytes); err != nil {
		return nil, err
	}
	t, err := in.keys(opt)
	if err != nil {
		return nil, err
	}
	of := func(at int, usual []string) []string {
		if at < 0 || at >= len(t.first) {
			return usual
		}
		return t.first[at : at+1]
	}
	keys := &jsonKeys{label: of(t.label, labelNames), text: of(t.text, textNames), group: of(t.group, nil),
		weight: of(t.weight, nil),
		id:     of(t.id, nil), columns: opt.Tokenizer.Columns(), table: t,
		labelGiven: opt.LabelColumn != "" && !opt.likeLabels}
	c, err := readTextLines(ctx, in, opt, m, "JSON objects", keys.add)
	if err != nil {
		return nil, t.explain(err)
	}
	if t.near != nil {
		c.Table, c.Inferred = t.columns, t.inferred
	}
	return c, nil
}

// keys detects the columns of JSON objects. Unless an option names them, it ignores columns of at
// most half of the first objects, or with arrays or objects.
func (in *input) keys(opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t := &table{header: true, keys: true, strings: in.strings}
	place, nested := map[string]int{}, map[int]bool{}
	column := func(key string) int {
		at, ok := place[columnName(key)]
		if !ok {
			at, t.first = len(t.first), append(t.first, key)
			place[columnName(key)] = at
		}
		return at
	}
	has := map[int]int{}
	for {
		var object map[string]json.RawMessage
		d := json.NewDecoder(bytes.NewReader(head))
		if d.Decode(&object) != nil {
			break
		}
		members := json.NewDecoder(bytes.NewReader(head[:d.InputOffset()]))
		head = head[d.InputOffset():]
		var record []string
		members.Token()
		for members.More() { // a repeated key has its last value
			key, _ := members.Token()
			name, _ := key.(string)
			at := column(name)
			record = append(record, make([]string, len(t.first)-len(record))...)
			has[at]++
			var value json.RawMessage
			members.Decode(&value)
			switch v := decodeNumbers(value).(type) {
			case nil:
			case []any, map[string]any:
				nested[at] = true
			default:
				record[at] = fmt.Sprint(v)
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
	if t.find(opt); t.bad != nil && t.near != nil {
		return nil, t.bad.at(in.name, in.line)
	}
	opt.Tokenizer = t.tokenizerOr(opt.Tokenizer)
	return t, nil
}

// openArray makes the elements of an array lines of the input. It does nothing if the file isn't an
// array.
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
	element := int64(0) // number of the element
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
			return nil, fault("an array that isn't closed", "] at its end").at("", element)
		case err != nil:
			return nil, fault(err.Error(), "an array of JSON objects").at("", element)
		}
		json.Compact(&compact, object)
		return append(compact.Bytes(), '\n'), nil
	})
	return nil
}

const jsonBlanks = " \t\r\n"

// add adds the document in a line.
func (k *jsonKeys) add(p *textPiece, l []byte, line int32) *SyntaxError {
	if p.skips(l, line) {
		return nil
	}
	if !p.labels.memory.room(itemBytes*int64(bytes.Count(l, []byte{','})) + copies*int64(len(l))) {
		return nil // the piece is discarded
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(l, &object); err != nil || object == nil {
		found := quote(bytes.TrimSpace(l))
		if err != nil {
			found += ": " + err.Error()
		}
		return fault(found, "a JSON object in one line")
	}
	missing := func(keys []string, option string) *SyntaxError {
		present := slices.Sorted(maps.Keys(object))
		bad := fault("no key "+strings.Join(keys, ", ")+" among "+quoteList(present), "an object with it")
		if len(keys) > 1 {
			bad.Expected = "an object with one of them"
		}
		return bad.withOption(option, "names it")
	}
	var text string
	var fields []string
	if k.columns != nil {
		row, some := map[string]any{}, false
		for _, column := range k.columns {
			raw, ok := firstKey(object, []string{column.Name})
			row[column.Name], some = decodeNumbers(raw), some || ok
		}
		if !some {
			return missing(k.columns.Names(), "Tokenizer")
		}
		var err error
		if fields, err = k.columns.Fields(row); err != nil {
			return rowFault(err)
		}
		k.table.plain(fields)
	} else {
		raw, ok := firstKey(object, k.text)
		if !ok {
			return missing(k.text, "TextColumn")
		}
		if err := json.Unmarshal(raw, &text); err != nil {
			return fault("the text "+quote(raw), "a JSON string")
		}
	}
	raw, ok := firstKey(object, k.label)
	if !ok && k.labelGiven {
		return missing(k.label, "LabelColumn")
	}
	names, bad := jsonLabels(raw)
	if bad == nil {
		bad = p.labels.addNames(names)
	}
	if bad == nil && k.weight != nil {
		var w float64
		raw, _ := firstKey(object, k.weight)
		w, bad = parseWeight(fmt.Sprint(decodeNumbers(raw)))
		p.weights = append(p.weights, w)
	}
	if bad == nil && k.group != nil {
		raw, ok := firstKey(object, k.group)
		if !ok {
			return missing(k.group, "GroupColumn")
		}
		var group []string
		if group, bad = jsonLabels(raw); bad == nil {
			bad = p.groups.addGroup(strings.Join(group, ","))
		}
	}
	switch {
	case bad != nil:
	case k.columns == nil:
		p.add([]byte(strings.Join(names, ",")), []byte(text), line)
	default:
		bad = p.addRow(fields, line)
	}
	if bad != nil {
		return bad
	}
	raw, _ = firstKey(object, k.id)
	if name := fmt.Sprint(decodeNumbers(raw)); len(raw) > 0 && name != "" && name != "<nil>" {
		p.names.add(name)
	}
	return nil
}

// firstKey returns the value of the first key that the object has, either exactly or by its column
// name.
func firstKey(object map[string]json.RawMessage, keys []string) (json.RawMessage, bool) {
	for _, key := range keys {
		if raw, ok := object[key]; ok {
			return raw, true
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

// decodeNumbers decodes a valid JSON value and keeps the text of numbers. It returns nil if raw is
// empty.
func decodeNumbers(raw json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.Decode(&value)
	return value
}

// jsonLabels returns the labels in a JSON value: a string, number or boolean is a label, an array
// holds several, and null and "" none.
func jsonLabels(raw json.RawMessage) ([]string, *SyntaxError) {
	value := decodeNumbers(raw)
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
			return nil, fault("the label "+quote(raw), "a string, a number, true, false, null, or an array of them")
		}
	}
	return names, nil
}
