package token

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// AnalyzerVector is the analyzer for a column of vectors, such as text embeddings from an encoder.
// It occurs only in views, with the number of coordinates, as in "embedding=vector:384".
//
// Each coordinate is a term. The similarity of two vectors is their cosine. A missing vector has a
// single term.
const AnalyzerVector Analyzer = "vector"

// MaxVectorLen is the maximum number of coordinates of a vector.
const MaxVectorLen = 99_999

// VectorView returns a view of a column whose vectors have size coordinates.
func VectorView(column string, size int) View {
	return View{Tokenizer: Tokenizer{Analyzer: AnalyzerVector}, Weight: 1, Columns: []string{column}, size: size}
}

// ParseVector parses a list of numbers, such as [0.5, -1], and returns nil if the field isn't a
// list of finite numbers.
func ParseVector(field string) (vector []float64) {
	field = strings.TrimSpace(field)
	if len(field) < 2 || field[0] != '[' || field[len(field)-1] != ']' {
		return nil
	}
	for part := range strings.SplitSeq(field[1:len(field)-1], ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		vector = append(vector, x)
	}
	return vector
}

func (v *View) parseSize(s string) (err error) {
	if v.size, err = strconv.Atoi(s); err != nil || v.size < 1 || v.size > MaxVectorLen || len(v.Columns) > 1 {
		return fmt.Errorf("vector:%s for %d columns: a vector view must have one column and a length from 1 to %d, as "+
			"in embedding=vector:384", s, len(v.Columns), MaxVectorLen)
	}
	return nil
}

// addVector adds the terms of a vector. Coordinate indices in terms are padded to the same number
// of digits, so that sorted terms are in order of index.
func (v *viewScanners) addVector(view int, field string) error {
	of := &v.views[view]
	if x, ok := ParseNumber(field); ok && math.IsNaN(x) {
		v.add(appendTerm(nil, view, of.Columns[0], outsidePrefix), 1)
		return nil
	}
	vector := ParseVector(field)
	if vector == nil {
		return &ColumnError{of.Columns[0], quoteTruncated(field), fmt.Sprintf("a list of %d numbers", of.size)}
	}
	if len(vector) != of.size {
		return &ColumnError{of.Columns[0], fmt.Sprintf("%d numbers", len(vector)), strconv.Itoa(of.size)}
	}
	for k, x := range vector {
		begin := len(v.text)
		v.text = appendTerm(v.text, view, of.Columns[0], strconv.Itoa(MaxVectorLen + 1 + k)[1:])
		v.add(v.text[begin:], x)
	}
	return nil
}

// formatCoordinate returns a vector's term in readable form, such as embedding[3].
func formatCoordinate(term string) string {
	column, at, _ := strings.Cut(term, "\x00")
	return fmt.Sprintf("%s[%s]", column, cmp.Or(strings.TrimLeft(at, "0"), "0"))
}
