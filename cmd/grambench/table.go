package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/sparse"
)

// report is what a command found: it marshals to the JSON object and prints itself as text.
type report interface {
	writeText(w io.Writer)
}

// writeReport prints r in the form that was asked for.
func writeReport(w io.Writer, r report, asJSON bool) error {
	if !asJSON {
		var b strings.Builder
		r.writeText(&b)
		_, err := io.WriteString(w, b.String())
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// number is a float64 that marshals NaN and infinities as null, which JSON has no other word for.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(v)
}

// table collects cells and prints them in aligned columns.
type table struct {
	header []string
	right  []bool // columns aligned to the right
	rows   [][]string
}

// newTable makes a table; a column whose title begins with '>' is aligned to the right.
func newTable(titles ...string) *table {
	t := &table{}
	for _, title := range titles {
		t.right = append(t.right, strings.HasPrefix(title, ">"))
		t.header = append(t.header, strings.TrimPrefix(title, ">"))
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table, two blanks between columns and none at the end of a line.
func (t *table) write(w io.Writer) {
	width := make([]int, len(t.header))
	all := append([][]string{t.header}, t.rows...)
	for _, row := range all {
		for c, cell := range row {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for c, cell := range row {
			if c > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if t.right[c] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// formatCount writes an integer with commas between groups of three digits.
func formatCount[T ~int | ~int64 | ~int32](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// counted writes a number with the noun that it counts.
func counted[T ~int | ~int64 | ~int32](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// formatBytes writes a number of bytes with three digits and a binary unit.
func formatBytes(n int64) string { return sparse.FormatBytes(n) }

// formatRate writes a number per second with three digits, such as "23.4 M".
func formatRate(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= u.size*0.9995 {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// formatErr writes an error bound with two digits.
func formatErr(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}

// shorten cuts s to n runes, keeping the end, which says more in a path.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}
