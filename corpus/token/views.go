package token

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// View describes one of several sets of terms for each document, see [Tokenizer.Views].
type View struct {
	Tokenizer
	Weight  float64  // contribution to similarities, relative to the sum of all weights
	Columns []string // names of the view's columns; nil if documents are texts

	knots [][]float64 // knots of each numeric column; nil if not fitted
	width float64     // width of the Gaussian, in knots; 0 for the default 1
	size  int         // number of coordinates of each vector in a vector column
}

// MaxViews is the maximum number of views. The first byte of a term is the number of its view.
const MaxViews = 9

// ParseViews parses [Tokenizer.Views]. A single view with weight 1 and without columns gives a
// tokenizer without views.
func ParseViews(s string) (Tokenizer, error) {
	t := Tokenizer{Views: cmp.Or(s, " ")}
	views, err := t.SplitViews()
	if err == nil && len(views) == 1 && views[0].Weight == 1 && views[0].Columns == nil {
		t = views[0].Tokenizer
	}
	return t.Canonical(), err
}

// SplitViews returns the views, or nil for a tokenizer without views.
func (t Tokenizer) SplitViews() ([]View, error) {
	if t.Views == "" {
		return nil, nil
	}
	parts := splitOutside(t.Views, '+')
	if len(parts) > MaxViews {
		return nil, fmt.Errorf("token: got %d views; the maximum is %d", len(parts), MaxViews)
	}
	views := make([]View, len(parts))
	for i, part := range parts {
		v := &views[i]
		text := strings.TrimSpace(part)
		v.Weight = 1
		if weight, rest, ok := strings.Cut(text, "*"); ok && !strings.ContainsAny(weight, `:"`) {
			w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			if err != nil || !(w >= minWeight && w <= maxWeight) {
				return nil, fmt.Errorf("token: view %q: weight must be a number from %v to %v, got %q", text, minWeight, maxWeight,
					weight)
			}
			v.Weight, text = w, strings.TrimSpace(rest)
		}
		if err := v.parse(text); err != nil {
			return nil, fmt.Errorf("token: view %q: %w", text, err)
		}
		if (v.Columns == nil) != (views[0].Columns == nil) {
			return nil, fmt.Errorf("token: view %q: either all views or none must have columns, as in title=words", text)
		}
	}
	if slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == AnalyzerValues }) {
		for _, v := range views {
			if v.Weight != 1 || v.Analyzer != AnalyzerValues && v.Analyzer != AnalyzerCategories {
				return nil, fmt.Errorf("token: view %q: values can be combined only with categories, without weights; "+
					"numbers can have weights and be combined with text", v)
			}
		}
	}
	return views, nil
}

func (v *View) parse(text string) (err error) {
	var form string
	if v.Columns, form, err = cutColumns(text); err != nil {
		return err
	}
	form = strings.TrimSpace(form)
	switch name, options, colon := strings.Cut(form, ":"); {
	case form == "":
		return errors.New("tokenizer is missing; use a form such as words:1..2 or chars:2..5")
	case v.Columns == nil || slices.Contains(viewNames, name):
	case name == string(AnalyzerNumbers), name == string(AnalyzerValues):
		v.Analyzer = Analyzer(name)
		return v.parseNumbers(options)
	case name == string(AnalyzerVector):
		v.Analyzer = AnalyzerVector
		return v.parseSize(options)
	case name == string(AnalyzerCategories) && colon:
		return fmt.Errorf("categories takes no options, got %q", options)
	case name == string(AnalyzerCategories):
		v.Analyzer = AnalyzerCategories
		return nil
	default:
		return fmt.Errorf("unknown view %q; valid views are words, chars, numbers, values, categories and vector", name)
	}
	one, err := parseOne(viewForm(form))
	v.Tokenizer = one.Canonical()
	return err
}

// Bounds of a view's weight.
const minWeight, maxWeight = 1e-3, 1e3

// viewNames are the names of analyzers in views.
var viewNames = []string{"words", "chars", wordName, string(AnalyzerChar), string(AnalyzerCharWB)}

// viewForm expands a short view, such as words:1..2 or chars:2..5, to a tokenizer's text form.
func viewForm(s string) string {
	name, rest, colon := strings.Cut(s, ":")
	switch name {
	case "words":
		name = wordName
	case "chars":
		name = string(AnalyzerCharWB)
	}
	if !colon {
		return name
	}
	if _, _, ok := ParseNGramRange(strings.SplitN(rest, ",", 2)[0]); ok {
		rest = "ngrams=" + rest
	}
	return name + ":" + rest
}

// splitOutside splits a text at each separator outside of quotes.
func splitOutside(s string, separator byte) (parts []string) {
	begin := 0
	for i := 0; i < len(s); {
		if s[i] == '"' {
			if quoted, err := strconv.QuotedPrefix(s[i:]); err == nil {
				i += len(quoted)
				continue
			}
		}
		if s[i] == separator {
			parts, begin = append(parts, s[begin:i]), i+1
		}
		i++
	}
	return append(parts, s[begin:])
}

// FromViews returns a tokenizer with the given views.
func FromViews(views []View) Tokenizer {
	parts := make([]string, len(views))
	for i, v := range views {
		if v.Weight != 1 {
			parts[i] = strconv.FormatFloat(v.Weight, 'g', -1, 64) + "*"
		}
		parts[i] += v.String()
	}
	return Tokenizer{Views: strings.Join(parts, " + ")}
}

func (t Tokenizer) validateViews() error {
	if t != (Tokenizer{Views: t.Views}) {
		return fmt.Errorf("token: Views %q cannot be combined with other fields", t.Views)
	}
	_, err := t.SplitViews()
	return err
}

// ViewOffsets returns the first column of each view in a sorted vocabulary.
func (t Tokenizer) ViewOffsets(vocabulary []string) ([]int, error) {
	views, err := t.SplitViews()
	if err != nil {
		return nil, err
	}
	first := make([]int, len(views))
	at := 0
	for v := range views {
		first[v] = at
		for at < len(vocabulary) && strings.HasPrefix(vocabulary[at], viewPrefix(v)) {
			at++
		}
	}
	if at < len(vocabulary) && len(views) > 0 {
		return nil, fmt.Errorf("token: term %q at index %d of the vocabulary is out of order, or not a term of the views %s",
			vocabulary[at], at, t.Views)
	}
	return first, nil
}

func viewPrefix(view int) string { return string(rune(1 + view)) }

// FormatTerm returns a term of the vocabulary in readable form. If there are views, it removes the
// number of the view, and quotes character n-grams, as in chars "ing".
func (t Tokenizer) FormatTerm(term string) string {
	if t.Views == "" || term == "" {
		return term
	}
	views, err := t.SplitViews()
	v := int(term[0]) - 1
	if err != nil || v < 0 || v >= len(views) {
		return term[1:]
	}
	column := strings.Join(views[v].Columns, ",")
	if column != "" {
		column += ": "
	}
	switch views[v].Analyzer {
	case AnalyzerWord:
		return column + term[1:]
	case AnalyzerNumbers, AnalyzerValues:
		return views[v].formatNumber(term[1:])
	case AnalyzerVector:
		return formatCoordinate(term[1:])
	case AnalyzerCategories:
		return formatCategory(term[1:])
	}
	return fmt.Sprintf("%schars %q", column, term[1:])
}

// WordFunc returns a function that reports whether a term is a word of its document. Words are the
// shortest word n-grams, the longest character n-grams, whole words of char_wb, and category terms.
// If there are several views, the rule for a term is its view's rule. Terms of vectors aren't
// words. Terms of numbers are words only if no view has text or categories. For [AnalyzerValues],
// the term of a number is a word, and the term of a missing number isn't.
func (t Tokenizer) WordFunc() func(term []byte) bool {
	views, err := t.SplitViews()
	if err != nil || len(views) == 0 {
		return t.words()
	}
	numbers := !slices.ContainsFunc(views, func(v View) bool {
		return v.Analyzer != AnalyzerNumbers &&
			v.Analyzer != AnalyzerVector
	})
	of := make([]func(term []byte) bool, len(views))
	for i, v := range views {
		of[i] = func([]byte) bool { return false }
		if v.Analyzer != AnalyzerNumbers || numbers {
			of[i] = v.words()
		}
	}
	return func(term []byte) bool {
		view, size := utf8.DecodeRune(term)
		return size > 0 && view >= 1 && int(view) <= len(of) && of[view-1](term[size:])
	}
}

// words implements WordFunc for a tokenizer without views.
func (t Tokenizer) words() func(term []byte) bool {
	least, most := t.ngramRange()
	return func(term []byte) bool {
		switch {
		case len(term) == 0:
			return false
		case t.Analyzer == AnalyzerValues:
			return term[len(term)-1] == 0
		case t.Analyzer == AnalyzerNumbers:
			return !bytes.Contains(term, []byte("\x00"+outsidePrefix))
		case t.Analyzer == AnalyzerCategories:
			return true
		case t.Analyzer == AnalyzerVector:
			return false
		case t.Analyzer == AnalyzerWord:
			return bytes.Count(term, []byte(" ")) < least
		}
		whole := t.Analyzer == AnalyzerCharWB && term[0] == ' ' && term[len(term)-1] == ' '
		return whole || utf8.RuneCount(term) == most
	}
}

// viewScanners tokenises a document, one view after another.
type viewScanners struct {
	scanners []*Scanner
	current  int    // index of the current scanner
	term     []byte // last term, with the prefix of its view

	views       []View
	columns     Columns                  // columns of the rows; nil if documents are texts
	viewColumns [][]int                  // indices of the columns of each view
	fields      []string                 // fields of the row, in UTF-8
	numbers     []float64                // numbers of the row; NaN if missing
	terms       [][][maxKnots + 1][]byte // terms of each column of each view, see [View.termsOf]
	rowTerms    []RowTerm                // terms of numbers, categories and vectors
	text        []byte                   // terms in rowTerms, and texts of the row
}

// RowTerm is a term of a numeric, category or vector column, with its count or value.
type RowTerm struct {
	Term  []byte
	Value float32
}

func newViewScanners(views []View) (*viewScanners, error) {
	out := &viewScanners{scanners: make([]*Scanner, len(views)), views: views, viewColumns: make([][]int, len(views)),
		terms: make([][][maxKnots + 1][]byte, len(views))}
	out.columns = FromViews(views).Columns()
	indices := FirstIndices(out.columns.Names())
	for i, v := range views {
		for _, name := range v.Columns {
			out.viewColumns[i] = append(out.viewColumns[i], indices[name])
			if v.HasNumbers() {
				out.terms[i] = append(out.terms[i], v.termsOf(i, name))
			}
		}
		if v.HasTerms() { // the terms don't come from text
			out.scanners[i] = &Scanner{}
			continue
		}
		var err error
		if out.scanners[i], err = v.Tokenizer.NewScanner(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *viewScanners) feed(text []byte) {
	v.current = 0
	for _, s := range v.scanners {
		s.Feed(text)
	}
}

func (v *viewScanners) next() []byte {
	for ; v.current < len(v.scanners); v.current++ {
		if term := v.scanners[v.current].Next(); term != nil {
			v.term = append(append(v.term[:0], byte(1+v.current)), term...)
			return v.term
		}
	}
	return nil
}

func (v *viewScanners) end() {
	for _, s := range v.scanners {
		s.End()
	}
}
