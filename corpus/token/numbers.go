package token

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// AnalyzerNumbers is the analyzer for numeric columns. It occurs only in views.
//
// The scale of a column has up to 9 knots, which are quantiles of its training values. Let u be the
// fractional knot index of a number, by linear interpolation. The term for knot k has a value
// proportional to exp(-2(u-k)²/w²), where w is the view's width, 1 by default. The Bhattacharyya
// product of two numbers is approximately exp(-(u-u')²/2w²), a Gaussian kernel (rbf) of scaled
// numbers. The approximation error is at most 0.11 with seven or nine knots, and 0.21 with fewer.
// If w = 1, the Bhattacharyya product of numbers three or more knots apart is 0. Source: Jebara,
// Kondor and Howard, JMLR 5 (2004), §3.1.
const AnalyzerNumbers Analyzer = "numbers"

// AnalyzerValues is the analyzer of numeric columns whose values form vectors, as rbf needs them.
// It occurs only in views. No views except categories can be combined with it.
//
// Each column has one term, whose value is the number minus the column's mean in training. The
// scale of a column consists of the minimum, the mean and the maximum in training. A missing number
// has the value 0, and the value 1 in a second term if numbers were missing in training.
const AnalyzerValues Analyzer = "values"

// HasNumbers reports whether the columns of the view hold numbers.
func (v View) HasNumbers() bool { return v.Analyzer == AnalyzerNumbers || v.Analyzer == AnalyzerValues }

// A column has at most maxKnots knots. The counts of a number's terms sum to numberTerms.
const maxKnots, numberTerms = 9, 64

// minWidth and maxWidth bound a view's width. Below minWidth, a number has only one or two terms.
// Above maxWidth, the counts of all terms are nearly equal.
const minWidth, maxWidth = 1, 4

// ParseNumber parses a value of a numeric column. It returns NaN if the value is missing: empty,
// NA, N/A, NaN, null, None, <NA>, #N/A or a question mark. ok is true if the value is missing or a
// finite number.
func ParseNumber(value string) (x float64, ok bool) {
	value = strings.TrimSpace(value)
	switch strings.ToLower(value) {
	case "", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "?": // missing values in pandas and R
		return math.NaN(), true
	}
	x, err := strconv.ParseFloat(value, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// NeedsScales reports whether any numeric column has no scale; see [Tokenizer.Fit].
func (t Tokenizer) NeedsScales() bool {
	views, _ := t.SplitViews()
	return slices.ContainsFunc(views, func(v View) bool { return v.HasNumbers() && v.knots == nil })
}

// Fit returns the tokenizer with scales for numeric columns without a scale. values[k] holds the
// numbers of column k of Columns; Fit reorders these numbers. Existing scales are unchanged. It
// fails if a column has no numbers.
func (t Tokenizer) Fit(values [][]float64) (Tokenizer, error) {
	if err := t.Validate(); err != nil || !t.NeedsScales() {
		return t, err
	}
	views, err := t.SplitViews()
	indices := FirstIndices(t.Columns().Names())
	for i := range views {
		v := &views[i]
		if !v.HasNumbers() || v.knots != nil {
			continue
		}
		for _, name := range v.Columns {
			x := values[indices[name]]
			if len(x) == 0 {
				return t, fmt.Errorf("token: column %s has no numbers", name)
			}
			var knots []float64
			if v.Analyzer == AnalyzerValues {
				slices.Sort(x)
				lo, hi := x[0], x[len(x)-1]
				knots = []float64{lo, min(max(stat.Mean(x, nil), lo), hi), hi}
			} else {
				var ranks []int
				for q := range maxKnots {
					ranks = append(ranks, q*(len(x)-1)/(maxKnots-1))
				}
				selectRanks(x, ranks, 0, 64)
				for _, rank := range ranks {
					knots = append(knots, x[rank])
				}
			}
			v.knots = append(v.knots, slices.Compact(knots))
		}
	}
	return FromViews(views), err
}

// selectRanks is quickselect (Hoare 1961) for several ascending ranks: it moves the numbers with
// these ranks to the indices that they have after sorting. first is the rank of the minimum of x.
// At depth 0, selectRanks sorts x, which bounds the running time.
func selectRanks(x []float64, ranks []int, first, depth int) {
	if len(ranks) == 0 {
		return
	}
	if len(x) <= 32 || depth == 0 {
		slices.Sort(x)
		return
	}
	a, b, c := x[0], x[len(x)/2], x[len(x)-1]
	pivot := max(min(a, b), min(max(a, b), c)) // median of a, b and c
	i, j := 0, len(x)-1
	for i <= j {
		for x[i] < pivot {
			i++
		}
		for x[j] > pivot {
			j--
		}
		if i <= j {
			x[i], x[j] = x[j], x[i]
			i++
			j--
		}
	}
	low, _ := slices.BinarySearch(ranks, first+j+1)
	high, _ := slices.BinarySearch(ranks, first+i)
	selectRanks(x[:j+1], ranks[:low], first, depth-1)
	selectRanks(x[i:], ranks[high:], first+i, depth-1)
}

// HasValues reports whether the tokenizer has a view of [AnalyzerValues]. Rows are then vectors of
// measurements.
func (t Tokenizer) HasValues() bool {
	views, _ := t.SplitViews()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == AnalyzerValues })
}

// WithValues returns the tokenizer with views of [AnalyzerValues] in place of [AnalyzerNumbers],
// without scales. ok is false if there are no numbers, or if a view has text or vectors.
func (t Tokenizer) WithValues() (_ Tokenizer, ok bool) {
	views, _ := t.SplitViews()
	for i, v := range views {
		if v.HasNumbers() {
			v.Analyzer, ok = AnalyzerValues, true
		}
		views[i] = View{Tokenizer: v.Tokenizer, Weight: 1, Columns: v.Columns}
	}
	t = FromViews(views)
	return t, ok && t.Validate() == nil
}

// NeedsWidth reports whether a view of [AnalyzerNumbers] has no width.
func (t Tokenizer) NeedsWidth() bool {
	views, _ := t.SplitViews()
	return slices.ContainsFunc(views, func(v View) bool { return v.Analyzer == AnalyzerNumbers && v.width == 0 })
}

// WithWidth returns the tokenizer with the width set in views of [AnalyzerNumbers] without a width.
// It returns t unchanged if there is no such view, or if the width is out of range.
func (t Tokenizer) WithWidth(width float64) Tokenizer {
	return t.mapNumberViews(func(v *View) {
		if v.Analyzer == AnalyzerNumbers {
			v.width = cmp.Or(v.width, width)
		}
	})
}

// ShortString returns a short text form without scales. For views with more than three columns, it
// shows only the first column, as in "age,… 12 more=numbers:width=2". The result can't be parsed.
func (t Tokenizer) ShortString() string {
	views, err := t.WithoutScales().SplitViews()
	if err != nil || len(views) == 0 {
		return t.String()
	}
	for i := range views {
		v := &views[i]
		if more := len(v.Columns) - 1; more > 2 {
			v.Columns = []string{v.Columns[0], fmt.Sprintf("… %d more", more)}
		}
	}
	return strings.NewReplacer(`"… `, "… ", ` more"`, " more").Replace(FromViews(views).Views)
}

// WithoutScales returns the tokenizer without the scales of numeric columns.
func (t Tokenizer) WithoutScales() Tokenizer {
	return t.mapNumberViews(func(v *View) { v.knots = nil })
}

// mapNumberViews returns a copy of the tokenizer in which change has modified each view of numbers,
// or t if the copy is invalid.
func (t Tokenizer) mapNumberViews(change func(v *View)) Tokenizer {
	views, err := t.SplitViews()
	some := false
	for i := range views {
		if views[i].HasNumbers() {
			change(&views[i])
			some = true
		}
	}
	if out := FromViews(views); err == nil && some && out.Validate() == nil {
		return out
	}
	return t
}

// parseNumbers parses the options of a view of numbers: the width, and the ascending knots of each
// column, separated by |. The width and the knots are optional.
func (v *View) parseNumbers(s string) error {
	if width, ok := strings.CutPrefix(s, "width="); ok && v.Analyzer == AnalyzerNumbers {
		width, s, _ = strings.Cut(width, ",")
		var err error
		if v.width, err = strconv.ParseFloat(width, 64); err != nil || !(v.width >= minWidth && v.width <= maxWidth) {
			return fmt.Errorf("width must be a number from %d to %d, got %q", minWidth, maxWidth, width)
		}
	} else if strings.Contains(s, "=") {
		return fmt.Errorf("%s:%s has no valid width; use a form such as numbers:width=2", v.Analyzer, s)
	}
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		var knots []float64
		for text := range strings.SplitSeq(part, "|") {
			x, ok := ParseNumber(text)
			if !ok || math.IsNaN(x) || len(knots) > 0 && x <= knots[len(knots)-1] || len(knots) == maxKnots {
				return fmt.Errorf("scale must be up to %d ascending numbers, such as 1|2.5|10, with commas between columns, "+
					"got %q", maxKnots, part)
			}
			knots = append(knots, x)
		}
		v.knots = append(v.knots, knots)
	}
	if len(v.knots) != len(v.Columns) {
		return fmt.Errorf("%d scales, but %d columns", len(v.knots), len(v.Columns))
	}
	return nil
}

// formatNumber returns a number term in readable form. The term consists of a column name and a
// knot index, or -1 for a missing number.
func (v *View) formatNumber(term string) string {
	name, knot, _ := strings.Cut(term, "\x00")
	k, err := strconv.Atoi(knot)
	column := slices.Index(v.Columns, name)
	switch {
	case err != nil || column < 0 || column >= len(v.knots) || k >= len(v.knots[column]):
		return name
	case k < 0:
		return name + " missing"
	}
	return fmt.Sprintf("%s ≈ %.6g", name, v.knots[column][k])
}

// numberCounts returns the count of each knot's term for the number x. The sum is numberTerms.
func numberCounts(knots []float64, width, x float64) (counts [maxKnots]int) {
	u := 0.0 // fractional knot index of x
	if k, _ := slices.BinarySearch(knots, x); k == len(knots) {
		u = float64(k - 1)
	} else if k > 0 {
		u = float64(k-1) + (x/2-knots[k-1]/2)/(knots[k]/2-knots[k-1]/2) // halves, so that differences don't overflow
	}
	var total float64
	var shares [maxKnots]float64
	for k := range knots {
		d := (u - float64(k)) / width
		total += math.Exp(-2 * d * d)
		shares[k] = total
	}
	before := 0
	for k, s := range shares[:len(knots)] {
		end := int(math.Round(numberTerms * s / total))
		counts[k], before = end-before, end
	}
	return counts
}

// addNumber adds the terms of a number in a view's column, or none if the column has no scale.
func (v *viewScanners) addNumber(view, column int, x float64) {
	of := &v.views[view]
	if column >= len(of.knots) {
		return
	}
	terms, knots := v.terms[view][column], of.knots[column]
	if x < knots[0] || x > knots[len(knots)-1] {
		v.add(appendTerm(nil, view, of.Columns[column], outsidePrefix+strconv.FormatFloat(x, 'g', -1, 64)), 1)
	}
	switch {
	case math.IsNaN(x) && of.Analyzer == AnalyzerValues:
		v.add(terms[maxKnots], 1)
	case math.IsNaN(x):
		v.add(terms[maxKnots], numberTerms)
	case of.Analyzer == AnalyzerValues:
		v.add(terms[0], x-knots[len(knots)/2])
	default:
		counts := numberCounts(knots, cmp.Or(of.width, 1), x)
		for k := range knots {
			if counts[k] > 0 {
				v.rowTerms = append(v.rowTerms, RowTerm{terms[k], float32(counts[k])})
			}
		}
	}
}

// termsOf returns the terms of a numeric column: one per knot, or a single term for
// [AnalyzerValues]. terms[maxKnots] is the term of missing numbers.
func (v View) termsOf(view int, column string) (terms [maxKnots + 1][]byte) {
	for k := range terms {
		knot := strconv.Itoa(k)
		if k == maxKnots {
			knot = "-1"
		} else if v.Analyzer == AnalyzerValues {
			knot = ""
		}
		terms[k] = appendTerm(nil, view, column, knot)
	}
	return terms
}
