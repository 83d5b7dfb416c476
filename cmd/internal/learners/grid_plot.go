package learners

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
)

// plotParameter returns the parameter on the x axis: the parameter with the longest list, by
// default C.
func (r *gridReport) plotParameter() string {
	name, most := "C", 1
	for _, list := range r.searchGrid.Lists {
		if n := len(list.Values); n > most || n == most && list.Name == "C" {
			name, most = list.Name, n
		}
	}
	return name
}

// charts plots the score and the time of the points against a parameter, with a curve per
// combination of the other settings.
func (r *gridReport) charts() []*chart.Chart {
	over, by := r.plotParameter(), 100.0
	best := chart.New(r.Corpus.Source, over, r.Measure.String()+", %")
	if r.Measure == tune.MeanSquaredError {
		by, best.Y.Label = 1, r.Measure.String()
	}
	took := chart.New("time of all folds", over, "s")
	byName := map[string]int{}
	var names []string
	var values, seconds [][]chart.Point
	var ticks []float64
	for i := range r.Rows {
		row := &r.Rows[i]
		x, name := r.curveOf(row, over)
		at, ok := byName[name]
		if !ok {
			at = len(names)
			byName[name], names = at, append(names, name)
			values, seconds = append(values, nil), append(seconds, nil)
		}
		values[at] = append(values[at], chart.Point{X: x, Y: by * row.Mean})
		seconds[at] = append(seconds[at], chart.Point{X: x, Y: row.Seconds})
		ticks = append(ticks, x)
	}
	names = trimCommonPrefix(names)
	for i, name := range names {
		of := chart.Palette[i%len(chart.Palette)]
		best.AddCurve(name, of, values[i], true)
		took.AddCurve("", of, seconds[i], true)
	}
	slices.Sort(ticks)
	ticks = slices.Compact(ticks)
	for _, p := range []*chart.Chart{best, took} {
		p.X.TickValues, p.X.FormatTick = ticks, report.FormatFloat
		p.X.IsLog = p.X.Min > 0 && p.X.Max >= 8*p.X.Min
	}
	return []*chart.Chart{best, took}
}

// trimCommonPrefix removes the comma-separated settings with which all names begin.
func trimCommonPrefix(names []string) []string {
	for len(names) > 1 {
		first, _, more := strings.Cut(names[0], ", ")
		shared := func(name string) bool { return strings.HasPrefix(name, first+", ") }
		if !more || slices.ContainsFunc(names, func(name string) bool { return !shared(name) }) {
			break
		}
		for i, name := range names {
			names[i] = strings.TrimPrefix(name, first+", ")
		}
	}
	return names
}

// curveOf returns the x value and the curve name of a row. x is the value of the parameter over.
// The name lists the other settings.
func (r *gridReport) curveOf(row *gridRow, over string) (x float64, name string) {
	name = strings.TrimSpace(row.Type + " " + row.Kernel)
	c, nu, epsilon := row.C, row.Nu, row.Epsilon
	switch over {
	case "C":
		x, c = c, 0
	case "nu":
		x, nu = nu, 0
	case "epsilon":
		x, epsilon = epsilon, 0
	default:
		x, name = removeParameter(name, over)
	}
	name = formatParameters(name, c, nu, epsilon)
	if len(r.grid.lists.schemes) > 1 {
		name += ", " + row.Scheme
	}
	if len(r.ngrams) > 1 {
		name += ", " + row.NGrams + "-grams"
	}
	return x, name
}

// removeParameter splits a specification into a parameter's value and the other settings.
func removeParameter(name, parameter string) (value float64, rest string) {
	before, after, _ := strings.Cut(name, parameter+"=")
	end := strings.IndexAny(after+" ", ", ")
	value, _ = strconv.ParseFloat(after[:end], 64) // can't fail, because lists hold only numbers
	rest = before + strings.TrimPrefix(after[end:], ",")
	return value, strings.NewReplacer(", ", " ", ": ", " ").Replace(strings.TrimRight(rest, ":,"))
}
