package learners

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

type gridReport struct {
	Corpus source.Line `json:"corpus"`
	machineLine
	Folds   int          `json:"folds"`
	Groups  string       `json:"groups,omitempty"`
	Seed    uint64       `json:"seed"`
	Measure tune.Measure `json:"measure"`

	Complete bool     `json:"complete"`
	Points   int      `json:"points"` // number of points in the search
	Best     *gridRow `json:"best,omitempty"`
	Train    string   `json:"train_command,omitempty"` // command that trains with the best settings
	Hints    []string `json:"hints,omitempty"`
	*searchedLine

	Seconds      float64 `json:"seconds"` // time since the start of reading
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`           // time for training and prediction
	SecondsTrain float64 `json:"seconds_train,omitempty"` // time for training with the best settings on all documents
	File         string  `json:"file,omitempty"`          // path of the model file
	FileBytes    int64   `json:"file_bytes,omitempty"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows   []gridRow     `json:"rows"`             // searched points; for a search on samples, points of the last round
	Choice *choiceReport `json:"search,omitempty"` // selection report; nil unless the search ran on samples

	parts    []learn.Ablation // gain from each set of terms
	run      *grid
	searched *learn.Grid
	ngrams   []string
}

// searchedLine holds additional fields for a search over support vector machines.
type searchedLine struct {
	Tolerance   float64 `json:"tolerance"`
	Fits        int     `json:"fits"` // number of training runs: one per point and fold
	DotProducts int64   `json:"dot_products"`
	// number of dot products saved because training runs share kernel values
	Saved       int64   `json:"dot_products_saved"`
	SecondsGram float64 `json:"seconds_gram"`
}

// gridRow describes a point of the search.
type gridRow struct {
	Round     int    `json:"round,omitempty"`     // index of the round in a search on samples, from 1
	Documents int    `json:"documents,omitempty"` // size of the round's sample
	Folds     int    `json:"folds,omitempty"`
	Type      string `json:"type,omitempty"` // learner; empty for support vector machines
	Kernel    string `json:"kernel,omitempty"`
	Embedding string `json:"embedding,omitempty"`
	Scheme    string `json:"scheme,omitempty"`
	NGrams    string `json:"ngrams,omitempty"`
	Terms     string `json:"terms,omitempty"`
	brief     string // abbreviation of Terms
	compares  string // names of the settings that the round compares
	solver.Regularization
	Mean       float64          `json:"mean"`
	SD         float64          `json:"standard_deviation"`
	Figures    []float64        `json:"figures"`        // score of each fold
	SE         float64          `json:"standard_error"` // standard error of the mean: SD divided by √folds
	ToBest     *tune.Difference `json:"difference_to_best,omitempty"`
	Unfinished int              `json:"unfinished_machines"`
	Seconds    float64          `json:"seconds"` // elapsed time of training and prediction
	Best       bool             `json:"is_best,omitempty"`

	*solvedLine // solver statistics; nil for learners other than SVMs
}

// solvedLine holds additional fields for support vector machines.
type solvedLine struct {
	Iterations     int64   `json:"iterations"`
	Support        float64 `json:"support_vectors"` // mean number of distinct support vectors per fold
	source.Figures         // scores over all documents
}

func newGridRow(v *learn.Validation) gridRow {
	row := gridRow{Kernel: v.Kernel, Regularization: v.Regularization, Mean: v.Mean,
		SD: v.SD, SE: v.SE,
		Figures: v.Figures, ToBest: v.ToBest, Unfinished: v.Ended.Unfinished, Seconds: v.Elapsed.Seconds()}
	t := model.Type(v.Spec)
	if !slices.Contains(model.Types, t) {
		row.Type, row.Scheme = v.Spec, v.About.SchemeName()
		return row
	}
	row.Embedding = v.About.Embedding
	if t.Classifies() {
		row.Scheme = v.Scheme.String()
	}
	row.solvedLine = &solvedLine{v.Iterations, v.Support,
		source.NewFigures(v.Score, v.Measure == tune.MeanSquaredError, v.Measure == tune.MicroF1)}
	return row
}

// newGridReport returns a report with the fields that don't depend on the search.
func newGridReport(run *grid, j *job, g *learn.Grid, ngrams []string) *gridReport {
	r := &gridReport{
		Corpus: source.NewLine(j.corpus), Folds: g.Folds, Groups: run.GroupColumn,
		Seed: run.seed, Points: g.Total(), Rows: []gridRow{},
		run: run, searched: g, ngrams: ngrams, SecondsRead: j.read,
	}
	r.Corpus.Targets = j.line.Targets
	r.machineLine = run.line(&learn.About{Type: run.kind, Scheme: learn.SchemeOf(run.learner.trainer)})
	return r
}

func (r *gridReport) fill(e *cli.Env, j *job, found *learn.Found, complete bool) {
	run := r.run
	r.Measure, r.Complete = found.Measure, complete
	r.SecondsSolve = found.Solve.Seconds()
	var ended learn.Convergence
	r.parts = found.Ablations()
	for _, p := range found.Points {
		row := newGridRow(p)
		if r.ngrams != nil {
			row.NGrams = r.ngrams[p.Terms]
		}
		r.Rows = append(r.Rows, row)
		ended.Add(p.Ended)
	}
	best := func() *gridRow { return &r.Rows[found.Best] }
	switch {
	case run.learner.Type == "":
		warnOf(e, ended)
		r.machineLine = run.line(&found.Points[len(found.Points)-1].About)
		r.Type, r.C, r.Best = run.kind, 0, best()
		r.Best.Best = true
		r.Train = run.trainCommand(false, r.settingsOf(r.Best))
	case found.Chosen != nil:
		r.fillSamples(found)
	default:
		r.computedBy(run, j)
		r.searchedLine = &searchedLine{run.numberOf("tolerance"), found.Fits, found.DotProducts, found.Saved,
			found.Gram.Seconds()}
		if lists := run.lists.schemes; len(lists) > 0 {
			r.machineLine.Scheme = strings.Join(lists, ", ")
		}
		if found.Best >= 0 {
			r.Best = best()
			r.Best.Best = true
			r.Train, r.Hints = run.trainCommand(false, r.settingsOf(r.Best)), edges(r.searched.Lists, r.Best)
		}
	}
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(run.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

// fillSamples adds the results of a search on samples.
func (r *gridReport) fillSamples(found *learn.Found) {
	run, chosen := r.run, found.Chosen
	r.Choice = run.choiceReport(found, r.ngrams)
	r.Scheme, r.searchedLine = "", &searchedLine{Tolerance: chosen.Settings.Tolerance, Fits: r.Choice.Fits,
		DotProducts: r.Choice.DotProducts}
	r.Points = len(r.Choice.Rows)
	if n := len(chosen.Rounds); n > 0 {
		r.Rows = r.Choice.round(n)
		for i := range r.Rows {
			if r.Rows[i].Best {
				r.Best = &r.Rows[i]
			}
		}
		cut := ""
		if r.ngrams != nil {
			cut = r.ngrams[chosen.Terms]
		}
		r.Train = run.trainCommand(true, run.settingsOf(found, cut))
	} else if chosen.Why != "" {
		r.Choice.Train = run.trainCommand(true, run.settingsOf(found, ""))
	}
}

// edges returns a hint for each parameter whose best value is at an end of its list, because a
// better value may be outside the list.
func edges(lists []kernel.List, best *gridRow) []string {
	var hints []string
	for _, list := range lists {
		v := best.C
		switch list.Name {
		case "C":
		case "nu":
			v = best.Nu
		case "epsilon":
			v = best.Epsilon
		default:
			k, err := kernel.Parse(best.Kernel)
			if err != nil {
				continue
			}
			var ok bool
			if v, ok = kernel.ParamOf(k, list.Name); !ok {
				continue
			}
		}
		if len(list.Values) < 2 {
			continue
		}
		hint := "the best candidate has the %s %s of the search, %v; a better value may lie %s"
		switch v {
		case slices.Min(list.Values):
			hints = append(hints, fmt.Sprintf(hint, "smallest", list.Name, v, "below"))
		case slices.Max(list.Values):
			hints = append(hints, fmt.Sprintf(hint, "largest", list.Name, v, "above"))
		}
	}
	return hints
}

func (r *gridReport) Describe(d *report.Document) {
	defer r.describePage(d)
	if r.Choice != nil {
		r.writeSearch(d)
		return
	}
	var kernels string
	if n := len(r.searched.Kernels()); n > 0 {
		kernels = report.Counted(n, "kernel", "kernels") + ", "
	}
	d.Line(r.Corpus)
	d.Line(kernels + r.text(foldsText(r.Folds, r.Groups, r.Seed)))
	d.Add(r.pointsSection())
	if !r.Complete {
		d.Linef("incomplete: %s of %s", report.Count(len(r.Rows)), report.Counted(r.Points, "candidate", "candidates"))
	}
	if r.Best != nil {
		r.writeBest(d, describe(r.Best.what(), r.Best.C, r.Best.Nu, r.Best.Epsilon))
		for _, hint := range r.Hints {
			d.Line(hint)
		}
		d.Line(r.Train)
	}
	r.writeModel(d)
	var matrix string
	if r.searchedLine != nil {
		d.Linef("%s computed, %s saved by sharing: %s would have needed %s",
			report.Counted(r.DotProducts, "dot product", "dot products"), report.Count(r.Saved),
			report.Counted(r.Fits, "fit", "fits"), report.Count(r.DotProducts+r.Saved))
		matrix = fmt.Sprintf("matrix %.2f s, ", r.SecondsGram)
	}
	d.Linef("reading %.2f s, %ssearch %.2f s, total %.2f s, %s", r.SecondsRead, matrix, r.SecondsSolve,
		r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// writeSearch adds the lines for a search without lists.
func (r *gridReport) writeSearch(d *report.Document) {
	d.Line(r.Corpus)
	d.Line(r.text(fmt.Sprintf("seed %d", r.Seed)))
	r.Choice.Describe(d)
	if !r.Complete {
		d.Line("incomplete")
	}
	if r.Best != nil {
		name := describe(r.Best.what(), r.Best.C, r.Best.Nu, r.Best.Epsilon)
		if r.Best.Scheme != "" {
			name += ", " + r.Best.Scheme
		}
		if r.Best.NGrams != "" {
			name += ", " + r.Best.NGrams + "-grams"
		}
		if r.Best.Terms != "" {
			name += ", " + r.Best.brief
		}
		r.writeParts(d)
		r.writeBest(d, name)
		d.Line(r.Train)
	}
	r.writeModel(d)
	d.Linef("%s; reading %.2f s, search %.2f s, total %.2f s, %s",
		report.Counted(r.DotProducts, "dot product", "dot products"), r.SecondsRead, r.SecondsSolve, r.Seconds,
		report.Peak(r.PeakBytes, r.LimitBytes))
}

// what returns the name of the learner, or of the kernel with its embedding.
func (row *gridRow) what() string {
	if row.Type != "" {
		return strings.TrimSpace(row.Type + " " + row.Kernel)
	}
	return describeKernel(row.Kernel, row.Embedding)
}

// writeBest adds a line with the best point's score.
func (r *gridReport) writeBest(d *report.Document, name string) {
	all := ""
	if r.Best.solvedLine != nil {
		if all = r.Best.All(); all != "" {
			all = "; " + all
		}
	}
	d.Fact("best", "%s: %s %s%s", name, r.Measure, r.cell(r.Best), all)
}

// cell formats the mean and standard deviation of a row's score.
func (r *gridReport) cell(row *gridRow) string {
	return r.Measure.Format(row.Mean) + " ± " + strings.TrimSuffix(r.Measure.Format(row.SD), "%")
}

// maxPoints is the maximum number of points in the text report. Pages and -json contain all points.
const maxPoints = 20

// pointsSection lists the points of a search, best first, with charts.
func (r *gridReport) pointsSection() report.Section {
	rows := byFigure(r.Rows, r.Measure)
	s := report.Section{Title: "Points", Table: pointsTable(rows, r.Measure), Brief: pointsTable(rows, r.Measure)}
	if len(rows) > maxPoints {
		s.Heading = fmt.Sprintf("the %d best of %s candidates; -json lists all", maxPoints, report.Count(len(rows)))
		s.Brief = pointsTable(rows[:maxPoints], r.Measure)
	}
	for _, c := range r.charts() {
		s.Charts = append(s.Charts, report.Chart{Chart: c, Description: "as in the table"})
	}
	return s
}

// byFigure returns a copy of rows, best first.
func byFigure(rows []gridRow, m tune.Measure) []gridRow {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b gridRow) int {
		switch x, y := a.Mean, b.Mean; {
		case m.Better(x, y):
			return -1
		case m.Better(y, x):
			return 1
		}
		return 0
	})
	return rows
}

// pointsTable returns a table of points with settings and scores.
func pointsTable(rows []gridRow, m tune.Measure) *report.Table {
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return report.Float(v)
	}
	figure := func(v float64) string { return m.Format(v) }
	column := report.NewColumn[gridRow]
	return report.TableOf(rows,
		column("kernel", func(row gridRow) string { return row.Kernel }),
		column("type", func(row gridRow) string { return row.Type }),
		column(">C", func(row gridRow) string { return number(row.C) }),
		column(">nu", func(row gridRow) string { return number(row.Nu) }),
		column(">epsilon", func(row gridRow) string { return number(row.Epsilon) }),
		column("scheme", func(row gridRow) string { return row.Scheme }),
		column("terms", func(row gridRow) string { return cmp.Or(row.brief, row.NGrams) }),
		column("round", func(row gridRow) string { return row.compares }),
		column(">documents", func(row gridRow) string { return strings.TrimPrefix(report.Count(row.Documents), "0") }),
		column(">"+m.String(), func(row gridRow) string { return figure(row.Mean) }),
		column(">± over folds", func(row gridRow) string { return strings.TrimSuffix(figure(row.SD), "%") }),
		column("", func(row gridRow) string { return map[bool]string{true: "*"}[row.Best] }),
		column(">to the best", func(row gridRow) string {
			if row.ToBest == nil {
				return ""
			}
			return signed(m, row.ToBest.Mean)
		}),
		column(">± error", func(row gridRow) string {
			if row.ToBest == nil {
				return ""
			}
			return strings.TrimSuffix(figure(row.ToBest.SE), "%")
		}))
}
