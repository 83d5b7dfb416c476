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

func (m *trainingFlags) declareChoice(work float64, usage string) {
	for _, name := range []string{"c", "epsilon"} {
		m.f.Lookup(name).DefValue += ", or chosen"
	}
	kernel := m.f.Lookup("kernel")
	kernel.Usage = strings.Replace(kernel.Usage, "(default: ", "(default: chosen for text, else ", 1)
	kernel.Usage = strings.Replace(kernel.Usage, ", see gram kernels", "", 1) // so that the flag's help fits on one line
	m.f.Float64Var(&m.chooseTime, "choose-time", work, usage)
	m.f.AddCheck(func() error {
		if !(m.chooseTime >= 0 && m.chooseTime <= maxChooseTime) {
			return cli.Usagef("-choose-time must be between 0 and %v, got %v", maxChooseTime, m.chooseTime)
		}
		return nil
	})
}

// keepTexts makes the reader keep table rows for automatic selection. The reader also keeps texts,
// unless flags determine the terms.
func (m *trainingFlags) keepTexts() {
	if !learn.SelectsParameters(m.learner.Type) || m.chooseTime == 0 {
		return
	}
	m.KeepRows = learn.MaxKeptTextBytes(m.Budget())
	if !m.f.IsSet(source.TermFlags...) {
		m.KeepTexts = m.KeepRows
	}
}

// settingsOf returns flags for the chosen settings. If ngrams is empty, -ngrams is omitted.
func (m *trainingFlags) settingsOf(found *learn.SearchResult, ngrams string) []string {
	s := &found.Choice.Settings
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
	words = append(words, vocabularyFlags(found)...)
	if s.Scheme == solver.MultiLabel && s.TuneThresholds {
		words = append(words, "-thresholds", "1")
	}
	return words
}

// vocabularyFlags returns the flags that set the chosen tokenizer and minimum document frequency.
// It returns nil if the choice is the corpus's own tokenizer.
func vocabularyFlags(found *learn.SearchResult) []string {
	if found.Choice.Tokenizer == 0 || found.Tokenizers == nil {
		return nil
	}
	t := found.Tokenizers[found.Choice.Tokenizer]
	flags := []string{"-views", t.Tokenizer.WithoutScales().String()}
	if t.MinDF > 0 {
		flags = append(flags, "-min-df", fmt.Sprint(t.MinDF))
	}
	return flags
}

// addLinearHint adds a hint that recommends a linear SVM. v is the validation of the linear SVM. If
// v is nil, addLinearHint adds no hint. termFlags are the flags that set the terms.
func (r *choiceReport) addLinearHint(v *learn.Validation, termFlags []string) {
	if v == nil {
		return
	}
	r.LinearScore = v.Mean
	words := []string{"-type", "linear"}
	for _, w := range termFlags {
		words = append(words, quote(w))
	}
	r.Hint = fmt.Sprintf("a linear SVM has %s %s on the same folds and needs much less time and memory: %s",
		v.Measure, v.Measure.Format(v.Mean), strings.Join(words, " "))
}

// newChoiceReport returns the report on an automatic selection. ngrams has an n-gram range per
// tokenizer, or is nil.
func (m *trainingFlags) newChoiceReport(found *learn.SearchResult, ngrams []string) *choiceReport {
	if c := found.Choice; c != nil && c.Reason != "" {
		return &choiceReport{Reason: c.Reason}
	}
	r := &choiceReport{Measure: found.Measure, Seconds: found.SolveTime.Seconds(), DotProducts: found.DotProducts,
		NumFits: found.FitCount}
	for i, round := range found.Rounds {
		for k, p := range round.Points {
			row := newGridRow(p)
			row.Round, row.NumDocuments, row.NumFolds = i+1, round.DocumentCount, round.Folds
			if found.Tokenizers != nil {
				row.Terms, row.shortTerms = found.Tokenizers[p.Tokenizer].String(), found.Tokenizers[p.Tokenizer].ShortString()
			} else if ngrams != nil {
				row.NGrams = ngrams[p.Tokenizer]
			}
			row.IsBest, row.comparedSettings = k == round.BestIndex, round.Parameter
			r.Rows = append(r.Rows, row)
		}
		r.Hint = m.constantHint(round.Points[round.BestIndex].Score) // the last round's hint overwrites earlier hints
	}
	return r
}

// constantHint returns a hint if the best candidate predicts the same class for all documents.
func (m *trainingFlags) constantHint(s *score.Score) string {
	same := func(c score.ClassScore) bool { return c.PredictedCount == s.Documents }
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
	Reason       string       `json:"why,omitempty"` // reason why no candidates were compared
	Measure      tune.Measure `json:"measure,omitempty"`
	Rows         []gridRow    `json:"rows,omitempty"`
	DotProducts  int64        `json:"dot_products"`
	NumFits      int          `json:"fits"`
	Seconds      float64      `json:"seconds"`
	Hint         string       `json:"hint,omitempty"`
	LinearScore  float64      `json:"linear,omitempty"` // score of a linear SVM, if it is as good as the kernel machine
	TrainCommand string       `json:"train,omitempty"`  // command that repeats the training with the chosen settings
}

// maxShownPoints limits the points in the text report. maxShownPerRound limits the points per
// round.
const maxShownPoints, maxShownPerRound = 10, 5

// Describe adds the best points of each round and the train command.
func (r *choiceReport) Describe(d *report.Document) {
	if r.Reason != "" {
		d.AddLinef("no candidates were compared, because %s; default settings:", r.Reason)
		if r.TrainCommand != "" {
			d.AddLine(r.TrainCommand)
		}
		return
	}
	folds := strconv.Itoa(tune.ChoiceFolds)
	if n := len(r.Rows); n > 0 && r.Rows[n-1].NumFolds != r.Rows[0].NumFolds {
		folds += fmt.Sprintf(", then %d", r.Rows[n-1].NumFolds)
	}
	d.AddLinef("chosen by %s in %s with %s folds of samples (%.2f s); best candidates of each round (* = chosen):",
		r.Measure,
		report.FormatCountOf(r.NumFits, "fit", "fits"), folds, r.Seconds)
	s := report.Section{Title: "Points", Table: pointsTable(sortByScore(r.Rows, r.Measure), r.Measure)}
	most := maxShownPerRound
	if n := len(r.Rows); n > 0 {
		most = max(min(most, maxShownPoints/r.Rows[n-1].Round), 1)
	}
	var shown []gridRow
	for i := 1; len(r.roundRows(i)) > 0; i++ {
		rows := r.roundRows(i)
		if best := slices.IndexFunc(rows, func(row gridRow) bool { return row.IsBest }); best >= most {
			rows[most-1] = rows[best]
		}
		shown = append(shown, rows[:min(len(rows), most)]...)
	}
	s.TextTable = pointsTable(shown, r.Measure)
	d.AddSection(s)
	if r.Hint != "" {
		d.AddLine(r.Hint)
	}
	if r.TrainCommand != "" {
		d.AddLine(r.TrainCommand)
	}
}

// roundRows returns the rows of a round, best first.
func (r *choiceReport) roundRows(number int) []gridRow {
	other := func(row gridRow) bool { return row.Round != number }
	return sortByScore(slices.DeleteFunc(slices.Clone(r.Rows), other), r.Measure)
}
