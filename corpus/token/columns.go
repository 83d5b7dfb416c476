package token

import (
	"bytes"
	"cmp"
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

// A tokenizer whose views name columns takes rows of a table, with one field for each of
// [Tokenizer.Columns].

// Numbers is the analyzer of a view of number columns. It occurs only in views.
//
// The scale of a column has up to 9 knots, which are quantiles of the training documents. Let u be
// the position of a number among the knots, by linear interpolation. The term of knot k has a value
// proportional to exp(-2(u-k)²/w²), where w is the view's width, 1 by default. The Bhattacharyya
// product of two numbers is approximately exp(-(u-u')²/2w²), a Gaussian kernel (rbf) of scaled
// numbers. Its error is at most .11 with seven or nine knots, and .21 with fewer. With w = 1 the
// product of numbers three or more knots apart is 0. Source: Jebara, Kondor and Howard, JMLR 5
// (2004), §3.1.
const Numbers Analyzer = "numbers"

// Categories is the analyzer of a view of category columns, such as countries. It occurs only in
// views. Each value is a term, whatever it contains, without surrounding white space. A missing
// value is a term, too.
const Categories Analyzer = "categories"

// Maximum number of knots of a column, and sum of a number's term counts.
const maxKnots, numberTerms = 9, 64

// Bounds of a width: with a smaller width a number has one or two terms, with a larger one all
// terms are nearly equal.
const minWidth, maxWidth = 1, 4

// ParseNumber parses a value of a number column. It returns NaN if the value is missing: empty, NA,
// N/A, NaN, null, None, <NA>, #N/A or a question mark. ok is true if the value is missing or a
// finite number.
func ParseNumber(value string) (x float64, ok bool) {
	value = strings.TrimSpace(value)
	switch strings.ToLower(value) {
	case "", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "?": // as in pandas and R
		return math.NaN(), true
	}
	x, err := strconv.ParseFloat(value, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Column is a column of a table, with the kinds of its views.
type Column struct {
	Name                   string
	Text, Number, Category bool
}

// MayMiss reports whether the column may be missing in a JSON object or table. Its values are then
// missing.
func (c Column) MayMiss() bool { return c.Number || c.Category }

// Columns are the distinct columns of a tokenizer's views. A row has one field for each, in this
// order.
type Columns []Column

// Columns returns the columns of the views, in the order of the views, or nil for a tokenizer of
// texts.
func (t Tokenizer) Columns() Columns {
	views, _ := t.Split()
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
			case Numbers:
				c.Number = true
			case Categories:
				c.Category = true
			default:
				c.Text = true
			}
		}
	}
	return columns
}

// HasColumns reports whether documents are rows of a table.
func (t Tokenizer) HasColumns() bool {
	views, err := t.Split()
	return err == nil && len(views) > 0 && views[0].Columns != nil
}

// Indices returns the first index of each name.
func Indices(names []string) map[string]int {
	indices := make(map[string]int, len(names))
	for i, name := range slices.Backward(names) {
		indices[name] = i
	}
	return indices
}

// Names returns the names of the columns.
func (c Columns) Names() (names []string) {
	for _, column := range c {
		names = append(names, column.Name)
	}
	return names
}

// HasNumbers reports whether a column holds numbers.
func (c Columns) HasNumbers() bool {
	return slices.ContainsFunc(c, func(of Column) bool { return of.Number })
}

// from returns the index in names of each column, or -1 for a missing column. It fails if a text
// column or all columns are missing.
func (c Columns) from(names []string) ([]int, error) {
	from, found, indices := make([]int, len(c)), false, Indices(names)
	for i, column := range c {
		from[i] = -1
		if at, ok := indices[column.Name]; ok {
			from[i] = at
		}
		found = found || from[i] >= 0
		if from[i] < 0 && (!column.MayMiss() || !found && i == len(c)-1) {
			return nil, &ColumnError{column.Name, "no such column among " + strings.Join(names, ", "),
				"the columns " + strings.Join(c.Names(), ", ")}
		}
	}
	return from, nil
}

// Arrange reorders rows with a field for each of names to rows with a field for each column. Fields
// of missing columns are empty. It fails if a text column or all columns are missing.
func (c Columns) Arrange(names []string, rows [][]string) ([][]string, error) {
	from, err := c.from(names)
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

// Fields returns the fields of a JSON object. Strings and numbers keep their text, true and false
// are values of a category column, and null is an empty field. Keys that aren't columns are ignored
// if no column is missing.
func (c Columns) Fields(object map[string]any) ([]string, error) {
	names := slices.Sorted(maps.Keys(object))
	from, err := c.from(names)
	if err != nil {
		return nil, err
	}
	known := Indices(c.Names())
	unknown := slices.IndexFunc(names, func(name string) bool { _, ok := known[name]; return !ok })
	fields := make([]string, len(c))
	for i, column := range c {
		if from[i] < 0 && unknown >= 0 { // the column's name may be misspelt
			return nil, &ColumnError{column.Name, "no such key, but an unknown key " + strconv.Quote(names[unknown]),
				"the keys " + strings.Join(c.Names(), ", ")}
		}
		switch v := object[column.Name].(type) {
		case nil:
		case string:
			fields[i] = v
		case json.Number:
			fields[i] = v.String()
		default:
			if b, ok := v.(bool); ok && column.Category && !column.Number {
				fields[i] = strconv.FormatBool(b)
				break
			}
			return nil, &ColumnError{column.Name, "the value " + cut(fmt.Sprint(v)), "a string, a number or null"}
		}
	}
	return fields, nil
}

// ParseObject returns the fields of a text that is a JSON object, as Fields does.
func (c Columns) ParseObject(text []byte) ([]string, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&object)
	if _, end := d.Token(); err != nil || object == nil || end != io.EOF {
		return nil, fmt.Errorf("%s, expected a JSON object with the keys %s", cut(string(text)),
			strings.Join(c.Names(), ", "))
	}
	return c.Fields(object)
}

// ColumnError reports an error in a column, or in a field of a row.
type ColumnError struct{ Column, Found, Expected string }

func (e *ColumnError) Error() string {
	return fmt.Sprintf("column %s: %s, expected %s", e.Column, e.Found, e.Expected)
}

// cut quotes a value and shortens it for a message.
func cut(value string) string { return fmt.Sprintf("%.60q", value) }

// number parses a field of a number column. It returns NaN if the field is missing.
func (c Column) number(field string) (float64, error) {
	x, ok := ParseNumber(field)
	if !ok {
		return 0, &ColumnError{c.Name, cut(field), "a finite number, or an empty field"}
	}
	return x, nil
}

// Values returns the values of a category column in a sorted vocabulary.
func (t Tokenizer) Values(column string, vocabulary []string) (values []string) {
	views, _ := t.Split()
	for i, v := range views {
		if v.Analyzer != Categories || !slices.Contains(v.Columns, column) {
			continue
		}
		begin := prefixOf(i) + column + "\x00"
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

// Unfitted reports whether a number column has no scale; see [Tokenizer.Fit].
func (t Tokenizer) Unfitted() bool {
	views, _ := t.Split()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == Numbers && v.knots == nil })
}

// Fit returns the tokenizer with scales for number columns without one: quantiles of rows. Existing
// scales are unchanged.
//
// It fails if a field isn't a number, or if a column has no numbers.
func (t Tokenizer) Fit(rows [][]string) (Tokenizer, error) {
	if err := t.Validate(); err != nil || !t.Unfitted() {
		return t, err
	}
	columns := t.Columns()
	values := make([][]float64, len(columns))
	for i, row := range rows {
		for k, column := range columns {
			if !column.Number {
				continue
			}
			x, err := column.number(row[k])
			if err != nil {
				return t, fmt.Errorf("document %d: %w", i, err)
			}
			if !math.IsNaN(x) {
				values[k] = append(values[k], x)
			}
		}
	}
	views, err := t.Split()
	indices := Indices(columns.Names())
	for i := range views {
		v := &views[i]
		if v.Analyzer != Numbers || v.knots != nil {
			continue
		}
		for _, name := range v.Columns {
			x := values[indices[name]]
			if len(x) == 0 {
				return t, fmt.Errorf("token: no numbers in column %s of %d rows", name, len(rows))
			}
			slices.Sort(x)
			var knots []float64
			for q := range maxKnots {
				knots = append(knots, x[q*(len(x)-1)/(maxKnots-1)])
			}
			v.knots = append(v.knots, slices.Compact(knots))
		}
	}
	return OfViews(views), err
}

// WidthOpen reports whether a number view has no width.
func (t Tokenizer) WidthOpen() bool {
	views, _ := t.Split()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == Numbers && v.width == 0 })
}

// WithWidth returns the tokenizer with the width in number views that have none. It returns t
// unchanged if there is no such view, or if the width is out of range.
func (t Tokenizer) WithWidth(width float64) Tokenizer {
	return t.eachNumbers(func(v *View) { v.width = cmp.Or(v.width, width) })
}

// Brief returns a short text form: without scales, and with only the first column of views of more
// than three, as in "age,… 12 more=numbers:width=2". It can't be parsed.
func (t Tokenizer) Brief() string {
	views, err := t.Unfit().Split()
	if err != nil || len(views) == 0 {
		return t.String()
	}
	for i := range views {
		v := &views[i]
		if more := len(v.Columns) - 1; more > 2 {
			v.Columns = []string{v.Columns[0], fmt.Sprintf("… %d more", more)}
		}
	}
	return strings.NewReplacer(`"… `, "… ", ` more"`, " more").Replace(OfViews(views).Views)
}

// Unfit returns the tokenizer without the scales of number columns.
func (t Tokenizer) Unfit() Tokenizer { return t.eachNumbers(func(v *View) { v.knots = nil }) }

// eachNumbers returns the tokenizer with changed number views.
func (t Tokenizer) eachNumbers(change func(v *View)) Tokenizer {
	views, err := t.Split()
	some := false
	for i := range views {
		if views[i].Analyzer == Numbers {
			change(&views[i])
			some = true
		}
	}
	if out := OfViews(views); err == nil && some && out.Validate() == nil {
		return out
	}
	return t
}

// parseNumbers parses the text after numbers: the width, and the ascending knots of each column,
// separated by |. "" means that neither is set.
func (v *View) parseNumbers(s string) error {
	if width, ok := strings.CutPrefix(s, "width="); ok {
		width, s, _ = strings.Cut(width, ",")
		var err error
		if v.width, err = strconv.ParseFloat(width, 64); err != nil || !(v.width >= minWidth && v.width <= maxWidth) {
			return fmt.Errorf("width %q, expected a number from %d to %d", width, minWidth, maxWidth)
		}
	} else if strings.Contains(s, "=") {
		return fmt.Errorf("numbers:%s, expected a width as in numbers:width=2", s)
	}
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		var knots []float64
		for text := range strings.SplitSeq(part, "|") {
			x, ok := ParseNumber(text)
			if !ok || math.IsNaN(x) || len(knots) > 0 && x <= knots[len(knots)-1] || len(knots) == maxKnots {
				return fmt.Errorf("scale %q, expected up to %d ascending numbers such as 1|2.5|10, with commas between columns",
					part, maxKnots)
			}
			knots = append(knots, x)
		}
		v.knots = append(v.knots, knots)
	}
	if len(v.knots) != len(v.Columns) {
		return fmt.Errorf("%d scales for %d columns, expected one each", len(v.knots), len(v.Columns))
	}
	return nil
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
	if options != nil {
		form += ":" + strings.Join(options, ",")
	}
	if v.Columns == nil {
		return form
	}
	return strings.Join(columns, ",") + "=" + form
}

// cutColumns splits the columns from the front of a view's text: names, quoted if necessary,
// separated by commas and followed by =.
func cutColumns(s string) (columns []string, rest string, err error) {
	rest = s
	seen := map[string]bool{}
	for {
		var name string
		rest = strings.TrimLeft(rest, " ")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil && quoted[0] == '"' {
			name, _ = strconv.Unquote(quoted)
			rest = strings.TrimLeft(rest[len(quoted):], " ")
		} else if at := strings.IndexAny(rest, ",=:"); at >= 0 && rest[at] != ':' {
			name, rest = strings.TrimSpace(rest[:at]), rest[at:]
		} else if columns == nil {
			return nil, s, nil
		} else {
			return nil, s, errors.New("expected columns, =, and how they are cut, such as title,body=words")
		}
		if name == "" || rest == "" || rest[0] != ',' && rest[0] != '=' || seen[name] {
			return nil, s, errors.New("expected distinct column names separated by commas and followed by =, such as " +
				"title,body=words")
		}
		columns, seen[name] = append(columns, name), true
		if rest[0] == '=' {
			return columns, rest[1:], nil
		}
		rest = rest[1:]
	}
}

// readNumber returns a number term in readable form. The term has a column and a knot, or -1 for a
// missing number.
func (v *View) readNumber(term string) string {
	name, knot, _ := strings.Cut(term, "\x00")
	k, err := strconv.Atoi(knot)
	column := slices.Index(v.Columns, name)
	if err != nil || column < 0 || column >= len(v.knots) || k >= len(v.knots[column]) {
		return name
	}
	if k < 0 {
		return name + " missing"
	}
	return fmt.Sprintf("%s ≈ %.6g", name, v.knots[column][k])
}

// readCategory returns a category term in readable form. The term has a column and a value.
func readCategory(term string) string {
	name, value, _ := strings.Cut(term, "\x00")
	if value == "" {
		return name + " missing"
	}
	if quoted := strconv.Quote(value); quoted != `"`+value+`"` {
		value = quoted
	}
	return name + ": " + value
}

// numberCounts returns the counts of each knot's term for a number; their sum is numberTerms.
func numberCounts(knots []float64, width, x float64) []int {
	u := 0.0 // position of x among the knots
	for k := 1; k < len(knots); k++ {
		u += min(max((x/2-knots[k-1]/2)/(knots[k]/2-knots[k-1]/2), 0), 1) // halves, so that differences don't overflow
	}
	var total float64
	shares := make([]float64, len(knots))
	for k := range knots {
		d := (u - float64(k)) / width
		total += math.Exp(-2 * d * d)
		shares[k] = total
	}
	counts, before := make([]int, len(knots)), 0
	for k, s := range shares {
		end := int(math.Round(numberTerms * s / total))
		counts[k], before = end-before, end
	}
	return counts
}

// feedRow passes a row to the views of its columns. It returns the number of missing numbers.
func (v *viewScanners) feedRow(fields []string) (missing int, err error) {
	v.at, v.given, v.fields, v.numbers = 0, v.given[:0], v.fields[:0], v.numbers[:0]
	for i, column := range v.columns {
		field, x := fields[i], math.NaN()
		if column.Number {
			if x, err = column.number(field); err != nil {
				return 0, err
			}
			if math.IsNaN(x) {
				missing++
			}
		}
		if !utf8.ValidString(field) {
			field = string([]rune(field)) // U+FFFD for each invalid byte
		}
		v.fields, v.numbers = append(v.fields, field), append(v.numbers, x)
	}
	for i := range v.views {
		view := &v.views[i]
		switch view.Analyzer {
		case Numbers:
			for k, at := range v.of[i] {
				v.giveNumber(i, k, v.numbers[at])
			}
		case Categories:
			for k, at := range v.of[i] {
				v.give(i, view.Columns[k], strings.TrimSpace(v.fields[at]), 1)
			}
		default:
			var text []byte
			for k, at := range v.of[i] {
				if k > 0 {
					text = append(text, '\n')
				}
				text = append(text, v.fields[at]...)
			}
			v.scanners[i].Feed(text)
		}
	}
	return missing, nil
}

// giveNumber adds the terms of a number in a view's column, or none if the column has no scale.
func (v *viewScanners) giveNumber(view, column int, x float64) {
	of := &v.views[view]
	switch {
	case column >= len(of.knots):
	case math.IsNaN(x):
		v.give(view, of.Columns[column], "-1", numberTerms)
	default:
		for k, n := range numberCounts(of.knots[column], cmp.Or(of.width, 1), x) {
			v.give(view, of.Columns[column], strconv.Itoa(k), n)
		}
	}
}

// give adds a term n times.
func (v *viewScanners) give(view int, column, value string, n int) {
	if n > 0 {
		v.given = append(v.given, givenTerm{[]byte(prefixOf(view) + column + "\x00" + value), n})
	}
}

// Parts returns the columns of the view whose terms can be told apart: each column of numbers or
// categories, and all columns of a text together.
func (v View) Parts() (parts [][]string) {
	if v.Analyzer != Numbers && v.Analyzer != Categories {
		return [][]string{v.Columns}
	}
	for _, name := range v.Columns {
		parts = append(parts, []string{name})
	}
	return parts
}

// Range returns the smallest and the largest number of a column in training.
func (v View) Range(column string) (lo, hi float64) {
	at := slices.Index(v.Columns, column)
	if at < 0 || at >= len(v.knots) {
		return math.Inf(-1), math.Inf(1)
	}
	return v.knots[at][0], v.knots[at][len(v.knots[at])-1]
}

// TermPart returns the part of [View.Parts] that a term of the view belongs to, without the byte that
// numbers the view.
func (v View) TermPart(term string) []string {
	if v.Analyzer != Numbers && v.Analyzer != Categories {
		return v.Columns
	}
	name, _, _ := strings.Cut(term, "\x00")
	return []string{name}
}
