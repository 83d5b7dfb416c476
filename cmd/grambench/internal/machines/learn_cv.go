package machines

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
)

// learnedCV is the report of cv with a learner.
type learnedCV struct {
	Corpus source.Line `json:"corpus"`
	learnedLine
	Folds int    `json:"folds"`
	Seed  uint64 `json:"seed"`

	Scored  int           `json:"documents_scored"`
	Right   int           `json:"documents_right"`
	figures               // of all documents together
	Measure svm.Measure   `json:"measure"`
	Mean    report.Number `json:"mean"`
	SD      report.Number `json:"standard_deviation"`

	Unfinished int `json:"unfinished_machines"`

	Seconds      float64 `json:"seconds"`
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"`

	Rows []learnedFold `json:"rows"`
}

// learnedFold is one fold.
type learnedFold struct {
	Fold      int `json:"fold"` // from 1
	Documents int `json:"documents"`
	Right     int `json:"documents_right"`
	figures
}

// runLearner validates the learner that -type names.
func (v *validation) runLearner(ctx context.Context, e *cli.Env) error {
	p := e.Progress(true)
	defer p.Clear()
	l, err := v.learn(ctx, e, p)
	if err != nil {
		return err
	}
	r := &learnedCV{Corpus: source.NewLine(l.corpus), Folds: v.folds, Seed: v.seed, SecondsRead: l.read}
	begin := time.Now()
	point := []learn.Point{{Trainer: v.learner.trainer, Kernel: l.o.Kernel}}
	found, err := learn.Search(ctx, l.corpus, point, l.o, nil, v.folds, v.seed)
	if err != nil {
		return l.named(err)
	}
	p.Clear()
	s, labels := found[0], l.o.Scheme == solver.Labels
	r.SecondsSolve = time.Since(begin).Seconds()
	r.learnedLine, r.Unfinished = v.learnedLine(s.About), warnOf(e, s.Ended)
	r.Scored, r.Right, r.figures = s.Score.Documents, s.Score.Right, newFigures(s.Score, false, labels)
	r.Measure, r.Mean, r.SD = s.Measure, report.Number(s.Mean), report.Number(s.SD)
	for i, f := range s.ByFold {
		r.Rows = append(r.Rows, learnedFold{i + 1, f.Documents, f.Right, newFigures(f, false, labels)})
	}
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(v.Memory)
	r.Seconds = time.Since(l.begin).Seconds()
	if v.f.Quiet && !v.f.JSON {
		writeAccuracy(e.Stdout, r.figures)
		return nil
	}
	return v.Report(e, v.f, r)
}

func (r *learnedCV) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed)))
	accuracy := ">accuracy"
	if r.Measure == svm.MicroF1 {
		accuracy = ">all labels right"
	}
	t := report.NewTable(">fold", ">documents", accuracy, ">micro F1", ">macro F1")
	for _, row := range r.Rows {
		t.Add(fmt.Sprint(row.Fold), report.Count(row.Documents), fmt.Sprintf("%.2f%%", 100*float64(*row.Accuracy)),
			fmt.Sprintf("%.4f", float64(*row.MicroF1)), fmt.Sprintf("%.4f", float64(*row.MacroF1)))
	}
	t.Write(w)
	writeMean(w, r.Measure, float64(r.Mean), float64(r.SD))
	r.writeAll(w)
	writeAccuracy(w, r.figures)
	fmt.Fprintf(w, "reading %.2f s, folds %.2f s, in all %.2f s, %s\n", r.SecondsRead, r.SecondsSolve, r.Seconds,
		report.Peak(r.PeakBytes, r.LimitBytes))
}
