package report

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table collects cells and prints them in aligned columns.
type Table struct {
	rightAligned []bool     // true for each column that is aligned to the right
	rows         [][]string // the first row is the header
}

// NewTable makes a table. A column whose title begins with '>' is aligned to the right.
func NewTable(titles ...string) *Table {
	t := &Table{rows: [][]string{nil}}
	for _, title := range titles {
		t.rightAligned = append(t.rightAligned, strings.HasPrefix(title, ">"))
		t.rows[0] = append(t.rows[0], strings.TrimPrefix(title, ">"))
	}
	return t
}

// Column is a column of a table of rows. It is aligned to the right if its title begins with '>'.
type Column[R any] struct {
	Title string
	Cell  func(row R) string
}

// NewColumn returns a column with a title. cell returns the text in the column for a row.
func NewColumn[R any](title string, cell func(row R) string) Column[R] { return Column[R]{title, cell} }

// TableOf makes a table of rows, and omits columns whose cells are all empty.
func TableOf[R any](rows []R, columns ...Column[R]) *Table {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c Column[R]) bool {
		return !slices.ContainsFunc(rows, func(row R) bool { return c.Cell(row) != "" })
	})
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.Title)
	}
	t := NewTable(titles...)
	for _, row := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.Cell(row))
		}
		t.Add(cells...)
	}
	return t
}

// Add adds a row with one cell per column.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Titles returns the titles of the columns.
func (t *Table) Titles() []string { return t.rows[0] }

// IsRightAligned reports whether a column is aligned to the right.
func (t *Table) IsRightAligned(column int) bool { return t.rightAligned[column] }

// Rows returns the cells of all rows, without the row of titles.
func (t *Table) Rows() [][]string { return t.rows[1:] }

func (t *Table) columnWidths() []int {
	width := make([]int, len(t.rightAligned))
	for _, row := range t.rows {
		for c, cell := range row {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	return width
}

// Width returns the number of characters in the table's longest line.
func (t *Table) Width() int {
	sum := 2 * (len(t.rightAligned) - 1)
	for _, w := range t.columnWidths() {
		sum += w
	}
	return sum
}

// Write prints the table with two spaces between columns and no trailing spaces.
func (t *Table) Write(w io.Writer) {
	width, out := t.columnWidths(), bufio.NewWriter(w)
	for _, row := range t.rows {
		blanks := 0 // spaces before the next cell
		for c, cell := range row {
			space := width[c] - utf8.RuneCountInString(cell)
			if t.rightAligned[c] {
				blanks, space = blanks+space, 0
			}
			if text := strings.TrimRight(cell, " "); text != "" {
				for range blanks {
					out.WriteByte(' ')
				}
				out.WriteString(text)
				blanks = len(cell) - len(text)
			}
			blanks += space + 2
		}
		out.WriteByte('\n')
	}
	out.Flush()
}
