package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/musttest"
)

// page returns a document with one section.
func page(s Section) *Document {
	d := new(Document)
	d.AddPageSection(s)
	return d
}

// The page of a large matrix contains few documents, some of each cell, as excerpts.
func TestMatrixStaysSmall(t *testing.T) {
	const classes = 30
	m := &ConfusionMatrix{Counts: make([][]int, classes)}
	for i := range classes {
		m.ClassNames, m.Counts[i] = append(m.ClassNames, fmt.Sprint(i)), make([]int, classes)
	}
	text := strings.Repeat("ä \n", 5000)
	for i := range 100_000 {
		d := CellDocument{TrueClass: i % classes, PredictedClass: i * i % 97 % classes, Text: text,
			Confidence: float64(i * 7919 % 1000)}
		m.Counts[d.TrueClass][d.PredictedClass]++
		m.Documents = append(m.Documents, d)
	}
	var b strings.Builder
	if err := page(Section{ConfusionMatrix: m}).WriteHTML(&b); err != nil || b.Len() > 3<<20 {
		t.Errorf("%v, a page of %d bytes", err, b.Len())
	}
	shown, of := m.shownDocuments(), map[[2]int][]float64{}
	for _, d := range shown {
		of[[2]int{d.TrueClass, d.PredictedClass}] = append(of[[2]int{d.TrueClass, d.PredictedClass}], d.Confidence)
		if n := utf8.RuneCountInString(d.Text); n > maxExcerptLength || !strings.HasPrefix(d.Text, "ä ä") {
			t.Fatalf("an excerpt of %d characters, %.20q", n, d.Text)
		}
	}
	if len(shown) > maxDocuments || len(shown) < maxDocuments/2 {
		t.Errorf("%d documents, expected up to %d", len(shown), maxDocuments)
	}
	for i, row := range m.Counts {
		for j, n := range row {
			own := of[[2]int{i, j}]
			if (n == 0) != (len(own) == 0) {
				t.Errorf("cell %d, %d: %d of %d documents", i, j, len(own), n)
			}
			for k := 1; k < len(own); k++ {
				if i == j && own[k] < own[k-1] || i != j && own[k] > own[k-1] {
					t.Errorf("cell %d, %d: confidences %v", i, j, own)
				}
			}
		}
	}
}

// An empty table is replaced by a text.
func TestEmptyTable(t *testing.T) {
	var b strings.Builder
	d := HighlightedText{Name: "new", Tables: []CollapsibleTable{{Title: "Terms", Table: NewTable("term", ">effect")}}}
	musttest.NoError(t, page(Section{Documents: []HighlightedText{d}}).WriteHTML(&b))
	if !strings.Contains(b.String(), `<p class="note">Terms: none</p>`) || strings.Contains(b.String(), ">effect<") {
		t.Errorf("the page is\n%s", b.String())
	}
}

// Long names are shortened everywhere: 1 MB in each place gives a page below 100 KB.
func TestNamesAreCut(t *testing.T) {
	long := strings.Repeat("xä", 500_000)
	table := NewTable(long, long)
	table.Add(long, long)
	m := &ConfusionMatrix{ClassNames: []string{long, "b"}, Counts: [][]int{{1, 1}, {0, 1}},
		Documents: []CellDocument{{Name: long, Text: long, Note: long}}}
	d := page(Section{Title: long, Table: table, ConfusionMatrix: m, Documents: []HighlightedText{{Name: long,
		Spans: []Span{{Text: "a", Title: long, Effect: 1}}, Tables: []CollapsibleTable{{Title: long, Table: table}}}}})
	d.Title = long
	d.AddMetric(long, long, "")
	var b strings.Builder
	if err := d.WriteHTML(&b); err != nil || b.Len() > 100_000 || !strings.Contains(b.String(), "xäxä") {
		t.Errorf("%v, a page of %d bytes", err, b.Len())
	}
	if short := "a  b"; Truncate(short) != short || utf8.RuneCountInString(Truncate(long)) != maxExcerptLength {
		t.Errorf("%q becomes %q", short, Truncate(short))
	}
}
