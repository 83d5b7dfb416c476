package machines

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/cli"
	"github.com/gramengine/gram/cmd/grambench/internal/place"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/cmd/grambench/internal/source"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// What is chosen from where nothing is given, what the others are tried with first.
var (
	chosenC     = []float64{10, 1, 100}
	chosenT     = []float64{2, 1, 4, 0.5, 8}
	chosenGamma = []float64{1, 0.25, 4}

	chosenHistograms = []string{"tfidf-l1-sqrt", "logtfidf-l1-sqrt", "tf-l1-sqrt"} // of -kernel diffusion and such
	chosenVectors    = []string{"logtfidf-l2", "tfidf-l2"}                         // of linear and such
)

// chooses says whether kernel, C and scheme, as far as they aren't given, are chosen for a corpus:
// for classes of text, unless svm-train's letters say what is trained.
func (t *train) chooses(c *sparse.Corpus) bool {
	return t.chooseTime > 0 && !t.f.Given("s", "t", "g", "d", "r", "n", "p") && model.Type(t.kind) == model.CSVC &&
		t.to == "gram" && c.Vocabulary != nil && !t.OfSets(&t.Kernels) && !(t.f.Given("c") && t.wholeKernel())
}

// wholeKernel reports whether a kernel is given with its parameters, or has none to choose.
func (t *train) wholeKernel() bool {
	if len(t.Specs) == 0 || strings.ContainsAny(t.Specs[0], ":(*+") {
		return len(t.Specs) > 0
	}
	k, err := engine.ParseKernel(t.Specs[0])
	if err != nil {
		return true
	}
	_, hasT := source.Takes(k, "t")
	_, hasGamma := source.Takes(k, "gamma")
	return !hasT && !hasGamma
}

// candidates are what is chosen from: what is given stays.
func (t *train) candidates(s svm.Settings) (svm.Candidates, error) {
	out := svm.Candidates{C: chosenC, Schemes: []solver.Scheme{s.Scheme}, Work: t.chooseTime, Seed: t.seed}
	if t.f.Given("c") {
		out.C = []float64{t.c}
	}
	if t.scheme == "" && s.Scheme == solver.OneVsOne {
		out.Schemes = []solver.Scheme{solver.OneVsOne, solver.OneVsRest}
	}
	var err error
	switch {
	case len(t.Specs) == 0 && t.Embedding != "":
		out.Kernels, err = t.with([]string{"diffusion", "linear"}, []string{t.Embedding})
	case len(t.Specs) == 0:
		var linear []engine.Kernel
		if out.Kernels, err = t.with([]string{"diffusion"}, chosenHistograms); err == nil {
			linear, err = t.with([]string{"linear"}, chosenVectors)
		}
		out.Kernels = append(out.Kernels, linear...)
	case t.wholeKernel():
		out.Kernels, err = t.Parse()
	default:
		out.Kernels, err = t.candidatesOf(t.Specs[0])
	}
	return out, err
}

// candidatesOf are the kernels of a name: with all embeddings of text that suit it, unless one is
// given, and values of t or gamma.
func (t *train) candidatesOf(name string) ([]engine.Kernel, error) {
	k, err := engine.ParseKernel(name)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	embeddings := []string{k.Embedding().String()}
	switch e := k.Embedding(); {
	case t.Embedding != "":
		embeddings = []string{t.Embedding}
	case e == sparse.Sphere:
		embeddings = chosenHistograms
	case e.Pairing == sparse.Dot:
		embeddings = chosenVectors
	}
	return t.with([]string{name}, embeddings)
}

// with makes all kernels of names and embeddings, with values of t or gamma where they take them.
func (t *train) with(names, embeddings []string) ([]engine.Kernel, error) {
	var out []engine.Kernel
	for _, name := range names {
		for _, embedding := range embeddings {
			e, err := sparse.ParseEmbedding(embedding)
			if err != nil {
				return nil, cli.UsageError{Err: err}
			}
			k, err := engine.ParseKernelIn(name, e)
			if err != nil {
				return nil, cli.UsageError{Err: err}
			}
			some, _, err := source.KernelsOn([]engine.Kernel{k},
				[]source.Values{{Name: "t", Values: chosenT}, {Name: "gamma", Values: chosenGamma}})
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		}
	}
	return out, nil
}

// choose chooses settings for a corpus, and reports the choice; nil where there is none.
func (t *train) choose(
	ctx context.Context, e *cli.Env, p *cli.Progress, c *sparse.Corpus, s svm.Settings,
) (svm.Settings, *choiceReport, error) {
	if !t.chooses(c) {
		return s, nil, nil
	}
	begin := time.Now()
	from, err := t.candidates(s)
	if err != nil {
		return s, nil, err
	}
	if len(c.Classes) == 2 && len(from.Schemes) > 1 {
		from.Schemes = from.Schemes[:1] // they mean the same
	}
	chosen, err := svm.Choose(ctx, c, s, from, svm.Options{
		ISA: t.processor(), Workers: t.Workers, MemoryBytes: t.Budget(), HeldBytes: place.RuntimeBytes,
		Progress: training(p, details),
	})
	p.Clear()
	if err != nil {
		return s, nil, err
	}
	if chosen.Why != "" {
		return s, &choiceReport{Why: chosen.Why}, nil
	}
	r := &choiceReport{Measure: chosen.Measure, Seconds: time.Since(begin).Seconds(),
		DotProducts: chosen.DotProducts, Fits: chosen.Fits, Train: t.trainCommand(chosen.Settings)}
	for i, round := range chosen.Rounds {
		for k, point := range round.Points {
			r.Rows = append(r.Rows, choiceRow{
				Round: i + 1, Documents: round.Documents, Kernel: point.Kernel.String(),
				Embedding: point.Kernel.Embedding().String(), Scheme: point.Scheme.String(), C: point.C,
				Mean: report.Number(point.Mean), SD: report.Number(point.SD), Best: k == round.Best,
			})
		}
	}
	return chosen.Settings, r, nil
}

// processor is the processor's instruction set that is asked for.
func (t *train) processor() string {
	if t.ISA == string(place.CUDA) {
		return ""
	}
	return t.ISA
}

// trainCommand is the command that trains with settings that were chosen.
func (t *train) trainCommand(s svm.Settings) string {
	return t.commandLine([]string{"scheme", "o", "choose-time", "q", "json"}, []string{
		"-kernel", s.Kernel.String(), "-c", fmt.Sprint(s.C), "-scheme", s.Scheme.String(), "-o", t.out,
	})
}

// choiceReport is what train reports of a choice.
type choiceReport struct {
	Why         string      `json:"why,omitempty"` // nothing was chosen
	Measure     svm.Measure `json:"measure,omitempty"`
	Rows        []choiceRow `json:"rows,omitempty"`
	DotProducts int64       `json:"dot_products"`
	Fits        int         `json:"fits"`
	Seconds     float64     `json:"seconds"`
	Train       string      `json:"train,omitempty"` // the command that fixes what was chosen
}

// choiceRow is a candidate and how it did.
type choiceRow struct {
	Round     int           `json:"round"`
	Documents int           `json:"documents"` // of the sample
	Kernel    string        `json:"kernel"`
	Embedding string        `json:"embedding"`
	Scheme    string        `json:"scheme"`
	C         float64       `json:"c"`
	Mean      report.Number `json:"mean"`
	SD        report.Number `json:"sd"`
	Best      bool          `json:"best"` // of its round
}

// shownRows is how many rows of a round are printed, the best ones; -json has all.
const shownRows = 5

// WriteText prints the best of each round and the command.
func (r *choiceReport) WriteText(w io.Writer) {
	if r.Why != "" {
		fmt.Fprintf(w, "nothing was chosen: %s\n", r.Why)
		return
	}
	fmt.Fprintf(w, "chosen by %s in %s, %d folds of samples, %.2f s; the best of each round:\n", r.Measure,
		report.Counted(r.Fits, "fit", "fits"), svm.ChoiceFolds, r.Seconds)
	t := report.NewTable("kernel", ">C", "scheme", ">documents", ">"+r.Measure.String()+"  ")
	for i := 1; len(r.round(i)) > 0; i++ {
		rows := r.round(i)
		for _, row := range rows[:min(len(rows), shownRows)] {
			mark := "  "
			if row.Best {
				mark = " *"
			}
			t.Add(row.Kernel, strconv.FormatFloat(row.C, 'g', -1, 64), row.Scheme, report.Count(row.Documents),
				r.Measure.Format(float64(row.Mean))+mark)
		}
	}
	t.Write(w)
	fmt.Fprintln(w, r.Train)
}

// round returns the rows of a round, the best first.
func (r *choiceReport) round(number int) []choiceRow {
	var rows []choiceRow
	for _, row := range r.Rows {
		if row.Round == number {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b choiceRow) int {
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
