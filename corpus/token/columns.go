package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// If a tokenizer's views name columns, documents are rows of a table, with one field for each of
// [Tokenizer.Columns].

// AnalyzerCategories is the analyzer for category columns, such as countries. It occurs only in
// views. Each value, without surrounding white space, is a single term. Missing values also have a
// term.
const AnalyzerCategories Analyzer = "categories"

// Column is a column of a table, with the kinds of its views.
type Column struct {
	Name                         string
	IsText, IsNumber, IsCategory bool
	Size                         int // number of coordinates of each vector in a vector column; otherwise 0
}

// IsOptional reports whether the column may be missing in a JSON object or table. All its values
// are then missing values.
func (c Column) IsOptional() bool { return c.IsNumber || c.IsCategory }

// Columns are the distinct columns of a tokenizer's views. A row has one field for each column, in
// this order.
type Columns []Column

// Columns returns the columns of the views, in the order of the views, or nil for a tokenizer of
// texts.
func (t Tokenizer) Columns() Columns {
	views, _ := t.SplitViews()
	var columns Columns
	indices := map[string]int{}
	for _, v := range views {
		for _, name := range v.Columns {
			at, ok := indices[name]
			if !ok {
				at, columns = len(columns), append(columns, Column{Name: name})
				indices[name] = at
			}
			c := &columns[at]
			switch v.Analyzer {
			case AnalyzerNumbers, AnalyzerValues:
				c.IsNumber = true
			case AnalyzerCategories:
				c.IsCategory = true
			case AnalyzerVector:
				c.Size = v.size
			default:
				c.IsText = true
			}
		}
	}
	return columns
}

// HasColumns reports whether documents are rows of a table.
func (t Tokenizer) HasColumns() bool {
	return t.Columns() != nil
}

// FirstIndices maps each name to the index of its first occurrence in names.
func FirstIndices(names []string) map[string]int {
	indices := make(map[string]int, len(names))
	for i, name := range slices.Backward(names) {
		indices[name] = i
	}
	return indices
}

// Names returns the names of the columns in the order of the fields.
func (c Columns) Names() (names []string) {
	for _, column := range c {
		names = append(names, column.Name)
	}
	return names
}

// HasNumbers reports whether at least one column holds numbers.
func (c Columns) HasNumbers() bool {
	return slices.ContainsFunc(c, func(of Column) bool { return of.IsNumber })
}

// indicesIn returns each column's index in names, or -1 if the column is missing. It fails if all
// columns are missing, or if a column that isn't optional is missing.
func (c Columns) indicesIn(names []string) ([]int, error) {
	from, found, indices := make([]int, len(c)), false, FirstIndices(names)
	for i, column := range c {
		from[i] = -1
		if at, ok := indices[column.Name]; ok {
			from[i] = at
		}
		found = found || from[i] >= 0
		if from[i] < 0 && (!column.IsOptional() || !found && i == len(c)-1) {
			return nil, &ColumnError{column.Name, "no such column among " + strings.Join(names, ", "),
				"the columns " + strings.Join(c.Names(), ", ")}
		}
	}
	return from, nil
}

// Arrange converts rows with one field per name to rows with one field per column of c. Fields of
// missing columns are empty. It fails if a required column or all columns are missing.
func (c Columns) Arrange(names []string, rows [][]string) ([][]string, error) {
	from, err := c.indicesIn(names)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = make([]string, len(c))
		for k, at := range from {
			if at >= 0 {
				out[i][k] = row[at]
			}
		}
	}
	return out, nil
}

// Fields returns the text of each column in a JSON object, as converted by [Column.Field]. Keys
// that aren't columns are ignored if no column is missing.
func (c Columns) Fields(object map[string]any) ([]string, error) {
	names := slices.Sorted(maps.Keys(object))
	from, err := c.indicesIn(names)
	if err != nil {
		return nil, err
	}
	known := FirstIndices(c.Names())
	unknown := slices.IndexFunc(names, func(name string) bool { _, ok := known[name]; return !ok })
	fields := make([]string, len(c))
	for i, column := range c {
		if from[i] < 0 && unknown >= 0 { // the column's name may be misspelt
			return nil, &ColumnError{column.Name, "missing key, but unknown key " + strconv.Quote(names[unknown]),
				"the keys " + strings.Join(c.Names(), ", ")}
		}
		if fields[i], err = column.Field(object[column.Name]); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// Field returns the field of a JSON value: the text of a string or number, of a boolean in a
// category column, or of an array in a vector column. null becomes an empty field.
func (c Column) Field(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		if c.IsCategory && !c.IsNumber {
			return strconv.FormatBool(v), nil
		}
	case []any:
		if c.Size > 0 {
			list, _ := json.Marshal(v)
			return string(list), nil
		}
	}
	return "", &ColumnError{c.Name, "the value " + quoteTruncated(fmt.Sprint(value)), "a string, a number or null"}
}

// DecodeObject decodes a JSON object. Numbers are decoded to [json.Number].
func DecodeObject(text []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&object); err == nil && object == nil {
		err = errors.New("null is not an object")
	}
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = errors.New("more after the object")
	}
	return object, err
}

// ParseObject parses a JSON object and returns its fields, as [Columns.Fields] does.
func (c Columns) ParseObject(text []byte) ([]string, error) {
	object, err := DecodeObject(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a JSON object with the keys %s", quoteTruncated(string(text)),
			strings.Join(c.Names(), ", "))
	}
	return c.Fields(object)
}

// ColumnError reports an error in a column, or in a field of a row.
type ColumnError struct{ Column, Found, Expected string }

func (e *ColumnError) Error() string {
	return fmt.Sprintf("column %s: %s, expected %s", e.Column, e.Found, e.Expected)
}

func quoteTruncated(value string) string { return fmt.Sprintf("%.60q", value) }

// CategoryValues returns the values of a category column in a sorted vocabulary.
func (t Tokenizer) CategoryValues(column string, vocabulary []string) (values []string) {
	views, _ := t.SplitViews()
	for i, v := range views {
		if v.Analyzer != AnalyzerCategories || !slices.Contains(v.Columns, column) {
			continue
		}
		begin := viewPrefix(i) + column + "\x00"
		first, _ := slices.BinarySearch(vocabulary, begin)
		for _, term := range vocabulary[first:] {
			value, is := strings.CutPrefix(term, begin)
			if !is {
				break
			}
			values = append(values, value)
		}
		break
	}
	return values
}

// String returns the text form of a view without its weight.
func (v View) String() string {
	columns := make([]string, len(v.Columns))
	for i, name := range v.Columns {
		columns[i] = name
		if strings.ContainsAny(name, ",=+*:\"\\ ") || strconv.Quote(name) != `"`+name+`"` {
			columns[i] = strconv.Quote(name)
		}
	}
	var options []string // width and scales of numbers
	if v.width > 0 {
		options = append(options, fmt.Sprintf("width=%v", v.width))
	}
	for _, knots := range v.knots {
		scale := make([]string, len(knots))
		for k, x := range knots {
			scale[k] = strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "+", "") // + separates views
		}
		options = append(options, strings.Join(scale, "|"))
	}
	form := v.Tokenizer.String()
	if v.Analyzer == AnalyzerVector {
		options = []string{strconv.Itoa(v.size)}
	}
	if options != nil {
		form += ":" + strings.Join(options, ",")
	}
	if v.Columns == nil {
		return form
	}
	return strings.Join(columns, ",") + "=" + form
}

// cutColumns parses the columns at the start of a view's text: names, quoted if necessary,
// separated by commas and followed by =.
func cutColumns(s string) (columns []string, rest string, err error) {
	head := splitOutside(s, '=')[0]
	if head == s || len(splitOutside(head, ':')) > 1 {
		return nil, s, nil
	}
	seen := map[string]bool{}
	for _, name := range splitOutside(head, ',') {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, `"`) {
			if name, err = strconv.Unquote(name); err != nil {
				name = ""
			}
		}
		if name == "" || seen[name] {
			return nil, s, errors.New("columns must be distinct names separated by commas and followed by =, such as " +
				"title,body=words")
		}
		columns, seen[name] = append(columns, name), true
	}
	return columns, s[len(head)+1:], nil
}

// formatCategory returns a category term in readable form. The term has no view prefix.
func formatCategory(term string) string {
	name, value, _ := strings.Cut(term, "\x00")
	if value == "" {
		return name + " missing"
	}
	if quoted := strconv.Quote(value); quoted != `"`+value+`"` {
		value = quoted
	}
	return name + ": " + value
}

func (v *viewScanners) feedRow(fields []string) error {
	v.current, v.rowTerms, v.text, v.fields, v.numbers = 0, v.rowTerms[:0], v.text[:0], v.fields[:0], v.numbers[:0]
	for i, column := range v.columns {
		field, x := fields[i], math.NaN()
		if column.IsNumber {
			var ok bool
			if x, ok = ParseNumber(field); !ok {
				return &ColumnError{column.Name, quoteTruncated(field), "a finite number, or an empty field"}
			}
		}
		if (column.IsText || column.IsCategory) && !utf8.ValidString(field) {
			field = string([]rune(field)) // replaces each invalid byte by U+FFFD
		}
		v.fields, v.numbers = append(v.fields, field), append(v.numbers, x)
	}
	for i := range v.views {
		view := &v.views[i]
		switch view.Analyzer {
		case AnalyzerNumbers, AnalyzerValues:
			for k, at := range v.viewColumns[i] {
				v.addNumber(i, k, v.numbers[at])
			}
		case AnalyzerCategories:
			for k, at := range v.viewColumns[i] {
				begin := len(v.text)
				v.text = appendTerm(v.text, i, view.Columns[k], strings.TrimSpace(v.fields[at]))
				v.add(v.text[begin:], 1)
			}
		case AnalyzerVector:
			if err := v.addVector(i, v.fields[v.viewColumns[i][0]]); err != nil {
				return err
			}
		default:
			begin := len(v.text)
			for k, at := range v.viewColumns[i] {
				if k > 0 {
					v.text = append(v.text, '\n')
				}
				v.text = append(v.text, v.fields[at]...)
			}
			v.scanners[i].Feed(v.text[begin:])
		}
	}
	return nil
}

// add adds a term with a count or value, unless the value is 0 in float32. Values are clamped to
// the range of float32.
func (v *viewScanners) add(term []byte, value float64) {
	if x := float32(min(max(value, -math.MaxFloat32), math.MaxFloat32)); x != 0 {
		v.rowTerms = append(v.rowTerms, RowTerm{term, x})
	}
}

func appendTerm(to []byte, view int, column, value string) []byte {
	return append(append(append(append(to, viewPrefix(view)...), column...), 0), value...)
}

// HasTerms reports whether the terms of the view come from numbers, categories or a vector instead
// of text.
func (v View) HasTerms() bool {
	return v.HasNumbers() || v.Analyzer == AnalyzerCategories || v.Analyzer == AnalyzerVector
}

// ColumnGroups returns groups of columns with distinguishable terms: each column of numbers,
// categories or vectors is a group, and all text columns are one group.
func (v View) ColumnGroups() (parts [][]string) {
	if !v.HasTerms() {
		return [][]string{v.Columns}
	}
	for _, name := range v.Columns {
		parts = append(parts, []string{name})
	}
	return parts
}

// NumberRange returns the smallest and the largest number of a column in training, or -Inf and +Inf
// if the column has no scale.
func (v View) NumberRange(column string) (lo, hi float64) {
	at := slices.Index(v.Columns, column)
	if at < 0 || at >= len(v.knots) {
		return math.Inf(-1), math.Inf(1)
	}
	return v.knots[at][0], v.knots[at][len(v.knots[at])-1]
}

// outsidePrefix is the prefix of an additional term for a number outside the range of its column's
// scale. No vocabulary contains such a term. The prefix alone is the term of a missing vector.
const outsidePrefix = ">"

// TermInfo describes a term of a numeric, vector or category column.
type TermInfo struct {
	Column    string
	Value     string // value of a category column, or a number outside the range of the scale
	IsNumber  bool   // true if the column holds numbers or vectors
	IsMissing bool
	IsVector  bool    // true if the column holds vectors
	Min, Max  float64 // range of the scale if the column holds numbers
}

// IsOutside reports whether the term is for a number outside the range of the scale.
func (r *TermInfo) IsOutside() bool { return r.IsNumber && r.Value != "" }

// DescribeTerms returns a function that describes terms of numeric, vector and category columns.
// The function returns nil for terms of text.
func (t Tokenizer) DescribeTerms() func(term string) *TermInfo {
	views, _ := t.SplitViews()
	return func(term string) *TermInfo {
		view, size := utf8.DecodeRuneInString(term)
		if size == 0 || view < 1 || int(view) > len(views) || !views[view-1].HasTerms() {
			return nil
		}
		v := &views[view-1]
		column, value, _ := strings.Cut(term[size:], "\x00")
		switch {
		case v.Analyzer == AnalyzerVector:
			return &TermInfo{Column: column, IsNumber: true, IsVector: true, IsMissing: value == outsidePrefix}
		case !v.HasNumbers():
			return &TermInfo{Column: column, Value: value, IsMissing: value == ""}
		}
		r := &TermInfo{Column: column, IsNumber: true, IsMissing: value == "-1"}
		r.Min, r.Max = v.NumberRange(column)
		if number, is := strings.CutPrefix(value, outsidePrefix); is {
			r.Value = number
		}
		return r
	}
}

// TermColumnGroup returns the element of [View.ColumnGroups] that contains the column of a term.
// The term has no view prefix.
func (v View) TermColumnGroup(term string) []string {
	if !v.HasTerms() {
		return v.Columns
	}
	name, _, _ := strings.Cut(term, "\x00")
	return []string{name}
}
