package learners

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

// maxChooseTime is the maximum of -choose-time, in multiples of a training run's time.
const maxChooseTime = 1000

func (m *machine) declareChoice(work float64, usage string) {
	for _, name := range []string{"c", "epsilon"} {
		m.f.Lookup(name).DefValue += ", or chosen"
	}
	kernel := m.f.Lookup("kernel")
	kernel.Usage = strings.Replace(kernel.Usage, "(default: ", "(default: chosen for text, else ", 1)
	kernel.Usage = strings.Replace(kernel.Usage, ", see gram kernels", "", 1) // so that the flag's help fits on one line
	m.f.Float64Var(&m.chooseTime, "choose-time", work, usage)
	m.f.Check(func() error {
		if !(m.chooseTime >= 0 && m.chooseTime <= maxChooseTime) {
			return cli.Usagef("-choose-time must be between 0 and %v, got %v", maxChooseTime, m.chooseTime)
		}
		return nil
	})
}

// keepTexts makes the reader keep rows for automatic selection. It also keeps texts, unless flags
// determine the terms.
func (m *machine) keepTexts() {
	if !learn.Chooses(m.learner.Type) || m.chooseTime == 0 {
		return
	}
	m.KeepRows = learn.TextsToKeep(m.Budget())
	if !m.f.IsSet(source.TermFlags...) {
		m.KeepTexts = m.KeepRows
	}
}

// settingsOf returns the flags for the chosen settings. If ngrams is empty, -ngrams is omitted.
func (m *machine) settingsOf(found *learn.Found, ngrams string) []string {
	s := &found.Chosen.Settings
	words := []string{"-kernel", s.Kernel.String(), "-c", fmt.Sprint(s.C)}
	switch s.Type {
	case model.EpsilonSVR:
		words = append(words, "-epsilon", fmt.Sprint(s.Epsilon))
	case model.NuSVR:
		words = append(words, "-nu", fmt.Sprint(s.Nu))
	default:
		words = append(words, "-scheme", s.Scheme.String())
	}
	if s.Tolerance != 1e-3 && !m.f.IsSet("tolerance", "e") { // the selection changed the tolerance
		words = append(words, "-tolerance", fmt.Sprint(s.Tolerance))
	}
	if ngrams != "" {
		words = append(words, "-ngrams", ngrams)
	}
	words = append(words, cutFlags(found)...)
	if s.Scheme == solver.Labels && s.Thresholds {
		words = append(words, "-thresholds", "1")
	}
	return words
}

// cutFlags returns the flags that set the chosen tokenizer and minimum document frequency.
func cutFlags(found *learn.Found) []string {
	if found.Chosen.Terms == 0 || found.Terms == nil {
		return nil
	}
	t := found.Terms[found.Chosen.Terms]
	flags := []string{"-views", t.Tokenizer.WithoutScales().String()}
	if t.MinDF > 0 {
		flags = append(flags, "-min-df", fmt.Sprint(t.MinDF))
	}
	return flags
}

// linear adds a hint that recommends a linear SVM. v is the linear SVM's validation; nil for no
// hint.
func (r *choiceReport) linear(v *learn.Validation, cut []string) {
	if v == nil {
		return
	}
	r.Linear = v.Mean
	words := []string{"-type", "linear"}
	for _, w := range cut {
		words = append(words, quoted(w))
	}
	r.Hint = fmt.Sprintf("a linear SVM reaches %s %s on the same folds and needs much less time and memory: %s",
		v.Measure, v.Measure.Format(v.Mean), strings.Join(words, " "))
}

// choiceReport reports an automatic selection. ngrams has an n-gram range per tokenizer, or is nil.
func (m *machine) choiceReport(found *learn.Found, ngrams []string) *choiceReport {
	if c := found.Chosen; c != nil && c.Why != "" {
		return &choiceReport{Why: c.Why}
	}
	r := &choiceReport{Measure: found.Measure, Seconds: found.Solve.Seconds(), DotProducts: found.DotProducts,
		Fits: found.Fits}
	for i, round := range found.Rounds {
		for k, p := range round.Points {
			row := newGridRow(p)
			row.Round, row.Documents, row.Folds = i+1, round.Documents, round.Folds
			if found.Terms != nil {
				row.Terms, row.brief = found.Terms[p.Terms].String(), found.Terms[p.Terms].Brief()
			} else if ngrams != nil {
				row.NGrams = ngrams[p.Terms]
			}
			row.Best, row.compares = k == round.Best, round.Compares
			r.Rows = append(r.Rows, row)
		}
		r.Hint = m.oneAnswer(round.Points[round.Best].Score) // the last round's hint remains
	}
	return r
}

// oneAnswer returns a hint if the best candidate predicts the same class for all documents.
func (m *machine) oneAnswer(s *score.Score) string {
	same := func(c score.ClassScore) bool { return c.Predicted == s.Documents }
	i := slices.IndexFunc(s.Classes, same)
	if i < 0 || s.Confusion == nil {
		return ""
	}
	ways := "-weight balanced or -scheme labels may help"
	if m.f.IsSet("weight") {
		ways = "-scheme labels may help"
	}
	return fmt.Sprintf("the best settings predict %s for all documents; %s", s.Classes[i].Name, ways)
}

// choiceReport describes an automatic selection in the reports of train and grid.
type choiceReport struct {
	Why         string       `json:"why,omitempty"` // reason why no candidates were compared
	Measure     tune.Measure `json:"measure,omitempty"`
	Rows        []gridRow    `json:"rows,omitempty"`
	DotProducts int64        `json:"dot_products"`
	Fits        int          `json:"fits"`
	Seconds     float64      `json:"seconds"`
	Hint        string       `json:"hint,omitempty"`
	Linear      float64      `json:"linear,omitempty"` // score of a linear SVM, if it is as good as the kernel machine
	Train       string       `json:"train,omitempty"`  // command that repeats the training with the chosen settings
}

// shownRows limits the number of points in the text report, and shownOfRound the number per round.
const shownRows, shownOfRound = 10, 5

// Describe adds the best points of each round and the train command.
func (r *choiceReport) Describe(d *report.Document) {
	if r.Why != "" {
		d.Linef("no candidates were compared, because %s; default settings:", r.Why)
		if r.Train != "" {
			d.Line(r.Train)
		}
		return
	}
	folds := strconv.Itoa(tune.ChoiceFolds)
	if n := len(r.Rows); n > 0 && r.Rows[n-1].Folds != r.Rows[0].Folds {
		folds += fmt.Sprintf(", then %d", r.Rows[n-1].Folds)
	}
	d.Linef("chosen by %s in %s, %s folds of samples, %.2f s; best candidates of each round (* = chosen):",
		r.Measure,
		report.Counted(r.Fits, "fit", "fits"), folds, r.Seconds)
	s := report.Section{Title: "Points", Table: pointsTable(byFigure(r.Rows, r.Measure), r.Measure)}
	most := shownOfRound
	if n := len(r.Rows); n > 0 {
		most = max(min(most, shownRows/r.Rows[n-1].Round), 1)
	}
	var shown []gridRow
	for i := 1; len(r.round(i)) > 0; i++ {
		rows := r.round(i)
		if best := slices.IndexFunc(rows, func(row gridRow) bool { return row.Best }); best >= most {
			rows[most-1] = rows[best]
		}
		shown = append(shown, rows[:min(len(rows), most)]...)
	}
	s.Brief = pointsTable(shown, r.Measure)
	d.Add(s)
	if r.Hint != "" {
		d.Line(r.Hint)
	}
	if r.Train != "" {
		d.Line(r.Train)
	}
}

// round returns the rows of a round, best first.
func (r *choiceReport) round(number int) []gridRow {
	other := func(row gridRow) bool { return row.Round != number }
	return byFigure(slices.DeleteFunc(slices.Clone(r.Rows), other), r.Measure)
}
