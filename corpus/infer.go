package corpus

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
)

// looksNamed reports whether the first record may hold column names. Names must be distinct and not
// numbers. Except for the label column, a column of short values must not contain its own name.
func (t *table) looksNamed() bool {
	for i, name := range t.first {
		if _, number := token.ParseNumber(name); name != "" && (number || t.twice(i)) {
			return false
		}
		values := t.values(i)
		if name != "" && i != t.label && slices.Contains(values, name) && isShort(values) {
			return false
		}
	}
	return len(t.near) > 0
}

// values returns the values of a column in the beginning of the table.
func (t *table) values(at int) (values []string) {
	for _, record := range t.near {
		if len(record) == len(t.first) {
			values = append(values, record[at])
		}
	}
	return values
}

// A column holds categories if its values have at most maxCategoryBytes bytes, if each value occurs
// at least minRecurring times on average, and if at most the fraction maxNumbers of the values are
// numbers.
const maxCategoryBytes, minRecurring, maxNumbers = 64, 4, 0.5

func isShort(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return len(v) > maxCategoryBytes })
}

// infer sets the kinds of columns that no option sets.
func (t *table) infer(opt *Options) {
	n, rows, alone := len(t.first), t.row != nil, opt.TextColumn != ""
	t.comma = t.hasCommas()
	named := t.free(textNames, KindText)
	label := t.free(labelNames, KindLabel)
	if t.label >= 0 {
		label = t.label
	}
	switch {
	case t.header:
	case named >= 0 && (n > 2 || n == 2 && t.label < 0):
		t.header = true
	case label >= 0 && (n > 2 || n == 2 && !rows && !alone && t.label < 0 &&
		!slices.Contains(labelNames, t.names[1-label])):
		t.header = t.looksNamed()
		t.guessed = t.header
	}
	if t.label < 0 && t.header && !t.noLabels && label >= 0 {
		t.set(label, KindLabel)
	}
	if n == 0 && !rows { // the first record is longer than nearBytes
		t.columns = make([]TableColumn, 2)
		t.set(max(t.label, 0), KindLabel)
		t.set(max(t.text, 1), KindText)
		return
	}
	if t.header {
		t.inferID()
	}
	switch { // if one of two columns is the label, the other is the text, and vice versa
	case n != 2 || rows || t.noLabels || t.keys:
	case t.label < 0 && t.text >= 0:
		t.set(1-t.text, KindLabel)
	case t.label < 0 && named >= 0 && t.header && t.id < 0:
		t.set(1-named, KindLabel)
	case t.label < 0 && !t.header:
		t.set(0, KindLabel)
	}
	switch {
	case rows:
	case alone:
	case (!t.header && n > 2 || t.keys && named < 0) && t.label < 0 && opt.Columns == "":
		t.bad = fault(fmt.Sprintf("%d columns, none called label or text: %s", n, quoteList(t.first)),
			"the name of the label column").withOption("LabelColumn", "sets the label column by name or number")
	default:
		t.inferFeatures(opt)
	}
	for i := range t.columns {
		c := &t.columns[i]
		if c.Kind == "" && i == t.group {
			c.Kind = KindGroup
		}
		c.Kind = cmp.Or(c.Kind, KindIgnored)
		if c.Kind == KindNumber {
			_, all := numbersOf(t.values(i), true)
			c.Comma = t.comma && all
		}
	}
}

// inferID finds the column of document names: it has a usual name for an id, and its values are
// distinct.
func (t *table) inferID() {
	for i := range t.columns {
		if t.id >= 0 || t.columns[i].Kind != "" || !isID(t.names[i]) ||
			len(t.first) == 2 && (t.names[i] == "name" || t.names[i] == "key") { // the column may hold classes
			continue
		}
		if values := t.values(i); len(values) > 0 && !slices.Contains(values, "") && distinct(values) {
			t.set(i, KindID)
		}
	}
}

// inferFeatures selects the feature columns, and sets the views if there are several.
func (t *table) inferFeatures(opt *Options) {
	var texts, others []int
	for i := range t.columns {
		c := &t.columns[i]
		if t.header && c.Kind != KindIgnored && t.first[i] != "" && t.twice(i) {
			t.bad = fault("two columns called "+quote(t.first[i]), "different names")
			return
		}
		if c.Kind == "" && i != t.group {
			c.Kind = t.kindOf(i)
		}
		switch c.Kind {
		case KindText:
			texts = append(texts, i)
		case KindVector:
			if c.Size, _ = vectorSize(t.values(i)); c.Size == 0 {
				t.bad = fault("no list of numbers near the beginning of column "+t.first[i], "lists such as [0.5, -1]").
					withOption("Columns", "sets the kind of a column")
				return
			}
			others = append(others, i)
		case KindNumber, KindCategory:
			others = append(others, i)
		}
	}
	known := opt.ModelTokenizer != nil || opt.VocabularyLater != nil || opt.Vocabulary != nil
	if all := append(texts, others...); known { // the model was trained on texts
		if len(texts) > 0 {
			all = texts
		}
		if best := t.free(textNames, KindText); best >= 0 {
			all = []int{best}
		}
		for i := range t.columns {
			if len(all) == 1 && i != all[0] && i != t.label && i != t.group && i != t.id && i != t.weight {
				t.columns[i].Kind = KindIgnored
			}
		}
		texts, others = all, nil
	}
	switch {
	case len(texts) == 1 && len(others) == 0:
		t.set(texts[0], KindText)
	case len(texts)+len(others) == 0 || known:
		t.bad = fault(fmt.Sprintf("%d columns: %s", len(t.first), quoteList(t.first)), "the name of the text column").
			withOption("TextColumn", "sets the text column by name or number")
	default:
		t.views(opt.Tokenizer, texts, others)
	}
}

// kindOf returns the kind of a feature column from its name and values.
func (t *table) kindOf(at int) Kind {
	values := t.values(at)
	different := map[string]bool{}
	for _, v := range values {
		different[v] = true
	}
	_, isVector := vectorSize(values)
	numbers, all := numbersOf(values, false)
	if commas, is := numbersOf(values, true); is && t.comma {
		numbers, all = commas, true
	}
	if t.strings[t.first[at]] {
		numbers, all = 0, !slices.ContainsFunc(values, func(v string) bool { return v != "" })
	}
	switch {
	case t.header && t.names[at] == "":
		return KindIgnored
	case slices.Contains(textNames, t.names[at]), len(values) == 0, !t.header && len(t.first) <= 2:
		return KindText
	case isVector:
		return KindVector
	case t.ignored != nil && t.ignored(at):
		return KindIgnored
	case all && numbers == 0:
		return KindIgnored
	case all:
		return KindNumber
	case (len(t.first) > 2 || t.noLabels) && isShort(values) && minRecurring*len(different) <= len(values) &&
		float64(numbers) <= maxNumbers*float64(len(values)):
		return KindCategory
	}
	return KindText
}

// vectorSize returns the length of the first list of numbers, or 0 if there is none. ok is true if
// the column holds vectors: the length is at least 2, more than half of the values are lists of
// this length, at most a tenth of the lists have another length, and all other values are missing.
func vectorSize(values []string) (size int, ok bool) {
	equal, other := 0, 0
	for _, v := range values {
		x, missing := token.ParseNumber(v)
		switch n := len(token.ParseVector(v)); {
		case n == 0 && !(missing && math.IsNaN(x)):
			return size, false
		case n > 0 && (size == 0 || n == size):
			size, equal = n, equal+1
		case n > 0:
			other++
		}
	}
	return size, size > 1 && 2*equal > len(values) && 9*other <= equal
}

// maxColumnsWeight is the maximum weight of the view of all categories or all numbers.
const maxColumnsWeight = 1000

// views returns a view for each text column, a view for all categories, a view for all numbers, and
// a view for each vector column. The tokenizer of text views is cut. If there are no texts, all
// columns have the same weight.
func (t *table) views(cut Tokenizer, texts, others []int) {
	var out []token.View
	name := func(i int) string {
		if !t.header {
			return strconv.Itoa(i + 1)
		}
		return t.first[i]
	}
	add := func(v token.View, of ...int) {
		for _, i := range of {
			v.Columns = append(v.Columns, name(i))
		}
		out = append(out, v)
	}
	views, _ := cut.Split()
	if views == nil {
		views = []token.View{{Tokenizer: cut, Weight: 1}}
	}
	for _, v := range views {
		if len(views)*len(texts) > token.MaxViews-2 {
			add(v, texts...)
			continue
		}
		for _, i := range texts {
			add(v, i)
		}
	}
	for _, kind := range []Kind{KindCategory, KindNumber} {
		of := slices.DeleteFunc(slices.Clone(others), func(i int) bool { return t.columns[i].Kind != kind })
		v := token.View{Tokenizer: Tokenizer{Analyzer: token.Categories}, Weight: 1}
		if kind == KindNumber {
			v.Analyzer = token.Numbers
		}
		if len(texts) == 0 && len(of) < len(others) {
			v.Weight = float64(min(len(of), maxColumnsWeight))
		}
		if len(of) > 0 {
			add(v, of...)
		}
	}
	for _, i := range others {
		if c := &t.columns[i]; c.Kind == KindVector {
			out = append(out, token.VectorView(name(i), c.Size))
		}
	}
	t.tokenizer = token.OfViews(out).WithPairs(true)
	t.inferred = cut.WithPairs(false) == Tokenizer{}
	t.text = -1
	for _, c := range t.tokenizer.Columns() {
		t.row = append(t.row, t.place(c.Name))
	}
	for _, i := range slices.Concat(texts, others) {
		if name(i) == "" {
			t.bad = fault(fmt.Sprintf("column %d of kind %s without a name", i+1, t.columns[i].Kind),
				"a name in the first line").withOption("Columns", fmt.Sprintf("with %d=ignore skips the column", i+1))
		} else if t.place(name(i)) != i { // the name is also the number of another column
			t.bad = fault("a column called "+quote(t.first[i]), "a name that isn't the number of another column")
		}
	}
}

// hasCommas reports whether numbers have decimal commas: all values of a column are numbers only in
// that form. If semicolons separate fields and no column requires decimal points, values with
// commas that are numbers in both forms suffice.
func (t *table) hasCommas() bool {
	comma, point, either := false, false, false
	for i := range t.first {
		values := t.values(i)
		_, asPoint := numbersOf(values, false)
		_, asComma := numbersOf(values, true)
		comma = comma || asComma && !asPoint
		point = point || asPoint && !asComma
		either = either || asPoint && asComma && slices.ContainsFunc(values, func(v string) bool {
			return strings.Contains(v, ",")
		})
	}
	return comma || either && !point && t.separator == ';'
}

// numbersOf returns the number of values that are numbers with a decimal comma, or with a decimal
// point if comma is false. all reports whether all values are numbers or missing.
func numbersOf(values []string, comma bool) (numbers int, all bool) {
	all = true
	for _, v := range values {
		plain := plainNumber(v, comma)
		x, ok := token.ParseNumber(plain)
		if comma && plain == strings.TrimSpace(v) && strings.Contains(v, ".") {
			ok = false // v has a decimal point
		}
		if all = all && ok; ok && !math.IsNaN(x) {
			numbers++
		}
	}
	return numbers, all
}

// plainNumber returns a number with a decimal point and without thousands separators. The number
// has the form 1.234,5 if comma is set, else 1,234.5. Other text is returned unchanged.
func plainNumber(s string, comma bool) string {
	thousands, decimal := ",", "."
	if comma {
		thousands, decimal = decimal, thousands
	}
	s = strings.TrimSpace(s)
	whole, fraction, found := strings.Cut(s, decimal)
	groups := strings.Split(whole, thousands)
	if lead := strings.TrimLeft(groups[0], "+-"); len(groups) > 1 && (len(lead) < 1 || len(lead) > 3 || lead[0] == '0') {
		return s
	}
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return s
		}
	}
	if s = strings.Join(groups, ""); found {
		s += "." + fraction
	}
	return s
}
