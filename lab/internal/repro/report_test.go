package repro

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/musttest"
)

func TestTableObjects(t *testing.T) {
	table := &Table{Key: "1", Columns: []Column{{Key: "class"}, {Key: "error"}, {Key: "printed"}, {Key: "p"}}}
	table.Add(Word(`a "b"`), Measure([]float64{0.1, 0.3}).Cell(4), Empty(), Probability(1e-5))
	table.Add(Count(40), Measured{0.5, math.NaN(), 1}.Cell(2), Value(math.NaN(), 3), Value(math.Inf(1), 3))
	rows := musttest.Get(table.Objects())(t)
	for i, want := range []string{
		`{"table":"1","class":"a \"b\"","error":{"mean":0.2,"sd":0.1414213562373095,"n":2},"printed":null,"p":0.00001}`,
		`{"table":"1","class":40,"error":{"mean":0.5,"sd":null,"n":1},"printed":null,"p":null}`,
	} {
		if string(rows[i]) != want {
			t.Errorf("row %d is %s, expected %s", i, rows[i], want)
		}
	}
	for i, want := range []string{"0.2000 ±0.1414", "0.50"} {
		if got := table.Rows[i][1].Text; got != want {
			t.Errorf("the cell is %q, expected %q", got, want)
		}
	}
	if got := table.Rows[0][3].Text; got != "<0.001" {
		t.Errorf("p is %q", got)
	}
}

// The points of both curves are drawn: there are pixels of each color.
func TestFigure(t *testing.T) {
	f := &Figure{Panels: []*Panel{
		{
			Title: "tf",
			X:     "documents",
			Y:     "error",
			Curves: []Curve{
				{Name: "a", Points: []Point{{40, 0.3, 0.02}, {80, 0.2, math.NaN()}}},
				{Name: "b", Points: []Point{{40, 0.1, 0}, {80, 0.05, 0.01}}},
			},
		},
		{Title: "nothing"},
	}}
	path := filepath.Join(t.TempDir(), "a.svg")
	musttest.Do(t, f.Save(path))
	text := string(musttest.Get(os.ReadFile(path))(t))
	for i := range 2 {
		if n := strings.Count(text, "stroke:"+string(chart.Colors[i])); n < 3 {
			t.Errorf("curve %d: %d lines, expected the curve, a bar and the legend", i, n)
		}
	}
}

// A figure without panels is an error, and a mean that isn't finite doesn't spoil the whole report.
func TestReportsOfNothing(t *testing.T) {
	if err := (&Figure{Key: "none"}).Save(filepath.Join(t.TempDir(), "a.svg")); err == nil ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("a figure without panels: %v", err)
	}
	for _, m := range []Measured{
		{Mean: math.Inf(1), N: 2}, {Mean: 1, SD: math.Inf(1), N: 2}, {Mean: math.NaN(), N: 1}, {},
	} {
		table := &Table{Key: "a", Columns: []Column{{Key: "b"}}}
		table.Add(m.Cell(2))
		if _, err := table.Objects(); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
}
