package machines

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// mostChooseTime bounds -choose-time.
const mostChooseTime = 1000

// declareChoice declares -choose-time.
func (m *machine) declareChoice(work float64, usage string) {
	kernel := m.f.Lookup("kernel") // on one line of the help
	kernel.Usage = "compute `SPEC`, or several (default: chosen for text, else " + svm.DefaultKernel + ")"
	m.f.Float64Var(&m.chooseTime, "choose-time", work, usage)
	m.f.Check(func() error {
		if !(m.chooseTime >= 0 && m.chooseTime <= mostChooseTime) {
			return cli.Usagef("-choose-time %v, expected a number from 0 to %v", m.chooseTime, mostChooseTime)
		}
		return nil
	})
}

// mayChoose says whether kernel, C and scheme may be chosen, as far as they aren't given: for classes,
// unless svm-train's letters say what is trained.
func (m *machine) mayChoose() bool {
	return m.chooseTime > 0 && !m.f.Given("s", "t", "g", "d", "r", "n", "p") && model.Type(m.kind) == model.CSVC &&
		!m.OfSets(&m.Kernels) && !(m.f.Given("c") && m.given(nil).Fixed())
}

// chooses says whether train chooses for a corpus: for text, and vectors that are no counts.
func (t *train) chooses(c *sparse.Corpus) bool {
	return t.mayChoose() && t.to == "gram" && (c.Vocabulary != nil || t.ofVectors())
}

// given is what of a training isn't chosen. Embeddings, if there are any, are the only ones.
func (m *machine) given(embeddings []string) *learn.Given {
	g := &learn.Given{
		Embeddings: embeddings, Scheme: m.scheme != "", Work: m.chooseTime, Seed: m.seed,
		Vectors: m.ofVectors() && (len(embeddings) == 0 || m.scale != ""),
	}
	if len(m.Specs) > 0 {
		g.Kernel = m.Specs[0]
	}
	if m.f.Given("c") {
		g.C = m.c
	}
	if m.Embedding != "" {
		g.Embeddings = []string{m.Embedding}
	}
	return g
}

// candidates are what is chosen from: what is given stays.
func (m *machine) candidates(c *sparse.Corpus, s svm.Settings, embeddings []string) (svm.Candidates, error) {
	out, err := m.given(embeddings).Candidates(c, s)
	if err != nil {
		err = cli.UsageError{Err: err}
	}
	return out, err
}

// choose chooses settings for a corpus, and reports the choice; nil where there is none.
func (t *train) choose(
	ctx context.Context, e *cli.Env, p *cli.Progress, c *sparse.Corpus, s svm.Settings,
) (svm.Settings, *choiceReport, error) {
	if !t.chooses(c) {
		return s, nil, nil
	}
	s.Thresholds = t.tunes(s)
	from, err := t.candidates(c, s, nil)
	if err != nil {
		return s, nil, err
	}
	from.LeastC = true
	chosen, r, err := t.chosen(ctx, p, c, s, from, []string{""})
	if err != nil {
		return s, nil, err
	}
	r.Train = t.commandLine([]string{"scheme", "o", "choose-time", "thresholds", "q", "json"},
		append(t.settingsOf(chosen, ""), "-o", t.out))
	return chosen.Settings, r, nil
}

// tunes says whether thresholds are tuned where settings are chosen.
func (m *machine) tunes(s svm.Settings) bool {
	return s.Scheme == solver.Labels && (bool(m.thresholds) || !m.f.Given("thresholds"))
}

// settingsOf are the flags that fix a choice.
func (m *machine) settingsOf(c *svm.Chosen, ngrams string) []string {
	s := &c.Settings
	words := []string{"-kernel", s.Kernel.String(), "-c", fmt.Sprint(s.C), "-scheme", s.Scheme.String()}
	if ngrams != "" {
		words = append(words, "-ngrams", ngrams)
	}
	if s.Scheme == solver.Labels && s.Thresholds {
		words = append(words, "-thresholds", "1")
	}
	return words
}

// chosen chooses, and reports the choice. ngrams are the names of the cuts.
func (m *machine) chosen(
	ctx context.Context, p *cli.Progress, c *sparse.Corpus, s svm.Settings, from svm.Candidates, ngrams []string,
) (*svm.Chosen, *choiceReport, error) {
	begin := time.Now()
	var tasks []svm.Task
	for after := s; m.once && len(tasks) < len(from.Schemes); { // of train, which goes on with the choice
		after.Scheme = from.Schemes[len(tasks)]
		tasks = append(tasks, svm.Task{Settings: after})
	}
	out, err := svm.Choose(ctx, c, s, from, svm.Options{
		Tasks: tasks,
		ISA:   m.processor(), Workers: m.Workers, MemoryBytes: m.Budget(), HeldBytes: backend.RuntimeBytes,
		Progress: training(p, func(s svm.Progress) []string { return append(wait(begin, s), details(s)...) }),
	})
	p.Clear()
	if out == nil {
		return nil, nil, learn.Enough(err, 0)
	}
	if out.Why != "" {
		return out, &choiceReport{Why: out.Why}, err
	}
	r := &choiceReport{Measure: out.Measure, Seconds: time.Since(begin).Seconds(), DotProducts: out.DotProducts,
		Fits: out.Fits}
	for i, round := range out.Rounds {
		for k, point := range round.Points {
			row := newGridRow(point, model.Type(m.kind), out.Measure)
			row.Round, row.Documents, row.Folds, row.NGrams = i+1, round.Documents, round.Folds, ngrams[point.Cut]
			row.Best = k == round.Best
			r.Rows = append(r.Rows, row)
		}
		r.Hint = m.oneAnswer(round.Points[round.Best].Score) // the last round's stays
	}
	return out, r, err
}

// oneAnswer says so where all documents get the same class.
func (m *machine) oneAnswer(s *svm.Score) string {
	same := func(c svm.ClassScore) bool { return c.Given == s.Documents }
	i := slices.IndexFunc(s.Classes, same)
	if i < 0 || s.Confusion == nil {
		return ""
	}
	ways := "-weight balanced, or -scheme labels, may tell"
	if m.f.Given("weight") {
		ways = "-scheme labels may tell"
	}
	return fmt.Sprintf("the best takes all documents for %s: %s the others from it", s.Classes[i].Name, ways)
}

// processor is the processor's instruction set that is asked for.
func (m *machine) processor() string {
	if m.ISA == string(backend.CUDA) {
		return ""
	}
	return m.ISA
}

// choiceReport is what train and grid report of a choice.
type choiceReport struct {
	Why         string      `json:"why,omitempty"` // nothing was compared
	Measure     svm.Measure `json:"measure,omitempty"`
	Rows        []gridRow   `json:"rows,omitempty"`
	DotProducts int64       `json:"dot_products"`
	Fits        int         `json:"fits"`
	Seconds     float64     `json:"seconds"`
	Hint        string      `json:"hint,omitempty"`
	Train       string      `json:"train,omitempty"` // the command that fixes what was chosen
}

// shownRows is how many rows of a round are printed, the best ones; -json has all.
const shownRows = 5

// WriteText prints the best of each round and the command.
func (r *choiceReport) WriteText(w io.Writer) {
	if r.Why != "" {
		fmt.Fprintf(w, "nothing was compared: %s; the first candidate is taken:\n", r.Why)
		if r.Train != "" {
			fmt.Fprintln(w, r.Train)
		}
		return
	}
	folds := strconv.Itoa(svm.ChoiceFolds)
	if n := len(r.Rows); n > 0 && r.Rows[n-1].Folds != r.Rows[0].Folds {
		folds += fmt.Sprintf(", at last %d", r.Rows[n-1].Folds)
	}
	fmt.Fprintf(w, "chosen by %s in %s, %s folds of samples, %.2f s; the best of each round:\n", r.Measure,
		report.Counted(r.Fits, "fit", "fits"), folds, r.Seconds)
	titles := []string{"kernel", ">C", "scheme", ">documents", ">" + r.Measure.String() + "  "}
	cut := slices.ContainsFunc(r.Rows, func(row gridRow) bool { return row.NGrams != "" })
	if cut {
		titles = slices.Insert(titles, 3, "ngrams")
	}
	t := report.NewTable(titles...)
	for i := 1; len(r.round(i)) > 0; i++ {
		rows := r.round(i)
		for _, row := range rows[:min(len(rows), shownRows)] {
			mark := "  "
			if row.Best {
				mark = " *"
			}
			cells := []string{row.Kernel, strconv.FormatFloat(row.C, 'g', -1, 64), row.Scheme,
				report.Count(row.Documents), r.Measure.Format(float64(row.Mean)) + mark}
			if cut {
				cells = slices.Insert(cells, 3, row.NGrams)
			}
			t.Add(cells...)
		}
	}
	t.Write(w)
	if r.Hint != "" {
		fmt.Fprintln(w, r.Hint)
	}
	if r.Train != "" {
		fmt.Fprintln(w, r.Train)
	}
}

// round returns the rows of a round, the best first.
func (r *choiceReport) round(number int) []gridRow {
	var rows []gridRow
	for _, row := range r.Rows {
		if row.Round == number {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b gridRow) int {
		switch x, y := float64(a.Mean), float64(b.Mean); {
		case r.Measure.Better(x, y):
			return -1
		case r.Measure.Better(y, x):
			return 1
		}
		return 0
	})
	return rows
}
