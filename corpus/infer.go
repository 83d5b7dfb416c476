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

// looksLikeHeader reports whether the first record may hold column names. Names must be distinct
// and not numbers. Except for the label column, a column of short values must not contain its own
// name.
func (t *table) looksLikeHeader() bool {
	for i, name := range t.firstRecord {
		if _, number := token.ParseNumber(name); name != "" && (number || t.isDuplicate(i)) {
			return false
		}
		values := t.columnValues(i)
		if name != "" && i != t.labelColumn && slices.Contains(values, name) && isShort(values) {
			return false
		}
	}
	return len(t.sampleRecords) > 0
}

func (t *table) columnValues(at int) (values []string) {
	for _, record := range t.sampleRecords {
		if len(record) == len(t.firstRecord) {
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

func (t *table) inferKinds(opt *Options) {
	n, rows, alone := len(t.firstRecord), t.rowColumns != nil, opt.TextColumn != ""
	t.decimalComma = t.hasDecimalCommas()
	named := t.findUnassigned(textNames, KindText)
	label := t.findUnassigned(labelNames, KindLabel)
	if t.labelColumn >= 0 {
		label = t.labelColumn
	}
	switch {
	case t.hasHeader:
	case named >= 0 && (n > 2 || n == 2 && t.labelColumn < 0):
		t.hasHeader = true
	case label >= 0 && (n > 2 || n == 2 && !rows && !alone && t.labelColumn < 0 &&
		!slices.Contains(labelNames, t.names[1-label])):
		t.hasHeader = t.looksLikeHeader()
		t.headerGuessed = t.hasHeader
	}
	if t.labelColumn < 0 && t.hasHeader && !t.noLabels && label >= 0 {
		t.setKind(label, KindLabel)
	}
	if n == 0 && !rows { // the first record is longer than sampleBytes
		t.columns = make([]TableColumn, 2)
		t.setKind(max(t.labelColumn, 0), KindLabel)
		t.setKind(max(t.textColumn, 1), KindText)
		return
	}
	if t.hasHeader {
		t.inferID()
	}
	switch { // if one of two columns is the label, the other is the text, and vice versa
	case n != 2 || rows || t.noLabels || t.keyed:
	case t.labelColumn < 0 && t.textColumn >= 0:
		t.setKind(1-t.textColumn, KindLabel)
	case t.labelColumn < 0 && named >= 0 && t.hasHeader && t.idColumn < 0:
		t.setKind(1-named, KindLabel)
	case t.labelColumn < 0 && !t.hasHeader:
		t.setKind(0, KindLabel)
	}
	switch {
	case rows:
	case alone:
	case (!t.hasHeader && n > 2 || t.keyed && named < 0) && t.labelColumn < 0 && opt.Columns == "":
		t.err = newSyntaxError(fmt.Sprintf("%d columns, none called label or text: %s", n, quoteList(t.firstRecord)),
			"the name of the label column").withOption("LabelColumn", "sets the label column by name or number")
	default:
		t.inferFeatures(opt)
	}
	for i := range t.columns {
		c := &t.columns[i]
		if c.Kind == "" && i == t.groupColumn {
			c.Kind = KindGroup
		}
		c.Kind = cmp.Or(c.Kind, KindIgnored)
		if c.Kind == KindNumber {
			_, all := countNumbers(t.columnValues(i), true)
			c.Comma = t.decimalComma && all
		}
	}
}

// inferID sets the id column: the first column with a usual id name and distinct values.
func (t *table) inferID() {
	for i := range t.columns {
		if t.idColumn >= 0 || t.columns[i].Kind != "" || !isID(t.names[i]) ||
			len(t.firstRecord) == 2 && (t.names[i] == "name" || t.names[i] == "key") { // the column may hold classes
			continue
		}
		if values := t.columnValues(i); len(values) > 0 && !slices.Contains(values, "") && allDistinct(values) {
			t.setKind(i, KindID)
		}
	}
}

// inferFeatures selects the feature columns, and sets the views unless a text is the only feature.
func (t *table) inferFeatures(opt *Options) {
	var texts, others []int
	for i := range t.columns {
		c := &t.columns[i]
		if t.hasHeader && c.Kind != KindIgnored && t.firstRecord[i] != "" && t.isDuplicate(i) {
			t.err = newSyntaxError("two columns called "+quote(t.firstRecord[i]), "different names")
			return
		}
		if c.Kind == "" && i != t.groupColumn {
			c.Kind = t.kindOf(i)
		}
		switch c.Kind {
		case KindText:
			texts = append(texts, i)
		case KindVector:
			if c.Size, _ = vectorSize(t.columnValues(i)); c.Size == 0 {
				t.err = newSyntaxError("no list of numbers in the first rows of column "+t.firstRecord[i],
					"lists such as [0.5, -1]").
					withOption("Columns", "sets the kind of a column")
				return
			}
			others = append(others, i)
		case KindNumber, KindCategory:
			others = append(others, i)
		}
	}
	known := opt.ModelTokenizer != nil || opt.LoadVocabulary != nil || opt.Vocabulary != nil
	if all := append(texts, others...); known { // the model was trained on texts
		if len(texts) > 0 {
			all = texts
		}
		if best := t.findUnassigned(textNames, KindText); best >= 0 {
			all = []int{best}
		}
		for i := range t.columns {
			if len(all) == 1 && i != all[0] && i != t.labelColumn && i != t.groupColumn && i != t.idColumn &&
				i != t.weightColumn {
				t.columns[i].Kind = KindIgnored
			}
		}
		texts, others = all, nil
	}
	switch {
	case len(texts) == 1 && len(others) == 0:
		t.setKind(texts[0], KindText)
	case len(texts)+len(others) == 0 || known:
		t.err = newSyntaxError(fmt.Sprintf("%d columns: %s", len(t.firstRecord), quoteList(t.firstRecord)),
			"the name of the text column").
			withOption("TextColumn", "sets the text column by name or number")
	default:
		t.inferViews(opt.Tokenizer, texts, others)
	}
}

func (t *table) kindOf(at int) Kind {
	values := t.columnValues(at)
	different := map[string]bool{}
	for _, v := range values {
		different[v] = true
	}
	_, isVector := vectorSize(values)
	numbers, all := countNumbers(values, false)
	if commas, is := countNumbers(values, true); is && t.decimalComma {
		numbers, all = commas, true
	}
	if t.stringColumns[t.firstRecord[at]] {
		numbers, all = 0, !slices.ContainsFunc(values, func(v string) bool { return v != "" })
	}
	switch {
	case t.hasHeader && t.names[at] == "":
		return KindIgnored
	case slices.Contains(textNames, t.names[at]), len(values) == 0, !t.hasHeader && len(t.firstRecord) <= 2:
		return KindText
	case isVector:
		return KindVector
	case t.isIgnored != nil && t.isIgnored(at):
		return KindIgnored
	case all && numbers == 0:
		return KindIgnored
	case all:
		return KindNumber
	case (len(t.firstRecord) > 2 || t.noLabels) && isShort(values) && minRecurring*len(different) <= len(values) &&
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

// inferViews sets t.tokenizer to views. All categories share one view, all numbers share one view,
// and each vector column has its own view. Each view of textTokenizer becomes one view per text
// column, or a single view for all text columns if there would be too many views. If there are no
// texts, columns have equal weights.
func (t *table) inferViews(textTokenizer Tokenizer, texts, others []int) {
	var out []token.View
	name := func(i int) string {
		if !t.hasHeader {
			return strconv.Itoa(i + 1)
		}
		return t.firstRecord[i]
	}
	add := func(v token.View, of ...int) {
		for _, i := range of {
			v.Columns = append(v.Columns, name(i))
		}
		out = append(out, v)
	}
	views, _ := textTokenizer.SplitViews()
	if views == nil {
		views = []token.View{{Tokenizer: textTokenizer, Weight: 1}}
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
		v := token.View{Tokenizer: Tokenizer{Analyzer: token.AnalyzerCategories}, Weight: 1}
		if kind == KindNumber {
			v.Analyzer = token.AnalyzerNumbers
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
	t.tokenizer = token.FromViews(out).WithPairs(true)
	t.viewsInferred = textTokenizer.WithPairs(false) == Tokenizer{}
	t.textColumn = -1
	for _, c := range t.tokenizer.Columns() {
		t.rowColumns = append(t.rowColumns, t.columnIndex(c.Name))
	}
	for _, i := range slices.Concat(texts, others) {
		if name(i) == "" {
			t.err = newSyntaxError(fmt.Sprintf("column %d of kind %s without a name", i+1, t.columns[i].Kind),
				"a name in the first line").withOption("Columns", fmt.Sprintf("with %d=ignore skips the column", i+1))
		} else if t.columnIndex(name(i)) != i {
			t.err = newSyntaxError("a column called "+quote(t.firstRecord[i]),
				"another name, because this name is also the number of another column")
		}
	}
}

// hasDecimalCommas reports whether numbers have a decimal comma. In at least one column, all values
// must be numbers with a decimal comma, but not with a decimal point. If semicolons separate fields
// and no column requires decimal points, a column with commas that can be read in both ways
// suffices.
func (t *table) hasDecimalCommas() bool {
	comma, point, either := false, false, false
	for i := range t.firstRecord {
		values := t.columnValues(i)
		_, asPoint := countNumbers(values, false)
		_, asComma := countNumbers(values, true)
		comma = comma || asComma && !asPoint
		point = point || asPoint && !asComma
		either = either || asPoint && asComma && slices.ContainsFunc(values, func(v string) bool {
			return strings.Contains(v, ",")
		})
	}
	return comma || either && !point && t.separator == ';'
}

// countNumbers counts the values that are numbers. Numbers have a decimal comma if comma is true,
// else a decimal point. all is true if each value is a number or missing.
func countNumbers(values []string, comma bool) (numbers int, all bool) {
	all = true
	for _, v := range values {
		plain := normalizeNumber(v, comma)
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

// normalizeNumber converts s to a number with a decimal point and without thousands separators. s
// has the form 1.234,5 if comma is true, else 1,234.5. If s isn't a number, it may also change.
func normalizeNumber(s string, comma bool) string {
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
