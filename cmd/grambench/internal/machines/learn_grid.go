package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// learnerPoints returns what is to be searched.
func (g *grid) learnerPoints() ([]learn.Point, error) {
	lists := slices.Clone(g.lists.words)
	for _, list := range g.lists.numbers {
		if list.Name != "C" {
			lists = append(lists, learn.Numbers(list))
		}
	}
	o, err := g.learnerOptions()
	if err != nil {
		return nil, err
	}
	points, err := learn.Points(g.kind, lists, g.Specs, o)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	return points, nil
}

// prices are the C of the search, ascending; nil where the learner has none.
func (g *grid) prices() ([]float64, error) {
	prices := g.learner.Prices()
	if prices == nil {
		if g.lists.has("C") {
			return nil, cli.Usagef("-grid C: -type %s has no C", g.learner.Name)
		}
		return nil, nil
	}
	if g.f.Given("c") {
		prices = []float64{g.c}
	}
	for _, list := range g.lists.numbers {
		if list.Name == "C" {
			prices = slices.Sorted(slices.Values(list.Values))
		}
	}
	if !(prices[0] > 0 && prices[len(prices)-1] < 1e300) {
		return nil, cli.Usagef("-grid C: %v, expected numbers above 0, below 1e300", prices)
	}
	return prices, nil
}

// learnedGrid is the report of grid with a learner.
type learnedGrid struct {
	Corpus source.Line `json:"corpus"`
	learnedLine
	Folds    int         `json:"folds"`
	Seed     uint64      `json:"seed"`
	Measure  svm.Measure `json:"measure"`
	Complete bool        `json:"complete"`
	Points   int         `json:"points"`

	Best  *learnedGridRow `json:"best,omitempty"`
	Train string          `json:"train_command,omitempty"`

	Seconds      float64 `json:"seconds"`
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"`

	Rows []learnedGridRow `json:"rows"`

	prices []float64
}

// learnedGridRow is one point.
type learnedGridRow struct {
	Type    string        `json:"type"`
	Kernel  string        `json:"kernel,omitempty"`
	C       float64       `json:"c,omitempty"`
	Mean    report.Number `json:"mean"`
	SD      report.Number `json:"standard_deviation"`
	Seconds float64       `json:"seconds"` // of all folds, and of all C of the point together

	Unfinished int `json:"unfinished_machines"`

	Figures []report.Number `json:"figures"` // by fold
}

// runLearner searches the parameters of the learner that -type names. The end of ctx leaves what is
// complete.
func (g *grid) runLearner(ctx context.Context, e *cli.Env) error {
	p := e.Progress(true)
	defer p.Clear()
	points, err := g.learnerPoints()
	if err != nil {
		return err
	}
	prices, err := g.prices()
	if err != nil {
		return err
	}
	l, err := g.learn(ctx, e, p)
	if err != nil {
		return err
	}
	r := &learnedGrid{
		Corpus: source.NewLine(l.corpus), Folds: g.folds, Seed: g.seed, SecondsRead: l.read, prices: prices,
		Measure: learn.MeasureOf(l.o.Scheme), Points: len(points) * max(len(prices), 1), Rows: []learnedGridRow{},
	}
	begin := time.Now()
	var ended learn.Ended
	found, err := learn.Search(ctx, l.corpus, points, l.o, prices, g.folds, g.seed)
	failed := l.named(err)
	for i, s := range found {
		at := points[i/max(len(prices), 1)]
		row := learnedGridRow{Type: at.Spec, Kernel: at.Kernel, C: s.C, Mean: report.Number(s.Mean), SD: report.Number(s.SD),
			Seconds: s.Took.Seconds(), Unfinished: s.Ended.Unfinished}
		ended.Add(s.Ended)
		for _, figure := range s.Figures {
			row.Figures = append(row.Figures, report.Number(figure))
		}
		r.Rows = append(r.Rows, row)
		r.learnedLine = g.learnedLine(s.About)
	}
	p.Clear()
	warnOf(e, ended)
	if failed != nil && len(r.Rows) == 0 {
		return failed
	}
	r.Type, r.learnedLine.C = g.kind, 0
	r.SecondsSolve = time.Since(begin).Seconds()
	r.Complete = len(r.Rows) == r.Points
	for i := range r.Rows {
		if r.Best == nil || r.Measure.Better(float64(r.Rows[i].Mean), float64(r.Best.Mean)) {
			r.Best = &r.Rows[i]
		}
	}
	r.Train = g.learnerCommand(r.Best)
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(g.Memory)
	r.Seconds = time.Since(l.begin).Seconds()
	if failed == nil && g.plot != "" {
		failed = r.draw(g.plot, g.plotted())
	}
	return errors.Join(g.Report(e, g.f, r), failed)
}

// plotted is the parameter that -plot draws points over: the first list of several numbers, or C.
func (g *grid) plotted() string {
	for _, list := range g.lists.numbers {
		if list.Name != "C" && len(list.Values) > 1 {
			return list.Name
		}
	}
	return "C"
}

// draw draws the measure, and the seconds that a point took, over a parameter, with a curve for each
// choice of everything else.
func (r *learnedGrid) draw(path, over string) error {
	const percent = 100
	best := chart.New(r.Corpus.Source, over, r.Measure.String()+", %")
	took := chart.New("time of all folds", over, "s")
	byName := map[string]int{}
	var names []string
	var values, seconds []plotter.XYs
	var ticks plot.ConstantTicks
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
		values[at] = append(values[at], plotter.XY{X: x, Y: percent * float64(row.Mean)})
		seconds[at] = append(seconds[at], plotter.XY{X: x, Y: row.Seconds})
		ticks = append(ticks, plot.Tick{Value: x, Label: report.Float(x)})
	}
	for i, name := range names {
		of := chart.Colors[i%len(chart.Colors)]
		chart.Curve(best, name, of, values[i], true)
		chart.Curve(took, "", of, seconds[i], true)
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	for _, p := range []*plot.Plot{best, took} {
		p.X.Tick.Marker = ticks
		if first, last := ticks[0].Value, ticks[len(ticks)-1].Value; first > 0 && last >= 8*first {
			p.X.Scale = plot.LogScale{}
		}
	}
	best.Legend.Top, best.Legend.Left = false, false
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

// learnerCommand is the command that trains with the settings of a point.
func (g *grid) learnerCommand(best *learnedGridRow) string {
	settings := []string{"-type", best.Type}
	if best.Kernel != "" {
		settings = append(settings, "-kernel", best.Kernel)
	}
	if g.Embedding != "" {
		settings = append(settings, "-embed", g.Embedding)
	}
	if best.C != 0 {
		settings = append(settings, "-c", report.Float(best.C))
	}
	others := []string{"type", "landmarks", "loss", "time", "grid", "folds", "v", "seed", "q", "json", "plot"}
	return g.commandLine(others, settings)
}

func (r *learnedGrid) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed)))
	fmt.Fprintf(w, "mean %s ± standard deviation over the folds\n", r.Measure)
	titles := []string{"type"}
	for _, c := range r.prices {
		titles = append(titles, fmt.Sprintf(">C = %v  ", c))
	}
	if r.prices == nil {
		titles = append(titles, ">"+r.Measure.String()+"  ")
	}
	t := report.NewTable(titles...)
	for of := range slices.Chunk(r.Rows, len(titles)-1) {
		cells := []string{strings.TrimSpace(of[0].Type + " " + of[0].Kernel)}
		for i := range of {
			mark := "  "
			if &of[i] == r.Best {
				mark = " *"
			}
			cells = append(cells, r.cell(&of[i])+mark)
		}
		t.Add(cells...)
	}
	t.Write(w)
	if !r.Complete {
		fmt.Fprintf(w, "incomplete: %s of %s\n", report.Count(len(r.Rows)), report.Counted(r.Points, "point", "points"))
	}
	best := strings.TrimSpace(r.Best.Type + " " + r.Best.Kernel)
	if r.Best.C != 0 {
		best += fmt.Sprintf(", C = %v", r.Best.C)
	}
	fmt.Fprintf(w, "best: %s: %s %s\n%s\n", best, r.Measure, r.cell(r.Best), r.Train)
	fmt.Fprintf(w, "reading %.2f s, search %.2f s, in all %.2f s, %s\n", r.SecondsRead, r.SecondsSolve, r.Seconds,
		report.Peak(r.PeakBytes, r.LimitBytes))
}

func (r *learnedGrid) cell(row *learnedGridRow) string {
	return r.Measure.Format(float64(row.Mean)) + " ± " + strings.TrimSuffix(r.Measure.Format(float64(row.SD)), "%")
}
