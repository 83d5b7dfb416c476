package repro

import (
	"image/png"
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
	path := filepath.Join(t.TempDir(), "a.png")
	musttest.Do(t, f.Save(path))
	file := musttest.Get(os.Open(path))(t)
	defer file.Close()
	img := musttest.Get(png.Decode(file))(t)
	seen := [2]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			for i := range seen {
				if cr, cg, cb, _ := chart.Colors[i].RGBA(); r == cr && g == cg && b == cb {
					seen[i]++
				}
			}
		}
	}
	if seen[0] < 100 || seen[1] < 100 {
		t.Errorf("%v pixels of the two curves", seen)
	}
}

// Labels stand where there is room for them, ticks everywhere.
func TestMeasuredTicks(t *testing.T) {
	var labels []string
	for _, tick := range measuredTicks([]float64{40, 80, 90, 600}) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "40 80  600" {
		t.Errorf("labels are %q", got)
	}
}

// A curve that rises into the corner of the legend makes the axis longer, by so much that the
// legend's share of it is free; one that falls leaves it.
func TestLegendCoversNothing(t *testing.T) {
	rising := Curve{Name: "rising", Points: []Point{{1, 2, 0}, {2, 3, 0}, {6, 10, math.NaN()}}}
	falling := Curve{Name: "falling", Points: []Point{{1, 10, 0}, {2, 4, 0}, {6, 3, 0}}}
	// it enters the legend's width at 0.45 of its height
	steep := Curve{Name: "steep", Points: []Point{{1, 10, 0}, {6, 0, 0}}}
	barred := Curve{Name: "barred", Points: []Point{{1, 2, 0}, {6, 3, 5}}}
	for _, of := range []struct {
		curves []Curve
		top    float64 // of what stands below the legend
	}{
		{[]Curve{rising}, 10}, {[]Curve{rising, falling, falling}, 10}, {[]Curve{steep}, 4.5},
		{[]Curve{barred, falling}, 8},
	} {
		const least = -1.
		got := (&Panel{Curves: of.curves}).belowLegend(least)
		if free, want := (got-of.top)/(got-least), legendLine*float64(len(of.curves)); !(math.Abs(free-want) <= 1e-14) {
			t.Errorf("%s: an axis to %v leaves %v of it free above %v, expected %v", of.curves[0].Name, got, free,
				of.top, want)
		}
	}
	if got := (&Panel{Curves: []Curve{falling}}).belowLegend(0); !(got < 10) {
		t.Errorf("a falling curve asks for an axis to %v, which is longer than its own", got)
	}
}

// A figure without panels is an error, and a mean that isn't finite doesn't spoil the whole report.
func TestReportsOfNothing(t *testing.T) {
	if err := (&Figure{Key: "none"}).Save(filepath.Join(t.TempDir(), "a.png")); err == nil ||
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
