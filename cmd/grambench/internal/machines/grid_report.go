package machines

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/surface"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// gridReport is the report of the command grid.
type gridReport struct {
	Corpus source.Line `json:"corpus"`
	machineLine
	Folds   int         `json:"folds"`
	Seed    uint64      `json:"seed"`
	Measure svm.Measure `json:"measure"`

	Complete bool     `json:"complete"`
	Points   int      `json:"points"` // of the whole search
	Fits     int      `json:"fits"`   // classifiers that were trained: one a point and fold
	Best     *gridRow `json:"best,omitempty"`
	Train    string   `json:"train_command,omitempty"` // trains with the best settings
	Hints    []string `json:"hints,omitempty"`

	DotProducts int64 `json:"dot_products"`
	// those that training and predicting each fit by itself would have computed besides
	Saved int64 `json:"dot_products_saved"`

	Seconds      float64 `json:"seconds"` // from the first byte read
	SecondsRead  float64 `json:"seconds_read"`
	SecondsGram  float64 `json:"seconds_gram"`
	SecondsSolve float64 `json:"seconds_solve"` // training and predicting
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // what -m allows; 0 where nothing is said

	Rows   []gridRow     `json:"rows"`             // of a search those of its last round
	Choice *choiceReport `json:"search,omitempty"` // where values are tried until the best is found

	run     *grid
	kernels []engine.Kernel // of the grid
	schemes []string
	ngrams  []string
	numbers []numbers // combinations of nu and epsilon
	c       []float64
}

// numbers are what a row of the table has beside its kernel.
type numbers struct{ nu, epsilon float64 }

// gridRow is one point.
type gridRow struct {
	Round      int             `json:"round,omitempty"`     // of a choice
	Documents  int             `json:"documents,omitempty"` // of its sample
	Folds      int             `json:"folds,omitempty"`
	Kernel     string          `json:"kernel"`
	Embedding  string          `json:"embedding"`
	Scheme     string          `json:"scheme,omitempty"`
	NGrams     string          `json:"ngrams,omitempty"`
	C          float64         `json:"c,omitempty"`
	Nu         float64         `json:"nu,omitempty"`
	Epsilon    float64         `json:"epsilon,omitempty"`
	Mean       report.Number   `json:"mean"`
	SD         report.Number   `json:"standard_deviation"`
	Figures    []report.Number `json:"figures"` // by fold
	Iterations int64           `json:"iterations"`
	Unfinished int             `json:"unfinished_machines"`
	Support    float64         `json:"support_vectors"` // mean over the folds of the number of different ones
	Seconds    float64         `json:"seconds"`         // of workers, in solving its problems
	Best       bool            `json:"is_best,omitempty"`

	figures // of all documents together
}

// newGridReport begins a report with what is to be searched.
func newGridReport(c *sparse.Corpus, run *grid, g svm.Grid, s svm.Settings) *gridReport {
	r := &gridReport{
		Corpus:      source.NewLine(c),
		machineLine: newMachineLine(s),
		Folds:       g.Folds,
		Seed:        g.Seed,
		Measure:     s.Measure(),
		run:         run,
		kernels:     g.Kernels,
	}
	r.machineLine.C, r.machineLine.Nu, r.machineLine.Epsilon = 0, 0, 0
	r.schemes, r.ngrams = run.lists.schemes, run.lists.ngramList
	if len(r.schemes) > 0 {
		r.machineLine.Scheme = strings.Join(r.schemes, ", ")
	}
	or := func(list []float64, own float64) []float64 {
		if len(list) == 0 {
			return []float64{own}
		}
		return list
	}
	r.c = or(g.C, s.C)
	for _, nu := range or(g.Nu, s.Nu) {
		for _, epsilon := range or(g.Epsilon, s.Epsilon) {
			r.numbers = append(r.numbers, numbers{nu, epsilon})
		}
	}
	r.Points = len(r.kernels) * len(r.numbers) * len(r.c) * max(len(r.schemes), 1) * max(len(r.ngrams), 1)
	return r
}

// fill fills in what was found.
func (r *gridReport) fill(result *svm.SearchResult, w *gridWatch) {
	r.computedBy(w.isa, r.run.Why(), w.workers)
	r.Complete, r.Fits = len(result.Points) == result.Total, result.Fits()
	r.DotProducts, r.Saved = result.DotProducts, result.Saved()
	r.SecondsGram, r.SecondsSolve = result.Gram.Seconds(), result.Solve.Seconds()
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(r.run.Memory)
	r.Rows = []gridRow{}
	for _, p := range result.Points {
		row := newGridRow(p, model.Type(r.Type), r.Measure)
		if r.ngrams != nil {
			row.NGrams = r.ngrams[p.Cut]
		}
		r.Rows = append(r.Rows, row)
	}
	if best := result.Best; best >= 0 {
		if r.run.oneSE {
			best = result.LeastC()
		}
		r.Best = &r.Rows[best]
		r.Best.Best = true
		r.Train, r.Hints = r.run.trainCommand(r.settingsOf(r.Best)), r.edges(r.Best)
	}
}

// edges says where the best point has the least or the greatest value of a list, so that a better
// one may lie beyond.
func (r *gridReport) edges(best *gridRow) []string {
	var hints []string
	for _, list := range r.run.lists.numbers {
		v := best.C
		switch list.Name {
		case "C":
		case "nu":
			v = best.Nu
		case "epsilon":
			v = best.Epsilon
		default:
			k, err := engine.ParseKernel(best.Kernel)
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
		hint := "the best has the %s %s of the search, %v: a better one may lie %s"
		switch v {
		case slices.Min(list.Values):
			hints = append(hints, fmt.Sprintf(hint, "least", list.Name, v, "below"))
		case slices.Max(list.Values):
			hints = append(hints, fmt.Sprintf(hint, "greatest", list.Name, v, "above"))
		}
	}
	return hints
}

func (r *gridReport) WriteText(w io.Writer) {
	if r.Choice != nil {
		r.writeSearch(w)
		return
	}
	kernels := report.Counted(len(r.kernels), "kernel", "kernels")
	fmt.Fprintf(w, "%s\n%s, %s\n", r.Corpus, kernels, r.text(fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed)))
	fmt.Fprintf(w, "mean %s ± standard deviation over the folds\n", r.Measure)
	r.table().Write(w)
	if !r.Complete {
		fmt.Fprintf(w, "incomplete: %s of %s\n", report.Count(len(r.Rows)), report.Counted(r.Points, "point", "points"))
	}
	if r.Best != nil {
		name := describe(describeKernel(r.Best.Kernel, r.Best.Embedding), r.Best.C, r.Best.Nu, r.Best.Epsilon)
		r.writeBest(w, name)
		for _, hint := range r.Hints {
			fmt.Fprintln(w, hint)
		}
		fmt.Fprintln(w, r.Train)
	}
	fmt.Fprintf(w, "%s, %s saved: each of %s by itself would have taken %s\n",
		report.Counted(r.DotProducts, "dot product", "dot products"), report.Count(r.Saved),
		report.Counted(r.Fits, "fit", "fits"), report.Count(r.DotProducts+r.Saved))
	fmt.Fprintf(w, "reading %.2f s, matrix %.2f s, search %.2f s, in all %.2f s, %s\n", r.SecondsRead, r.SecondsGram,
		r.SecondsSolve, r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// writeSearch prints a search without lists.
func (r *gridReport) writeSearch(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(fmt.Sprintf("seed %d", r.Seed)))
	r.Choice.WriteText(w)
	if !r.Complete {
		fmt.Fprintln(w, "incomplete")
	}
	if r.Best != nil {
		name := describe(describeKernel(r.Best.Kernel, r.Best.Embedding), r.Best.C, 0, 0) + ", " + r.Best.Scheme
		if r.Best.NGrams != "" {
			name += ", " + r.Best.NGrams + "-grams"
		}
		r.writeBest(w, name)
		fmt.Fprintln(w, r.Train)
	}
	fmt.Fprintf(w, "%s; reading %.2f s, search %.2f s, in all %.2f s, %s\n",
		report.Counted(r.DotProducts, "dot product", "dot products"), r.SecondsRead, r.SecondsSolve, r.Seconds,
		report.Peak(r.PeakBytes, r.LimitBytes))
}

// writeBest prints the figures of the best.
func (r *gridReport) writeBest(w io.Writer, name string) {
	fmt.Fprintf(w, "best: %s: %s %s", name, r.Measure, r.cell(r.Best))
	if text := r.Best.all(); text != "" {
		fmt.Fprintf(w, "; %s", text)
	}
	fmt.Fprintln(w)
}

// cell is a figure with its deviation.
func (r *gridReport) cell(row *gridRow) string {
	return r.Measure.Format(float64(row.Mean)) + " ± " + strings.TrimSuffix(r.Measure.Format(float64(row.SD)), "%")
}

// line names a row of the table, which is a kernel with the numbers that are searched.
type line struct {
	kernel, scheme, ngrams string
	numbers
}

func (row *gridRow) line() line {
	return line{row.Kernel, row.Scheme, row.NGrams, numbers{row.Nu, row.Epsilon}}
}

// lines lists the rows of the table.
func (r *gridReport) lines() []line {
	var lines []line
	for i := range r.Rows {
		if own := r.Rows[i].line(); !slices.Contains(lines, own) {
			lines = append(lines, own)
		}
	}
	return lines
}

// at returns the point of a line and a C, nil where it isn't complete.
func (r *gridReport) at(l line, c float64) *gridRow {
	for i := range r.Rows {
		if row := &r.Rows[i]; row.line() == l && (row.C == c || row.C == 0) {
			return row
		}
	}
	return nil
}

// name names a line of the table, with what not all lines have in common.
func (r *gridReport) name(l line) string {
	name := l.kernel
	if len(r.numbers) > 1 {
		name = describe(name, 0, l.nu, l.epsilon)
	}
	if len(r.schemes) > 1 {
		name += ", " + l.scheme
	}
	if len(r.ngrams) > 1 {
		name += ", " + l.ngrams + "-grams"
	}
	return name
}

// table has a line for each kernel and a column for each C.
func (r *gridReport) table() *report.Table {
	titles := []string{"kernel"}
	for _, c := range r.c {
		title := fmt.Sprintf(">C = %v  ", c) // cells end in the place of the mark
		if model.Type(r.Type) == model.NuSVC {
			title = ">" + r.Measure.String() + "  "
		}
		titles = append(titles, title)
	}
	t := report.NewTable(titles...)
	for _, l := range r.lines() {
		cells := []string{r.name(l)}
		for _, c := range r.c {
			row := r.at(l, c)
			switch row {
			case nil:
				cells = append(cells, "-  ")
			case r.Best:
				cells = append(cells, r.cell(row)+" *")
			default:
				cells = append(cells, r.cell(row)+"  ")
			}
		}
		t.Add(cells...)
	}
	return t
}

// settingsOf are the flags of a point.
func (r *gridReport) settingsOf(best *gridRow) []string {
	settings := []string{"-kernel", best.Kernel}
	for _, q := range []struct {
		flag string
		v    float64
	}{{"-c", best.C}, {"-nu", best.Nu}, {"-epsilon", best.Epsilon}} {
		if q.v != 0 {
			settings = append(settings, q.flag, fmt.Sprint(q.v))
		}
	}
	if len(r.schemes) > 0 {
		settings = append(settings, "-scheme", best.Scheme)
	}
	if len(r.ngrams) > 0 {
		settings = append(settings, "-ngrams", best.NGrams)
	}
	return settings
}

// trainCommand is the command that trains with the settings of a point, for a shell: with the flags
// that were given, but for those of the search.
func (g *grid) trainCommand(settings []string) string {
	searched := []string{"nu", "n", "epsilon", "p", "grid", "log2c", "log2g", "folds", "v", "seed", "plot", "choose-time",
		"one-se", "q", "json"}
	if g.searches() {
		searched = append(searched, "scheme", "thresholds", "ngrams")
		if g.f.Given("ngrams") && !slices.Contains(settings, "-ngrams") {
			settings = append(settings, "-ngrams", g.f.Lookup("ngrams").Value.String())
		}
	}
	return g.commandLine(searched, settings)
}

// commandLine is a train command, for a shell: with the flags that were given, but for the kernel,
// C and others that are named, and behind them the settings.
func (m *machine) commandLine(others, settings []string) string {
	words := []string{"grambench", "train", "-in", m.In}
	m.f.Visit(func(fl *flag.Flag) {
		switch {
		case slices.Contains([]string{"in", "kernel", "embed", "scale", "t", "g", "d", "r", "c", "weight"}, fl.Name):
		case slices.Contains(others, fl.Name):
		case m.f.IsBool(fl.Name):
			words = append(words, "-"+fl.Name)
		default:
			words = append(words, "-"+fl.Name, fl.Value.String())
		}
	})
	if m.weights.balanced {
		words = append(words, "-weight", "balanced")
	}
	for _, class := range slices.Sorted(maps.Keys(m.weights.of)) {
		words = append(words, "-weight", fmt.Sprintf("%s=%v", class, m.weights.of[class]))
	}
	if m.Signed && !m.f.Given("signed") { // as -t has it
		words = append(words, "-signed")
	}
	words = append(words, settings...)
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted writes a word so that a shell reads it as it is.
func quoted(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=,@%+", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// surface takes errors from a report: 100 % less the figure, or the figure itself where less of it is
// better.
func (r *gridReport) surface() *surface.Surface {
	s := &surface.Surface{What: "error of " + r.Measure.String() + " (%)", Digits: "%.2f"}
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
	s.Title = fmt.Sprintf("%s, %s\n%s, %d folds, seed %d", report.Shorten(r.Corpus.Source, 32),
		report.Documents(r.Corpus.Documents), s.What, r.Folds, r.Seed)
	return s
}
