package token

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A tokenizer whose views name columns cuts rows: texts that are JSON objects with these keys, such as
// {"title":"Red bike","price":120}. Readers of tables and of JSON make them, see [Rows].

// Numbers is the analyzer of a view whose columns hold numbers. It stands in views alone.
//
// A number becomes places on a scale of knots, which are up to 9 quantiles of the training documents: with u its
// place among them, linear between neighbours, the term of knot k counts in proportion to exp(-2(u-k)²/w²), w being
// the view's width, 1 where it isn't given. The Bhattacharyya product of two numbers is near exp(-(u-u')²/2w²), a
// Gaussian kernel (rbf) of scaled numbers. Its error is at most .11 with seven or nine knots and .21 with
// fewer; with w = 1 the product of numbers three or more knots apart is 0. Source: Jebara, Kondor and Howard,
// JMLR 5 (2004), §3.1.
const Numbers Analyzer = "numbers"

// Categories is the analyzer of a view whose columns hold one of some values each, such as countries. It stands in
// views alone. A value is a term, whatever is in it, but for white space around it, and so is that there is none.
const Categories Analyzer = "categories"

// Knots of a column of numbers, and terms that a number counts.
const maxKnots, numberTerms = 9, 64

// Bounds of a width: below, a number counts a knot or two, and above all of them nearly alike.
const minWidth, maxWidth = 1, 4

// ParseNumber reads a value of a view of numbers, which is NaN where it is missing: empty, NA, N/A, NaN, null, None,
// <NA>, #N/A or a question mark. It reports whether the value is one of these or a finite number.
func ParseNumber(value string) (x float64, ok bool) {
	value = strings.TrimSpace(value)
	switch strings.ToLower(value) {
	case "", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "?": // as pandas has it, and R
		return math.NaN(), true
	}
	x, err := strconv.ParseFloat(value, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Rows says what rows a tokenizer cuts. It may be used concurrently.
type Rows struct {
	names   []string       // the columns, each once
	place   map[string]int // of each among names
	numbers []bool         // whether they hold numbers
	mayMiss []bool         // whether they hold numbers or categories
}

// Rows returns the rows that the views name columns of; nil for a tokenizer of texts.
func (t Tokenizer) Rows() *Rows {
	views, _ := t.Split()
	if len(views) == 0 || views[0].Columns == nil {
		return nil
	}
	r := &Rows{place: map[string]int{}}
	for _, v := range views {
		for _, name := range v.Columns {
			at, ok := r.place[name]
			if !ok {
				at, r.names = len(r.names), append(r.names, name)
				r.place[name] = at
				r.numbers, r.mayMiss = append(r.numbers, false), append(r.mayMiss, false)
			}
			r.numbers[at] = r.numbers[at] || v.Analyzer == Numbers
			r.mayMiss[at] = r.mayMiss[at] || v.Analyzer == Numbers || v.Analyzer == Categories
		}
	}
	return r
}

// Names returns the columns, each once, in the order of the views; nil for nil.
func (r *Rows) Names() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.names)
}

// MayMiss reports whether a row need not have column i: one of numbers or categories, which are missing then. It must
// have one of its columns. False for columns that aren't there.
func (r *Rows) MayMiss(i int) bool { return r != nil && i >= 0 && i < len(r.mayMiss) && r.mayMiss[i] }

// HasNumbers reports whether a view counts numbers, not terms of text.
func (r *Rows) HasNumbers() bool { return r != nil && slices.Contains(r.numbers, true) }

// Text returns the text of a document: values[i] is that of Names()[i]. Values that lack are empty.
func (r *Rows) Text(values []string) string {
	object := map[string]string{}
	if r != nil {
		for i, name := range r.names {
			object[name] = ""
			if i < len(values) {
				object[name] = values[i]
			}
		}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(object) // strings can be encoded, with U+FFFD for what isn't UTF-8
	return strings.TrimSuffix(b.String(), "\n")
}

// RowError says what is wrong with a row.
type RowError struct{ Found, Expected string }

func (e *RowError) Error() string { return "token: " + e.Found + ", expected " + e.Expected }

// Check checks that a text is a row with all columns and with numbers where they are expected, and counts those that
// are missing. Any text is one for nil. Errors: a [*RowError].
func (r *Rows) Check(text []byte) (missing int, err error) {
	if r == nil {
		return 0, nil
	}
	values, err := r.values(text)
	for i, v := range values {
		if x, _ := ParseNumber(v); r.numbers[i] && math.IsNaN(x) {
			missing++
		}
	}
	return missing, err
}

// values returns the values of the columns of a row. Errors: a [*RowError].
func (r *Rows) values(text []byte) ([]string, error) {
	expected := "a JSON object with " + strings.Join(r.names, ", ")
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&object)
	if _, end := d.Token(); err != nil || object == nil || end != io.EOF {
		return nil, &RowError{fmt.Sprintf("the text %.60q", text), expected}
	}
	unknown := "" // the least key that isn't a column: perhaps one that is misspelt
	for key := range object {
		if _, known := r.place[key]; !known && (unknown == "" || key < unknown) {
			unknown = key
		}
	}
	values, none := make([]string, len(r.names)), true
	for i, name := range r.names {
		value, ok := object[name]
		none = none && !ok
		switch {
		case ok:
		case unknown != "":
			return nil, &RowError{fmt.Sprintf("no %s in an object with %.60q", name, unknown), expected}
		case !r.MayMiss(i) || none && i == len(r.names)-1:
			return nil, &RowError{"no " + name + " in an object", expected}
		}
		switch v := value.(type) {
		case nil: // missing
		case string:
			values[i] = v
		case json.Number:
			values[i] = v.String()
		default:
			if b, ok := v.(bool); ok && r.MayMiss(i) && !r.numbers[i] {
				values[i] = strconv.FormatBool(b)
				break
			}
			return nil, &RowError{fmt.Sprintf("the value %.60q of %s", fmt.Sprint(v), name), "a string, a number or null"}
		}
		if _, ok := ParseNumber(values[i]); r.numbers[i] && !ok {
			return nil, &RowError{fmt.Sprintf("%.60q in the column %s", values[i], name),
				"a finite number, or nothing where it is missing"}
		}
	}
	return values, nil
}

// Unfitted reports whether there are columns of numbers without a scale; see [Tokenizer.Fit].
func (t Tokenizer) Unfitted() bool {
	views, _ := t.Split()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == Numbers && v.knots == nil })
}

// Fit returns the tokenizer with scales for columns of numbers that have none: quantiles of rows. It changes no other.
//
// Errors: a text that is no row, a column without a number.
func (t Tokenizer) Fit(rows []string) (Tokenizer, error) {
	if err := t.Validate(); err != nil || !t.Unfitted() {
		return t, err
	}
	r := t.Rows()
	values := make([][]float64, len(r.names))
	for i, row := range rows {
		of, err := r.values([]byte(row))
		if err != nil {
			return t, fmt.Errorf("document %d: %w", i, err)
		}
		for k, v := range of {
			if x, _ := ParseNumber(v); r.numbers[k] && !math.IsNaN(x) {
				values[k] = append(values[k], x)
			}
		}
	}
	views, err := t.Split()
	for i := range views {
		v := &views[i]
		if v.Analyzer != Numbers || v.knots != nil {
			continue
		}
		for _, name := range v.Columns {
			x := values[slices.Index(r.names, name)]
			if len(x) == 0 {
				return t, fmt.Errorf("token: no number in the column %s of %d rows, expected some", name, len(rows))
			}
			slices.Sort(x)
			var knots []float64
			for q := range maxKnots {
				knots = append(knots, x[q*(len(x)-1)/(maxKnots-1)])
			}
			v.knots = append(v.knots, slices.Compact(knots))
		}
	}
	t.Views = joinViews(views)
	return t, err
}

// WidthOpen reports whether a view of numbers gives no width.
func (t Tokenizer) WidthOpen() bool {
	views, _ := t.Split()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == Numbers && v.width == 0 })
}

// WithWidth returns the tokenizer with the width in views of numbers that give none; without such a view, or where the
// width isn't one, it is the tokenizer itself.
func (t Tokenizer) WithWidth(width float64) Tokenizer {
	return t.eachNumbers(func(v *View) { v.width = cmp.Or(v.width, width) })
}

// Brief returns the text form for people: without scales, and of a view of more than three columns the first and the
// number of the others, as in "age,… 12 more=numbers:width=2". It can't be read again.
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
	return strings.NewReplacer(`"… `, "… ", ` more"`, " more").Replace(joinViews(views))
}

// Unfit returns the tokenizer without the scales of columns of numbers, as people write it.
func (t Tokenizer) Unfit() Tokenizer { return t.eachNumbers(func(v *View) { v.knots = nil }) }

// eachNumbers changes the views of numbers.
func (t Tokenizer) eachNumbers(change func(v *View)) Tokenizer {
	views, err := t.Split()
	some := false
	for i := range views {
		if views[i].Analyzer == Numbers {
			change(&views[i])
			some = true
		}
	}
	out := t
	if out.Views = joinViews(views); err != nil || !some || out.Validate() != nil {
		return t
	}
	return out
}

// parseNumbers reads what follows numbers: the width, and of each column the knots, ascending, with | between; "" is
// neither yet.
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
	var b strings.Builder
	for i, name := range v.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.ContainsAny(name, ",=+*:\"\\ ") || strconv.Quote(name) != `"`+name+`"` {
			name = strconv.Quote(name)
		}
		b.WriteString(name)
	}
	if v.Columns != nil {
		b.WriteByte('=')
	}
	switch v.Analyzer {
	case Numbers:
	case Categories:
		return b.String() + string(Categories)
	default:
		return b.String() + v.Tokenizer.String()
	}
	b.WriteString(string(Numbers))
	sign := ":"
	if v.width > 0 {
		fmt.Fprintf(&b, ":width=%v", v.width)
		sign = ","
	}
	for _, knots := range v.knots {
		b.WriteString(sign)
		sign = ","
		for k, x := range knots {
			if k > 0 {
				b.WriteByte('|')
			}
			b.WriteString(strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "+", "")) // + is between views
		}
	}
	return b.String()
}

// cutColumns cuts the columns off the front of a view's text: names, in quotes where need be, with commas between
// and = behind.
func cutColumns(s string) (columns []string, rest string, err error) {
	rest = s
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
		if name == "" || rest == "" || rest[0] != ',' && rest[0] != '=' || slices.Contains(columns, name) {
			return nil, s, errors.New("expected different names of columns with commas between and = behind, such as " +
				"title,body=words")
		}
		columns = append(columns, name)
		if rest[0] == '=' {
			return columns, rest[1:], nil
		}
		rest = rest[1:]
	}
}

// readNumber returns a term of numbers, which has a column and a knot, -1 where it is missing, as people read it.
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

// readCategory returns a term of categories, which has a column and a value, as people read it.
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

// numberCounts returns how often a number counts the term of each knot, numberTerms in all.
func numberCounts(knots []float64, width, x float64) []int {
	u := 0.0 // the place of x among the knots
	for k := 1; k < len(knots); k++ {
		u += min(max((x/2-knots[k-1]/2)/(knots[k]/2-knots[k-1]/2), 0), 1) // halves, which don't overflow
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

// feedRow hands a row to the views of its columns. Of a text that is no row there are no terms.
func (v *viewScanners) feedRow(text []byte) {
	values, err := v.rows.values(text)
	v.given = v.given[:0]
	for i, view := range v.views {
		var of []string
		for _, name := range view.Columns {
			if err == nil {
				of = append(of, values[v.rows.place[name]])
			}
		}
		switch view.Analyzer {
		case Numbers:
		case Categories:
			for column, value := range of {
				term := prefixOf(i) + view.Columns[column] + "\x00" + strings.TrimSpace(value)
				v.given = append(v.given, []byte(term))
			}
			continue
		default:
			v.scanners[i].Feed([]byte(strings.Join(of, "\n")))
			continue
		}
		for column := range min(len(of), len(view.knots)) {
			first, counts := -1, []int{numberTerms}
			if x, _ := ParseNumber(of[column]); !math.IsNaN(x) {
				first, counts = 0, numberCounts(view.knots[column], cmp.Or(view.width, 1), x)
			}
			for k, n := range counts {
				term := fmt.Appendf(nil, "%s%s\x00%d", prefixOf(i), view.Columns[column], first+k)
				v.given = append(v.given, slices.Repeat([][]byte{term}, n)...)
			}
		}
	}
}
