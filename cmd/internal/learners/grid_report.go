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
	Corpus source.Summary `json:"corpus"`
	settingsLine
	NumFolds    int          `json:"folds"`
	GroupColumn string       `json:"groups,omitempty"`
	Seed        uint64       `json:"seed"`
	Measure     tune.Measure `json:"measure"`

	IsComplete   bool     `json:"complete"`
	NumPoints    int      `json:"points"` // number of points in the search
	Best         *gridRow `json:"best,omitempty"`
	TrainCommand string   `json:"train_command,omitempty"` // command that trains with the best settings
	Hints        []string `json:"hints,omitempty"`
	*searchLine

	Seconds      float64 `json:"seconds"` // time since the start of reading
	ReadSeconds  float64 `json:"seconds_read"`
	SolveSeconds float64 `json:"seconds_solve"`           // time for training and prediction
	TrainSeconds float64 `json:"seconds_train,omitempty"` // time for training with the best settings on all documents
	File         string  `json:"file,omitempty"`          // path of the model file
	FileBytes    int64   `json:"file_bytes,omitempty"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows   []gridRow     `json:"rows"`             // searched points; for a search on samples, points of the last round
	Choice *choiceReport `json:"search,omitempty"` // selection report; nil unless the search ran on samples

	ablations  []learn.Ablation // gain from each set of terms
	grid       *grid
	searchGrid *learn.Grid
	ngrams     []string
}

// searchLine holds additional fields for a search over support vector machines.
type searchLine struct {
	Tolerance   float64 `json:"tolerance"`
	NumFits     int     `json:"fits"` // number of training runs: one per point and fold
	DotProducts int64   `json:"dot_products"`
	// number of dot products saved because training runs share kernel values
	DotProductsSaved int64   `json:"dot_products_saved"`
	GramSeconds      float64 `json:"seconds_gram"`
}

type gridRow struct {
	Round            int    `json:"round,omitempty"`     // round number in a search on samples, from 1
	NumDocuments     int    `json:"documents,omitempty"` // size of the round's sample
	NumFolds         int    `json:"folds,omitempty"`
	Type             string `json:"type,omitempty"` // name of the learner; empty for support vector machines
	Kernel           string `json:"kernel,omitempty"`
	Embedding        string `json:"embedding,omitempty"`
	Scheme           string `json:"scheme,omitempty"`
	NGrams           string `json:"ngrams,omitempty"`
	Terms            string `json:"terms,omitempty"`
	shortTerms       string // abbreviation of Terms
	comparedSettings string // names of the settings that the round compares
	solver.Regularization
	Mean             float64          `json:"mean"`
	SD               float64          `json:"standard_deviation"`
	FoldScores       []float64        `json:"figures"`        // score of each fold
	SE               float64          `json:"standard_error"` // standard error of the mean: SD divided by √folds
	DifferenceToBest *tune.Difference `json:"difference_to_best,omitempty"`
	NumUnconverged   int              `json:"unconverged"`
	Seconds          float64          `json:"seconds"` // elapsed time of training and prediction
	IsBest           bool             `json:"is_best,omitempty"`

	*convergenceLine // solver statistics and scores over all documents; nil for learners other than SVMs
}

// convergenceLine holds additional fields for support vector machines.
type convergenceLine struct {
	Iterations     int64   `json:"iterations"`
	MeanSupport    float64 `json:"support_vectors"` // mean number of distinct support vectors per fold
	source.Metrics         // scores over all documents
}

func newGridRow(v *learn.Validation) gridRow {
	row := gridRow{Kernel: v.Kernel, Regularization: v.Regularization, Mean: v.Mean,
		SD: v.SD, SE: v.SE,
		FoldScores: v.FoldValues, DifferenceToBest: v.DifferenceToBest, NumUnconverged: v.Convergence.UnfinishedCount,
		Seconds: v.Elapsed.Seconds()}
	t := model.Type(v.Spec)
	if !slices.Contains(model.Types, t) {
		row.Type, row.Scheme = v.Spec, v.About.SchemeName()
		return row
	}
	row.Embedding = v.About.Embedding
	if t.Classifies() {
		row.Scheme = v.Scheme.String()
	}
	row.convergenceLine = &convergenceLine{v.Iterations, v.MeanSupportVectorCount,
		source.NewMetrics(v.Score, v.Measure == tune.MeanSquaredError, v.Measure == tune.MicroF1)}
	return row
}

// newGridReport sets the fields of the report that don't depend on the search.
func newGridReport(run *grid, j *trainingJob, g *learn.Grid, ngrams []string) *gridReport {
	r := &gridReport{
		Corpus: source.NewSummary(j.corpus), NumFolds: g.Folds, GroupColumn: run.GroupColumn,
		Seed: run.seed, NumPoints: g.PointCount(), Rows: []gridRow{},
		grid: run, searchGrid: g, ngrams: ngrams, ReadSeconds: j.readSeconds,
	}
	r.Corpus.TargetRange = j.corpusLine.TargetRange
	r.settingsLine = run.newSettingsLine(&learn.About{Type: run.learnerType, Scheme: learn.SchemeOf(run.learner.trainer)})
	return r
}

func (r *gridReport) fill(e *cli.Env, j *trainingJob, found *learn.SearchResult, complete bool) {
	run := r.grid
	r.Measure, r.IsComplete = found.Measure, complete
	r.SolveSeconds = found.SolveTime.Seconds()
	var ended learn.Convergence
	r.ablations = found.Ablations()
	for _, p := range found.Points {
		row := newGridRow(p)
		if r.ngrams != nil {
			row.NGrams = r.ngrams[p.Tokenizer]
		}
		r.Rows = append(r.Rows, row)
		ended.Add(p.Convergence)
	}
	best := func() *gridRow { return &r.Rows[found.BestIndex] }
	switch {
	case run.learner.Type == "":
		warnUnconverged(e, ended)
		r.settingsLine = run.newSettingsLine(&found.Points[len(found.Points)-1].About)
		r.Type, r.C, r.Best = run.learnerType, 0, best()
		r.Best.IsBest = true
		r.TrainCommand = run.trainCommand(false, r.settingsOf(r.Best))
	case found.Choice != nil:
		r.fillSamples(found)
	default:
		r.setBackend(run, j)
		r.searchLine = &searchLine{run.parameterValue("tolerance"), found.FitCount, found.DotProducts, found.SavedDotProducts,
			found.GramTime.Seconds()}
		if lists := run.lists.schemes; len(lists) > 0 {
			r.settingsLine.Scheme = strings.Join(lists, ", ")
		}
		if found.BestIndex >= 0 {
			r.Best = best()
			r.Best.IsBest = true
			r.TrainCommand, r.Hints = run.trainCommand(false, r.settingsOf(r.Best)), edgeHints(r.searchGrid.Lists, r.Best)
		}
	}
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(run.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

func (r *gridReport) fillSamples(found *learn.SearchResult) {
	run, chosen := r.grid, found.Choice
	r.Choice = run.newChoiceReport(found, r.ngrams)
	r.Scheme, r.searchLine = "", &searchLine{Tolerance: chosen.Settings.Tolerance, NumFits: r.Choice.NumFits,
		DotProducts: r.Choice.DotProducts}
	r.NumPoints = len(r.Choice.Rows)
	if n := len(chosen.Rounds); n > 0 {
		r.Rows = r.Choice.roundRows(n)
		for i := range r.Rows {
			if r.Rows[i].IsBest {
				r.Best = &r.Rows[i]
			}
		}
		cut := ""
		if r.ngrams != nil {
			cut = r.ngrams[chosen.Tokenizer]
		}
		r.TrainCommand = run.trainCommand(true, run.settingsOf(found, cut))
	} else if chosen.Reason != "" {
		r.Choice.TrainCommand = run.trainCommand(true, run.settingsOf(found, ""))
	}
}

// edgeHints returns a hint for each parameter whose best value is at an end of its list, because a
// better value may be outside the list.
func edgeHints(lists []kernel.ParamGrid, best *gridRow) []string {
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
	if n := len(r.searchGrid.Kernels()); n > 0 {
		kernels = report.FormatCountOf(n, "kernel", "kernels") + ", "
	}
	d.AddLine(r.Corpus)
	d.AddLine(kernels + r.format(foldsText(r.NumFolds, r.GroupColumn, r.Seed)))
	d.AddSection(r.pointsSection())
	if !r.IsComplete {
		d.AddLinef("incomplete: %s of %s", report.FormatCount(len(r.Rows)),
			report.FormatCountOf(r.NumPoints, "candidate", "candidates"))
	}
	if r.Best != nil {
		r.writeBest(d, formatParameters(r.Best.learnerName(), r.Best.C, r.Best.Nu, r.Best.Epsilon))
		for _, hint := range r.Hints {
			d.AddLine(hint)
		}
		d.AddLine(r.TrainCommand)
	}
	r.writeModel(d)
	var matrix string
	if r.searchLine != nil {
		d.AddLinef("%s computed and %s saved by sharing; %s would need %s without sharing",
			report.FormatCountOf(r.DotProducts, "dot product", "dot products"), report.FormatCount(r.DotProductsSaved),
			report.FormatCountOf(r.NumFits, "fit", "fits"), report.FormatCount(r.DotProducts+r.DotProductsSaved))
		matrix = fmt.Sprintf("matrix %.2f s, ", r.GramSeconds)
	}
	d.AddLinef("reading %.2f s, %ssearch %.2f s, total %.2f s, %s", r.ReadSeconds, matrix, r.SolveSeconds,
		r.Seconds, report.FormatPeakMemory(r.PeakBytes, r.LimitBytes))
}

// writeSearch adds the lines for a search on samples.
func (r *gridReport) writeSearch(d *report.Document) {
	d.AddLine(r.Corpus)
	d.AddLine(r.format(fmt.Sprintf("seed %d", r.Seed)))
	r.Choice.Describe(d)
	if !r.IsComplete {
		d.AddLine("incomplete")
	}
	if r.Best != nil {
		name := formatParameters(r.Best.learnerName(), r.Best.C, r.Best.Nu, r.Best.Epsilon)
		if r.Best.Scheme != "" {
			name += ", " + r.Best.Scheme
		}
		if r.Best.NGrams != "" {
			name += ", " + r.Best.NGrams + "-grams"
		}
		if r.Best.Terms != "" {
			name += ", " + r.Best.shortTerms
		}
		r.writeAblations(d)
		r.writeBest(d, name)
		d.AddLine(r.TrainCommand)
	}
	r.writeModel(d)
	d.AddLinef("%s; reading %.2f s, search %.2f s, total %.2f s, %s",
		report.FormatCountOf(r.DotProducts, "dot product", "dot products"), r.ReadSeconds, r.SolveSeconds, r.Seconds,
		report.FormatPeakMemory(r.PeakBytes, r.LimitBytes))
}

// learnerName returns the name of the learner, or of the kernel with its embedding.
func (row *gridRow) learnerName() string {
	if row.Type != "" {
		return strings.TrimSpace(row.Type + " " + row.Kernel)
	}
	return describeKernel(row.Kernel, row.Embedding)
}

func (r *gridReport) writeBest(d *report.Document, name string) {
	all := ""
	if r.Best.convergenceLine != nil {
		if all = r.Best.FormatLosses(); all != "" {
			all = "; " + all
		}
	}
	d.AddFact("best", "%s: %s %s%s", name, r.Measure, r.formatScore(r.Best), all)
}

func (r *gridReport) formatScore(row *gridRow) string {
	return r.Measure.Format(row.Mean) + " ± " + strings.TrimSuffix(r.Measure.Format(row.SD), "%")
}

// maxPoints is the maximum number of points in the text report. Pages and -json contain all points.
const maxPoints = 20

// pointsSection lists the points of a search, best first, with charts.
func (r *gridReport) pointsSection() report.Section {
	rows := sortByScore(r.Rows, r.Measure)
	s := report.Section{Title: "Points", Table: pointsTable(rows, r.Measure), TextTable: pointsTable(rows, r.Measure)}
	if len(rows) > maxPoints {
		s.Heading = fmt.Sprintf("the %d best candidates of %s; -json lists all", maxPoints, report.FormatCount(len(rows)))
		s.TextTable = pointsTable(rows[:maxPoints], r.Measure)
	}
	for _, c := range r.charts() {
		s.Charts = append(s.Charts, report.Chart{Chart: c, Description: "as in the table"})
	}
	return s
}

// sortByScore returns a copy of rows, best first.
func sortByScore(rows []gridRow, m tune.Measure) []gridRow {
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

func pointsTable(rows []gridRow, m tune.Measure) *report.Table {
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return report.FormatFloat(v)
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
		column("terms", func(row gridRow) string { return cmp.Or(row.shortTerms, row.NGrams) }),
		column("round", func(row gridRow) string { return row.comparedSettings }),
		column(">documents", func(row gridRow) string {
			return strings.TrimPrefix(report.FormatCount(row.NumDocuments),
				"0")
		}),
		column(">"+m.String(), func(row gridRow) string { return figure(row.Mean) }),
		column(">± over folds", func(row gridRow) string { return strings.TrimSuffix(figure(row.SD), "%") }),
		column("", func(row gridRow) string { return map[bool]string{true: "*"}[row.IsBest] }),
		column(">to the best", func(row gridRow) string {
			if row.DifferenceToBest == nil {
				return ""
			}
			return formatDifference(m, row.DifferenceToBest.Mean)
		}),
		column(">± error", func(row gridRow) string {
			if row.DifferenceToBest == nil {
				return ""
			}
			return strings.TrimSuffix(figure(row.DifferenceToBest.SE), "%")
		}))
}
