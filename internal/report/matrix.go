package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// ConfusionMatrix is a confusion matrix with the documents of its cells.
type ConfusionMatrix struct {
	ClassNames []string       // class names; classes that can be predicted come first
	Counts     [][]int        // number of documents by true class and predicted class
	Documents  []CellDocument // documents of the cells
}

// CellDocument is a document in a cell of the matrix.
type CellDocument struct {
	TrueClass      int     `json:"c"`
	PredictedClass int     `json:"g"`
	Name           string  `json:"d"`
	Text           string  `json:"t"`
	Note           string  `json:"n,omitempty"`
	Confidence     float64 `json:"-"` // sort key: mistakes are in descending order, correct predictions in ascending order
}

// Limits of a page.
const (
	maxDocuments       = 3000
	maxExcerptLength   = 300 // number of characters
	maxNumberedClasses = 40  // maximum number of classes with numbers in cells
)

// cell is a square of the drawn confusion matrix. Shade is the colour intensity in percent.
type cell struct {
	Count, Shade int
	Correct      bool
}

// isDense reports whether there are too many classes for numbers in cells.
func (m *ConfusionMatrix) isDense() bool { return len(m.ClassNames) > maxNumberedClasses }

func (m *ConfusionMatrix) predictedNames() []string {
	if len(m.Counts) == 0 {
		return nil
	}
	return m.ClassNames[:len(m.Counts[0])]
}

// cells returns the rows of the image. Shades are proportional to the square root of the cell's
// fraction of the row's documents, so that small fractions are visible. For mistakes, the fraction
// is divided by the largest fraction of a mistake.
func (m *ConfusionMatrix) cells() [][]cell {
	most := 50.0 // largest shade with readable text
	if m.isDense() {
		most = 100
	}
	all, greatest := make([]float64, len(m.Counts)), 0.0
	for i, counts := range m.Counts {
		for _, n := range counts {
			all[i] += float64(n)
		}
		for j, n := range counts {
			if i != j && n > 0 {
				greatest = max(greatest, float64(n)/all[i])
			}
		}
	}
	rows := make([][]cell, len(m.Counts))
	for i, counts := range m.Counts {
		for j, n := range counts {
			part := float64(n) / max(all[i], 1)
			if i != j && n > 0 {
				part /= greatest
			}
			rows[i] = append(rows[i], cell{n, max(int(math.Round(most*math.Sqrt(part))), 6), i == j})
		}
	}
	return rows
}

// jsonData returns the matrix for the page's script, as JSON without the characters < > &.
func (m *ConfusionMatrix) jsonData() string {
	names := make([]string, len(m.ClassNames))
	for i, name := range m.ClassNames {
		names[i] = Truncate(name)
	}
	// Marshal can't fail, because the map contains only strings and integers.
	data, _ := json.Marshal(map[string]any{"names": names, "documents": m.shownDocuments()})
	return string(data)
}

// shownDocuments returns excerpts of the documents on the page. All cells have the same maximum
// number of documents, as large as the total limit allows.
func (m *ConfusionMatrix) shownDocuments() []CellDocument {
	of := map[[2]int]int{}
	for _, d := range m.Documents {
		of[[2]int{d.TrueClass, d.PredictedClass}]++
	}
	most, all := maxDocuments+1, math.MaxInt
	for all > maxDocuments && most > 1 {
		most, all = most-max(most/50, 1), 0
		for _, n := range of {
			all += min(n, most)
		}
	}
	sorted := slices.Clone(m.Documents)
	slices.SortStableFunc(sorted, func(a, b CellDocument) int {
		by := cmp.Or(cmp.Compare(a.TrueClass, b.TrueClass), cmp.Compare(a.PredictedClass, b.PredictedClass))
		if a.TrueClass == a.PredictedClass {
			return cmp.Or(by, cmp.Compare(a.Confidence, b.Confidence))
		}
		return cmp.Or(by, cmp.Compare(b.Confidence, a.Confidence))
	})
	out := []CellDocument{}
	clear(of)
	for _, d := range sorted {
		at := [2]int{d.TrueClass, d.PredictedClass}
		if of[at]++; of[at] <= most && len(out) < maxDocuments {
			d.Name, d.Text, d.Note = Truncate(d.Name), Excerpt(d.Text, maxExcerptLength), Truncate(d.Note)
			out = append(out, d)
		}
	}
	return out
}

// Truncate replaces a text of more than maxExcerptLength bytes by an excerpt.
func Truncate(text string) string {
	if len(text) <= maxExcerptLength {
		return text
	}
	return Excerpt(text, maxExcerptLength)
}

// Excerpt returns the beginning of a text, with white space collapsed. The result has at most limit
// characters.
func Excerpt(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*limit)], "")
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit-1]) + "…"
	}
	return text
}
