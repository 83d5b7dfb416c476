package machines

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/report"
)

// plotted is the parameter that -plot draws points over: the first list of several numbers, or C.
func (r *gridReport) plotted() string {
	for _, list := range r.searched.Lists {
		if list.Name != "C" && len(list.Values) > 1 {
			return list.Name
		}
	}
	return "C"
}

// draw draws the errors of a grid of kernels, or the curves of a learner.
func (r *gridReport) draw(path string) error {
	if r.run.learner.Type != "" {
		return r.surface().Save(path)
	}
	return r.drawCurves(path, r.plotted())
}

// drawCurves draws the measure, and the seconds that a point took, over a parameter, with a curve for each
// choice of everything else.
func (r *gridReport) drawCurves(path, over string) error {
	const percent = 100
	best := chart.New(r.Corpus.Source, over, r.Measure.String()+", %")
	took := chart.New("time of all folds", over, "s")
	byName := map[string]int{}
	var names []string
	var values, seconds [][]chart.Point
	var ticks []float64
	for _, row := range r.Rows {
		x, name := row.C, strings.TrimSpace(row.Type+" "+row.Kernel)
		if over != "C" {
			if x, name = without(name, over); row.C != 0 {
				name += fmt.Sprintf(", C = %v", row.C)
			}
		}
		at, ok := byName[name]
		if !ok {
			at = len(names)
			byName[name], names = at, append(names, name)
			values, seconds = append(values, nil), append(seconds, nil)
		}
		values[at] = append(values[at], chart.Point{X: x, Y: percent * float64(row.Mean)})
		seconds[at] = append(seconds[at], chart.Point{X: x, Y: row.Seconds})
		ticks = append(ticks, x)
	}
	for i, name := range names {
		of := chart.Colors[i%len(chart.Colors)]
		best.Curve(name, of, values[i], true)
		took.Curve("", of, seconds[i], true)
	}
	slices.Sort(ticks)
	ticks = slices.Compact(ticks)
	for _, p := range []*chart.Chart{best, took} {
		p.X.At, p.X.Write = ticks, report.Float
		p.X.Log = p.X.Min > 0 && p.X.Max >= 8*p.X.Min
	}
	return chart.Save(path, 16, 11, best, took)
}

// without takes a parameter out of what -type says, and returns its number.
func without(name, parameter string) (value float64, rest string) {
	before, after, _ := strings.Cut(name, parameter+"=")
	end := strings.IndexAny(after+" ", ", ")
	value, _ = strconv.ParseFloat(after[:end], 64) // of a list of numbers
	rest = before + strings.TrimPrefix(after[end:], ",")
	return value, strings.NewReplacer(", ", " ", ": ", " ").Replace(strings.TrimRight(rest, ":,"))
}

// surface takes errors from a report: 100 % less the figure, or the figure itself where less of it is
// better.
func (r *gridReport) surface() *chart.Surface {
	s := &chart.Surface{What: "error of " + r.Measure.String() + " (%)", Digits: "%.2f"}
	of := func(v report.Number) float64 { return 100 * (1 - float64(v)) }
	by := 100.0
	switch r.Measure {
	case svm.Accuracy:
		s.What = "error (%)"
	case svm.MeanSquaredError:
		s.What, by = r.Measure.String(), 1
		of = func(v report.Number) float64 { return float64(v) }
		s.Digits = "%.4g"
	}
	for _, c := range r.c {
		s.Columns = append(s.Columns, fmt.Sprint(c))
	}
	lines := r.lines()
	for i := len(lines) - 1; i >= 0; i-- { // the first line of the table is to be on top
		errors, deviations := make([]float64, len(r.c)), make([]float64, len(r.c))
		for j, c := range r.c {
			errors[j], deviations[j] = math.NaN(), math.NaN()
			row := r.at(lines[i], c)
			if row == nil {
				continue
			}
			errors[j], deviations[j] = of(row.Mean), by*float64(row.SD)
			if row == r.Best {
				s.Best = [2]int{len(s.Lines), j}
			}
		}
		s.Lines = append(s.Lines, r.name(lines[i]))
		s.Errors, s.Deviations = append(s.Errors, errors), append(s.Deviations, deviations)
	}
	s.Title = fmt.Sprintf("%s, %s\n%s, %s", report.Shorten(r.Corpus.Source, 32),
		report.Documents(r.Corpus.Documents), s.What, foldsText(r.Folds, r.Groups, r.Seed))
	return s
}
