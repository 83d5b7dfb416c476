package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// cvReport is the report of the command cv.
type cvReport struct {
	Corpus corpusLine `json:"corpus"`
	svmLine
	Folds int    `json:"folds"`
	Seed  uint64 `json:"seed"`

	Scored   int         `json:"documents_scored"`
	Right    int         `json:"documents_right"`
	Accuracy *float64    `json:"accuracy,omitempty"` // of all documents together; of labels: documents all of whose labels are right
	MicroF1  *float64    `json:"micro_f1,omitempty"`
	MacroF1  *float64    `json:"macro_f1,omitempty"`
	Hamming  *float64    `json:"hamming_loss,omitempty"`
	MSE      *number     `json:"mean_squared_error,omitempty"`
	R2       *number     `json:"squared_correlation,omitempty"`
	Measure  svm.Measure `json:"measure"` // which figure the next two and the rows have
	Mean     number      `json:"mean"`    // over the folds
	SD       number      `json:"standard_deviation"`

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

// svmLine is what the reports of cv and grid say about what was trained.
type svmLine struct {
	Type      string  `json:"type"`
	Kernel    string  `json:"kernel,omitempty"`
	Embedding string  `json:"embedding,omitempty"`
	Scheme    string  `json:"scheme,omitempty"`
	C         float64 `json:"c,omitempty"`
	Nu        float64 `json:"nu,omitempty"`
	Epsilon   float64 `json:"epsilon,omitempty"`
	Tolerance float64 `json:"tolerance"`
	ISA       string  `json:"isa"`
	Why       string  `json:"backend_reason,omitempty"` // why -backend auto took it
	Solver    string  `json:"solver"`                   // whose memory had the solver's rows and scores: cpu or cuda
	Workers   int     `json:"workers"`
}

// newSVMLine says what settings mean, without the numbers that their type has no use for.
func newSVMLine(s svm.Settings) svmLine {
	l := svmLine{Type: string(s.Type), C: s.C, Tolerance: s.Tolerance}
	switch s.Type {
	case model.NuSVC:
		l.C, l.Nu = 0, s.Nu
	case model.NuSVR:
		l.Nu = s.Nu
	case model.EpsilonSVR:
		l.Epsilon = s.Epsilon
	}
	if s.Type.Classifies() {
		l.Scheme = s.Scheme.String()
	}
	return l
}

// computed says what computed it: the back end, the solver's place where that is the GPU, and workers.
func (l *svmLine) computed() []string {
	parts := []string{withWhy(l.ISA, l.Why)}
	if l.Solver == string(cudaBackend) {
		parts = append(parts, solvedOnGPU)
	}
	return append(parts, counted(l.Workers, "worker", "workers"))
}

// foldRow is one fold.
type foldRow struct {
	Fold      int     `json:"fold"` // from 1
	Documents int     `json:"documents"`
	Support   int     `json:"support_vectors"`
	Right     int     `json:"documents_right"`
	Accuracy  *number `json:"accuracy,omitempty"`
	MicroF1   *number `json:"micro_f1,omitempty"`
	MacroF1   *number `json:"macro_f1,omitempty"`
	MSE       *number `json:"mean_squared_error,omitempty"`
	R2        *number `json:"squared_correlation,omitempty"`
}

func newCVReport(c *sparse.Corpus) *cvReport { return &cvReport{Corpus: newCorpusLine(c)} }

// fill fills in what is known when all folds are done.
func (r *cvReport) fill(run *cvRun, p *svm.Problem, s svm.Settings, v *svm.Validation) {
	r.svmLine = newSVMLine(s)
	e := p.Engine()
	r.Kernel, r.Embedding = engine.Resolve(s.Kernel, p.Terms()).String(), p.Embedding().String()
	r.ISA, r.Why, r.Solver, r.Workers = e.Backend(), run.f.gpu.why, solverPlace(v.SolvedOn), e.Workers()
	r.Folds, r.Seed = run.folds, run.f.seed
	r.Scored, r.Right = v.Score.Documents, v.Score.Right
	if v.Measure == svm.MeanSquaredError {
		mse, r2 := number(v.Score.MeanSquaredError), number(v.Score.R2)
		r.MSE, r.R2 = &mse, &r2
	} else {
		r.Accuracy, r.MicroF1, r.MacroF1 = &v.Score.Accuracy, &v.Score.MicroF1, &v.Score.MacroF1
	}
	if s.Scheme == solver.Labels && s.Type.Classifies() {
		r.Hamming = &v.Score.Hamming
	}
	r.Measure, r.Mean, r.SD = v.Measure, number(v.Mean), number(v.SD)
	r.Iterations, r.Unfinished = v.Iterations, v.Unfinished
	r.SecondsGram, r.SecondsSolve = v.Gram.Seconds(), v.Solve.Seconds()
	r.DotProducts, r.Cache = v.DotProducts, newCacheLine(p.Cache())
	if v.SolvedOn != "" {
		r.Cache.Whole, r.Cache.Bytes = false, 0 // it kept nothing
	}
	r.PeakBytes, r.LimitBytes = peakBytes(), int64(run.f.memory)
	for fold, score := range v.ByFold {
		row := foldRow{Fold: fold + 1, Documents: score.Documents, Support: v.Support[fold], Right: score.Right}
		of := func(x float64) *number { n := number(x); return &n }
		if v.Measure == svm.MeanSquaredError {
			row.MSE, row.R2 = of(score.MeanSquaredError), of(score.R2)
		} else {
			row.Accuracy, row.MicroF1, row.MacroF1 = of(score.Accuracy), of(score.MicroF1), of(score.MacroF1)
		}
		r.Support += float64(row.Support) / float64(len(v.ByFold))
		r.Rows = append(r.Rows, row)
	}
}

func (r *cvReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	parts := append([]string{describeKernel(r.Kernel, r.Embedding), r.Type}, describeNumbers(r.C, r.Nu, r.Epsilon)...)
	if r.Scheme != "" {
		parts = append(parts, r.Scheme)
	}
	parts = append(parts, fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed))
	parts = append(parts, r.computed()...)
	fmt.Fprintln(w, strings.Join(parts, ", "))
	r.table().write(w)
	fmt.Fprintf(w, "mean %s %s, standard deviation %s over the folds\n", r.Measure, r.Measure.Format(float64(r.Mean)), r.Measure.Format(float64(r.SD)))
	if r.Hamming != nil {
		fmt.Fprintf(w, "all documents: micro F1 %.4f, macro F1 %.4f, Hamming loss %.4g\n", *r.MicroF1, *r.MacroF1, *r.Hamming)
	} else if r.MacroF1 != nil {
		fmt.Fprintf(w, "all documents: macro F1 %.4f\n", *r.MacroF1)
	}
	r.writeLines(w)
	if r.Solver == string(cudaBackend) {
		writeRowsOnGPU(w, r.DotProducts)
	} else {
		r.Cache.write(w, r.DotProducts)
	}
	fmt.Fprintf(w, "reading %.2f s, preparing %.2f s, matrix %.2f s, folds %.2f s, in all %.2f s, peak memory %s", r.SecondsRead, r.SecondsPrepare, r.SecondsGram,
		r.SecondsSolve, r.Seconds, formatBytes(r.PeakBytes))
	if r.LimitBytes > 0 {
		fmt.Fprintf(w, " of %s", formatBytes(r.LimitBytes))
	}
	fmt.Fprintln(w)
}

// table lists the folds.
func (r *cvReport) table() *table {
	titles := []string{">fold", ">documents", ">support vectors", ">accuracy", ">macro F1"}
	switch r.Measure {
	case svm.MicroF1:
		titles = []string{">fold", ">documents", ">support vectors", ">all labels right", ">micro F1", ">macro F1"}
	case svm.MeanSquaredError:
		titles = []string{">fold", ">documents", ">support vectors", ">mean squared error", ">squared correlation"}
	}
	t := newTable(titles...)
	for _, row := range r.Rows {
		cells := []string{fmt.Sprint(row.Fold), formatCount(row.Documents), formatCount(row.Support)}
		switch r.Measure {
		case svm.MeanSquaredError:
			cells = append(cells, fmt.Sprintf("%.6g", float64(*row.MSE)), fmt.Sprintf("%.4f", float64(*row.R2)))
		case svm.MicroF1:
			cells = append(cells, fmt.Sprintf("%.2f%%", 100*float64(*row.Accuracy)), fmt.Sprintf("%.4f", float64(*row.MicroF1)), fmt.Sprintf("%.4f", float64(*row.MacroF1)))
		default:
			cells = append(cells, fmt.Sprintf("%.2f%%", 100*float64(*row.Accuracy)), fmt.Sprintf("%.4f", float64(*row.MacroF1)))
		}
		t.add(cells...)
	}
	return t
}

// writeLines prints what svm-train -v prints: the figures of all documents together.
func (r *cvReport) writeLines(w io.Writer) {
	if r.MSE != nil {
		fmt.Fprintf(w, "Cross Validation Mean squared error = %.6g\n", float64(*r.MSE))
		fmt.Fprintf(w, "Cross Validation Squared correlation coefficient = %.6g\n", float64(*r.R2))
		return
	}
	fmt.Fprintf(w, "Cross Validation Accuracy = %.6g%%\n", 100**r.Accuracy)
}
