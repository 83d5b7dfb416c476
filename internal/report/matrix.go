package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Matrix is a confusion matrix.
type Matrix struct {
	Names     []string       // of classes; those that can be predicted come first
	Counts    [][]int        // documents by class, by class that was predicted
	Documents []CellDocument // of the cells
}

// CellDocument is a document of a cell of a matrix.
type CellDocument struct {
	Class      int     `json:"c"`
	Given      int     `json:"g"`
	Name       string  `json:"d"`
	Text       string  `json:"t"`
	Note       string  `json:"n,omitempty"`
	Confidence float64 `json:"-"` // that the prediction is right: of mistakes the greatest come first, of others the least
}

// What a page holds of the documents at most.
const (
	mostDocuments = 3000
	mostExcerpt   = 300 // characters
	densest       = 40  // classes whose cells have numbers
)

// cell is a cell of the picture. Shade is the strength of its colour in percent.
type cell struct {
	Count, Shade int
	Right        bool
}

// Dense says that there are too many classes for numbers.
func (m *Matrix) Dense() bool { return len(m.Names) > densest }

// Given names the columns.
func (m *Matrix) Given() []string {
	if len(m.Counts) == 0 {
		return nil
	}
	return m.Names[:len(m.Counts[0])]
}

// Cells are the rows of the picture. Colours go by the square root of the part of a row, so that small ones
// are seen: of right predictions by that of all of it, of mistakes by that of the greatest part.
func (m *Matrix) Cells() [][]cell {
	most := 50.0 // on which text can be read
	if m.Dense() {
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

// Data is what the page's script knows of the matrix.
func (m *Matrix) Data() any {
	names := make([]string, len(m.Names))
	for i, name := range m.Names {
		names[i] = Short(name)
	}
	return map[string]any{"names": names, "documents": m.shown()}
}

// shown returns the documents that the page holds, excerpts of them: of each cell as many, the most with
// which they aren't too many in all.
func (m *Matrix) shown() []CellDocument {
	of := map[[2]int]int{}
	for _, d := range m.Documents {
		of[[2]int{d.Class, d.Given}]++
	}
	most, all := mostDocuments+1, math.MaxInt
	for all > mostDocuments && most > 1 {
		most, all = most-max(most/50, 1), 0
		for _, n := range of {
			all += min(n, most)
		}
	}
	sorted := slices.Clone(m.Documents)
	slices.SortStableFunc(sorted, func(a, b CellDocument) int {
		by := cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Given, b.Given))
		if a.Class == a.Given {
			return cmp.Or(by, cmp.Compare(a.Confidence, b.Confidence))
		}
		return cmp.Or(by, cmp.Compare(b.Confidence, a.Confidence))
	})
	out := []CellDocument{}
	clear(of)
	for _, d := range sorted {
		at := [2]int{d.Class, d.Given}
		if of[at]++; of[at] <= most && len(out) < mostDocuments {
			d.Name, d.Text, d.Note = Short(d.Name), Excerpt(d.Text, mostExcerpt), Short(d.Note)
			out = append(out, d)
		}
	}
	return out
}

// Short cuts a name or a cell that is longer than an excerpt.
func Short(text string) string {
	if len(text) <= mostExcerpt {
		return text
	}
	return Excerpt(text, mostExcerpt)
}

// Excerpt is the beginning of a text, of so many characters at most, its white space made single blanks.
func Excerpt(text string, most int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*most)], "")
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return text
}
