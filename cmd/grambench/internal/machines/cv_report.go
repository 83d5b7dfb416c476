package machines

import (
	"fmt"
	"io"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
)

// cvReport is the report of the command cv.
type cvReport struct {
	Corpus source.Line `json:"corpus"`
	machineLine
	Folds int    `json:"folds"`
	Seed  uint64 `json:"seed"`

	Scored  int           `json:"documents_scored"`
	Right   int           `json:"documents_right"`
	figures               // of all documents together
	Measure svm.Measure   `json:"measure"` // which figure the next two and the rows have
	Mean    report.Number `json:"mean"`    // over the folds
	SD      report.Number `json:"standard_deviation"`

	Support    float64 `json:"support_vectors"` // mean over the folds of the number of different ones
	Iterations int64   `json:"iterations"`
	Unfinished int     `json:"unfinished_machines"`

	Seconds        float64 `json:"seconds"` // from the first byte read
	SecondsRead    float64 `json:"seconds_read"`
	SecondsPrepare float64 `json:"seconds_prepare"` // embedding the documents and making the engine
	SecondsGram    float64 `json:"seconds_gram"`
	SecondsSolve   float64 `json:"seconds_solve"` // training and predicting all folds

	DotProducts int64     `json:"dot_products"`
	Cache       cacheLine `json:"cache"`
	PeakBytes   int64     `json:"peak_bytes"`
	LimitBytes  int64     `json:"limit_bytes"` // what -m allows; 0 where nothing is said

	Rows []foldRow `json:"rows"`
}

// foldRow is one fold.
type foldRow struct {
	Fold      int `json:"fold"` // from 1
	Documents int `json:"documents"`
	Support   int `json:"support_vectors"`
	Right     int `json:"documents_right"`
	figures
}

// fill fills in what is known when all folds are done.
func (r *cvReport) fill(run *validation, j *job, v *svm.Validation) {
	p, s := j.problem, j.settings
	r.machineLine = newMachineLine(s)
	e := p.Engine()
	r.Kernel, r.Embedding = engine.Resolve(s.Kernel, p.Terms()).String(), p.Embedding().String()
	r.computedBy(e.Backend(), run.Why(), e.Workers())
	r.SecondsRead, r.SecondsPrepare = j.read, j.prepare
	r.Folds, r.Seed = run.folds, run.seed
	r.Scored, r.Right = v.Score.Documents, v.Score.Right
	regression := v.Measure == svm.MeanSquaredError
	r.figures = newFigures(v.Score, regression, s.Scheme == solver.Labels && s.Type.Classifies())
	r.LogLoss = logLoss(v.LogLoss)
	r.Measure, r.Mean, r.SD = v.Measure, report.Number(v.Mean), report.Number(v.SD)
	r.Iterations, r.Unfinished = v.Iterations, v.Unfinished
	r.SecondsGram, r.SecondsSolve = v.Gram.Seconds(), v.Solve.Seconds()
	r.DotProducts, r.Cache = v.DotProducts, newCacheLine(p.Cache())
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(run.Memory)
	for fold, score := range v.ByFold {
		row := foldRow{Fold: fold + 1, Documents: score.Documents, Support: v.Support[fold], Right: score.Right,
			figures: newFigures(score, regression, false)}
		r.Support += float64(row.Support) / float64(len(v.ByFold))
		r.Rows = append(r.Rows, row)
	}
	r.Seconds = time.Since(j.begin).Seconds()
}

func (r *cvReport) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed)))
	r.table().Write(w)
	writeMean(w, r.Measure, float64(r.Mean), float64(r.SD))
	r.writeAll(w)
	r.writeLines(w)
	r.Cache.write(w, r.DotProducts)
	fmt.Fprintf(w, "reading %.2f s, preparing %.2f s, matrix %.2f s, folds %.2f s, in all %.2f s, %s\n", r.SecondsRead,
		r.SecondsPrepare, r.SecondsGram, r.SecondsSolve, r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// table lists the folds.
func (r *cvReport) table() *report.Table {
	titles := []string{">fold", ">documents", ">support vectors", ">accuracy", ">macro F1"}
	switch r.Measure {
	case svm.MicroF1:
		titles = []string{">fold", ">documents", ">support vectors", ">all labels right", ">micro F1", ">macro F1"}
	case svm.MeanSquaredError:
		titles = []string{">fold", ">documents", ">support vectors", ">mean squared error", ">squared correlation"}
	}
	percent := func(v *report.Number) string { return fmt.Sprintf("%.2f%%", 100*float64(*v)) }
	four := func(v *report.Number) string { return fmt.Sprintf("%.4f", float64(*v)) }
	t := report.NewTable(titles...)
	for _, row := range r.Rows {
		cells := []string{fmt.Sprint(row.Fold), report.Count(row.Documents), report.Count(row.Support)}
		switch r.Measure {
		case svm.MeanSquaredError:
			cells = append(cells, fmt.Sprintf("%.6g", float64(*row.MSE)), four(row.R2))
		case svm.MicroF1:
			cells = append(cells, percent(row.Accuracy), four(row.MicroF1), four(row.MacroF1))
		default:
			cells = append(cells, percent(row.Accuracy), four(row.MacroF1))
		}
		t.Add(cells...)
	}
	return t
}

// writeMean prints the figure by which a validation is judged.
func writeMean(w io.Writer, m svm.Measure, mean, sd float64) {
	fmt.Fprintf(w, "mean %s %s, standard deviation %s over the folds\n", m, m.Format(mean), m.Format(sd))
}

// writeLines prints what svm-train -v prints: the figures of all documents together.
func (r *cvReport) writeLines(w io.Writer) { writeAccuracy(w, r.figures) }

func writeAccuracy(w io.Writer, r figures) {
	if r.MSE != nil {
		fmt.Fprintf(w, "Cross Validation Mean squared error = %.6g\n", float64(*r.MSE))
		fmt.Fprintf(w, "Cross Validation Squared correlation coefficient = %.6g\n", float64(*r.R2))
		return
	}
	fmt.Fprintf(w, "Cross Validation Accuracy = %.6g%%\n", 100*float64(*r.Accuracy))
}
