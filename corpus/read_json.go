package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	label, text, group, id []string // the object's first of these keys is used; nil for none
	labelGiven             bool
	columns                token.Columns   // of rows; nil if a text is the document
	known                  map[string]bool // columns that occur in an object near the beginning
}

func readJSONL(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	before, err := in.arrayBegins()
	if err != nil {
		return nil, err
	}
	t, err := in.keys(before, opt)
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
		id: of(t.id, nil), columns: opt.Tokenizer.Columns(), known: t.known,
		labelGiven: opt.LabelColumn != "" && !opt.likeLabels}
	var c *Corpus
	if before > 0 {
		if err := in.skip(before); err != nil {
			return nil, err
		}
		in.quoted = '['
		c, err = readTexts(ctx, in, opt, m, "an array of objects",
			func(p *textPiece, check textCheck, data []byte) *SyntaxError {
				return keys.addArray(p, check, data, opt.MaxLineBytes)
			})
	} else {
		c, err = readTextLines(ctx, in, opt, m, "lines that are JSON objects", keys.add)
	}
	if err != nil {
		return nil, t.explain(err)
	}
	if t.near != nil {
		c.Table, c.Inferred = t.columns, t.inferred
	}
	return c, nil
}

// keys detects the columns of JSON objects after the first before bytes. Unless an option names
// them, it ignores columns of at most half of the first objects, or with arrays or objects.
func (in *input) keys(before int, opt *Options) (*table, error) {
	head, err := in.beginRows(opt)
	if err != nil {
		return nil, err
	}
	t, place, nested := &table{header: true, keys: true, known: map[string]bool{}}, map[string]int{}, map[int]bool{}
	column := func(key string) int {
		at, ok := place[columnName(key)]
		if !ok {
			at, t.first = len(t.first), append(t.first, key)
			place[columnName(key)] = at
		}
		return at
	}
	has := map[int]int{}
	for head = head[before:]; ; {
		head = bytes.TrimLeft(head, jsonBlanks+",")
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
			t.known[columnName(name)] = true
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
	for _, c := range opt.Tokenizer.Columns() { // numbers and categories may be missing
		column(c.Name)
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

// arrayBegins returns the number of bytes before the elements of an array, or 0 if the file isn't
// an array.
func (in *input) arrayBegins() (int, error) {
	head, err := in.r.Peek(4 << 10)
	if err != nil && err != io.EOF {
		return 0, in.readError(in.line, err)
	}
	blank := len(head) - len(bytes.TrimLeft(head, jsonBlanks))
	if blank == len(head) || head[blank] != '[' {
		return 0, nil
	}
	return blank + 1, nil
}

const jsonBlanks = " \t\r\n"

// arrayState tracks a JSON array from the start of an element.
type arrayState struct {
	depth             int // number of open brackets in the element
	inString, escaped bool
	closed            bool
}

// ends reports whether a byte ends an element: a comma, or the bracket that closes the array.
func (s *arrayState) ends(c byte) bool {
	switch {
	case s.closed:
	case s.inString:
		s.inString = c != '"' || s.escaped
		s.escaped = c == '\\' && !s.escaped
	case c == '"':
		s.inString = true
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		s.closed = s.depth < 0
		return s.closed
	case c == ',':
		return s.depth == 0
	}
	return false
}

// addArray adds elements of an array. Each is followed by a comma or bracket.
func (k *jsonKeys) addArray(p *textPiece, check textCheck, data []byte, most int) *SyntaxError {
	clean := check.clean(data)
	for line := int32(0); len(data) > 0; {
		var state arrayState
		end := slices.IndexFunc(data, state.ends)
		element := data
		if end >= 0 {
			element = data[:end]
		}
		object := bytes.Trim(element, jsonBlanks)
		first := line + int32(bytes.Count(element[:bytes.Index(element, object)], []byte{'\n'}))
		line += int32(bytes.Count(element, []byte{'\n'}))
		bad := check.look(p, clean, object, first)
		switch {
		case len(object) > most:
			bad = lineTooLong(most)
		case bad == nil && len(bytes.TrimSpace(object)) > 0:
			bad = k.add(p, object, first)
		case bad == nil:
			first, bad = line, fault(quote(data[max(end, 0):]), "a JSON object")
		}
		data = data[end+1:]
		rest := bytes.Trim(data, jsonBlanks)
		switch {
		case bad != nil:
		case end < 0:
			first, bad = line, fault("an array that isn't closed", "] at its end")
		case state.closed && len(rest) > 0:
			first = line + int32(bytes.Count(data[:bytes.Index(data, rest)], []byte{'\n'}))
			bad = fault(quote(rest)+" after the array", "the end of the file")
		case state.closed:
			return nil
		}
		if bad != nil {
			bad.Line = int64(first)
			return bad
		}
	}
	return nil
}

// add adds a line or an element.
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
			switch {
			case ok:
				row[column.Name], some = decodeNumbers(raw), true
			case !column.MayMiss() && !k.known[columnName(column.Name)]:
				return missing([]string{column.Name}, "Tokenizer")
			case !column.MayMiss():
				row[column.Name] = nil
			}
		}
		if !some {
			return missing(k.columns.Names(), "Tokenizer")
		}
		var err error
		if fields, err = k.columns.Fields(row); err != nil {
			return rowFault(err)
		}
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
		p.names = append(p.names, oneLine([]byte(name)))
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
