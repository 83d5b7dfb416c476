package learners

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

type predictReport struct {
	Corpus  source.Line `json:"corpus"` // description without Terms and Digest
	Model   string      `json:"model"`
	Type    string      `json:"type"`
	Kernel  string      `json:"kernel,omitempty"` // empty if the learner has no kernel
	Scheme  string      `json:"scheme,omitempty"`
	ISA     string      `json:"isa"`                      // instruction set or GPU for kernel values
	Why     string      `json:"backend_reason,omitempty"` // reason for the choice of -backend auto
	Workers int         `json:"workers"`

	Scored  int `json:"documents_scored"` // number of documents with a label that is a class of the model
	Correct int `json:"documents_correct"`
	source.Figures
	Regression *score.Regression `json:"regression,omitempty"`
	Rejection  *rejected         `json:"rejection,omitempty"`         // rejections; nil if the model never rejects
	Interval   []float64         `json:"accuracy_interval,omitempty"` // 95% Wilson confidence interval
	Matrix     [][]int           `json:"confusion_matrix,omitempty"`  // counts [true class][predicted class]

	Seconds        float64 `json:"seconds"`      // time from the start of reading to the end of writing
	SecondsRead    float64 `json:"seconds_read"` // time for reading model and documents
	SecondsPredict float64 `json:"seconds_predict"`
	SecondsWrite   float64 `json:"seconds_write"`

	Machines    int   `json:"machines"`
	Support     int   `json:"support_vectors"`
	DotProducts int64 `json:"dot_products,omitempty"`
	PeakBytes   int64 `json:"peak_bytes"`

	Rows        []score.ClassScore `json:"rows"`
	Predictions []predictedObject  `json:"predictions,omitempty"`

	confusions []confusion    // most frequent confusions
	columns    int            // terminal width; 0 if the output is not a terminal
	weighted   bool           // true for a linear SVM, which is evaluated by weight vectors
	matrix     *report.Matrix // confusion matrix with the documents of each cell, for pages
}

// classTable returns a table of scores per class.
func classTable(rows []score.ClassScore) *report.Table {
	t := report.NewTable("class", ">documents", ">predicted", ">correct", ">precision", ">recall", ">F1")
	for _, k := range rows {
		t.Add(cellsOf(k)...)
	}
	return t
}

func cellsOf(k score.ClassScore) []string {
	return []string{k.Name, report.Count(k.Documents), report.Count(k.Predicted), report.Count(k.TruePositives),
		fmt.Sprintf("%.4f", k.Precision), fmt.Sprintf("%.4f", k.Recall), fmt.Sprintf("%.4f", k.F1)}
}

// confusion counts the documents of a class for which another class was predicted.
type confusion struct {
	Class, As string
	Documents int
}

// score compares predictions with the labels of the documents, if any label is a class of the
// model.
func (r *predictReport) score(e *cli.Env, of *learn.About, p *model.Prediction, c *corpus.Corpus) {
	r.Rows = []score.ClassScore{}
	if len(c.Labels.IDs) == 0 || of.Classes != nil && !anyKnown(of.Classes, c.Classes) {
		if len(c.Labels.IDs) > 0 {
			e.Warn("predictions are not scored, because the model does not know the labels of %s, such as %s",
				c.Source, c.Classes[0])
		}
		return
	}
	if of.OneClass && !anyKnown([]string{"1", "-1"}, c.Classes) {
		return // only the labels 1 and -1 mark inliers and outliers
	}
	s, err := of.Score(p, c)
	if err != nil {
		e.Warn("predictions are not scored: %v", err)
		return
	}
	r.scored(e, s, of, c)
}

// scored sets the fields that depend on s. It warns about classes that the model can't predict.
func (r *predictReport) scored(e *cli.Env, s *score.Score, of *learn.About, c *corpus.Corpus) {
	warnNone(e, c, of.Scheme)
	if known := len(of.Classes); known > 0 && !of.OneClass && len(s.Classes) > known {
		documents := 0
		for _, k := range s.Classes[known:] {
			documents += k.Documents
		}
		e.Warn("the model does not know %s of %s (%s), such as %s; the log loss ignores these documents",
			report.Counted(len(s.Classes)-known, "class", "classes"), c.Source,
			report.Counted(documents, "document", "documents"), s.Classes[known].Name)
	}
	r.Scored, r.Correct = s.Documents, s.Correct
	if s.Documents == 0 {
		return
	}
	r.Figures = source.NewFigures(s, of.Numbers, of.Scheme == solver.Labels)
	if r.Regression = s.Regression; of.Numbers {
		return
	}
	if a := s.Answers; a != nil {
		n := float64(a.Answered)
		r.Rejection = &rejected{a.Answered, n / float64(s.Documents), (n - float64(a.Correct)) / n}
	}
	low, high := s.Interval()
	r.Interval = []float64{low, high}
	r.Rows = s.Classes
	r.Matrix = s.Confusion
	for t, row := range s.Confusion {
		for g, n := range row {
			if t != g && n > 0 {
				r.confusions = append(r.confusions, confusion{s.Classes[t].Name, s.Classes[g].Name, n})
			}
		}
	}
	slices.SortStableFunc(r.confusions, func(a, b confusion) int { return cmp.Compare(b.Documents, a.Documents) })
	r.confusions = r.confusions[:min(len(r.confusions), maxConfused)]
}

// rejected describes the answered documents. A document is answered if its largest probability
// reaches the threshold, otherwise it is rejected.
type rejected struct {
	Answered int     `json:"documents_answered"`
	Coverage float64 `json:"coverage"` // fraction of answered documents
	Error    float64 `json:"error"`    // error rate among answered documents
}

// maxConfused is the maximum number of confused pairs in the report.
const maxConfused = 10

// anyKnown reports whether any of names is in known.
func anyKnown(known, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) })
}

// fill sets the fields that describe the model and the predictor.
func (r *predictReport) fill(of *learn.About, run *predict, p learn.Predictor) {
	r.Type, r.Kernel, r.Scheme = of.Type, of.Kernel, of.SchemeName()
	r.Machines, r.Support = len(of.DecisionFunctions), of.Support
	if of.Votes {
		r.Machines = 0
	}
	r.work(run, p)
	r.PeakBytes = backend.PeakBytes()
}

// widestMatrix is the maximum number of classes for a confusion matrix in the text report.
const widestMatrix = 20

func (r *predictReport) Describe(d *report.Document) {
	d.Linef("%s: %s", r.Corpus.Source, report.Documents(r.Corpus.Documents))
	machines := ""
	if r.Machines > 0 {
		machines = ", " + report.Counted(r.Machines, "decision function", "decision functions")
	}
	if r.Kernel != "" {
		d.Linef("%s: %s, %s%s, %s", r.Model, r.Kernel, r.Type, machines,
			report.Counted(r.Support, "support vector", "support vectors"))
	} else {
		scheme := ""
		if r.Scheme != "" {
			scheme = ", " + r.Scheme
		}
		d.Linef("%s: %s%s%s", r.Model, r.Type, scheme, machines)
	}
	d.Linef("%s, %s", backend.WithWhy(r.ISA, r.Why), report.Counted(r.Workers, "worker", "workers"))
	r.writeScore(d)
	dots := ""
	if r.Support > 0 && !r.weighted { // other models don't count their dot products
		dots = report.Counted(r.DotProducts, "dot product", "dot products") + ", "
	}
	d.Linef("reading %.2f s, predicting %.2f s, writing %.2f s, total %.2f s; %speak memory %s",
		r.SecondsRead, r.SecondsPredict, r.SecondsWrite, r.Seconds, dots, report.Bytes(r.PeakBytes))
}

// writeScore adds the scores. The first line is the same as the output of svm-predict.
func (r *predictReport) writeScore(d *report.Document) {
	if r.MSE != nil {
		d.Linef("Mean squared error = %g (regression)", run.Round(*r.MSE, 6))
		d.Linef("Squared correlation coefficient = %g (regression)", run.Round(*r.Correlation, 6))
		describeErrors(d, r.Regression)
		return
	}
	if r.Accuracy == nil {
		return
	}
	d.Linef("Accuracy = %g%% (%d/%d) (classification)", run.Round(100**r.Accuracy, 6), r.Correct, r.Scored)
	if a := r.Rejection; a != nil {
		d.Fact("Coverage", "%.2f%% answered (%d/%d), of these %.2f%% wrong, %.2f%% correct; "+
			"the accuracy above uses the most probable class of rejected documents",
			100*a.Coverage, a.Answered, r.Scored, 100*a.Error, 100*(1-a.Error))
	}
	d.Fact("95% confidence interval of the accuracy", "%.2f to %.2f%%", 100*r.Interval[0], 100*r.Interval[1])
	hamming := ""
	if r.Hamming != nil {
		hamming = fmt.Sprintf("; Hamming loss %.4f (accuracy requires all labels of a document to be correct)",
			*r.Hamming)
	}
	d.Fact("F1", "micro %.4f, macro %.4f%s", *r.MicroF1, *r.MacroF1, hamming)
	if r.LogLoss != nil {
		d.Fact("Probabilities", "log loss %.4f, expected calibration error %.4f", *r.LogLoss, *r.ECE)
	}
	classes := report.Section{Title: "Classes", Table: classTable(r.Rows)}
	rows := r.Rows
	if len(rows) > widestMatrix {
		classes.Heading = fmt.Sprintf("The %d of %d classes with the lowest F1; -json lists all", widestMatrix, len(rows))
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b score.ClassScore) int { return cmp.Compare(a.F1, b.F1) })
		rows = rows[:widestMatrix]
	}
	t := classTable(rows)
	mean := func(name string, weight func(k score.ClassScore) float64) {
		k := r.mean(weight)
		t.Add(append([]string{name, "", "", ""}, cellsOf(k)[4:]...)...)
	}
	mean("mean of classes", func(k score.ClassScore) float64 { return 1 })
	mean("weighted by documents", func(k score.ClassScore) float64 { return float64(k.Documents) })
	if classes.Brief = t; classes.Heading == "" {
		d.Line("")
	}
	d.Add(classes)
	if r.Matrix != nil {
		d.Add(report.Section{Title: "Confusion", Matrix: r.matrix, Brief: r.matrixTable(),
			Heading: "Confusion matrix: rows are true classes, columns are predicted classes",
			Text: readMatrix + " Click a cell to list its documents: mistakes by decreasing, others by increasing " +
				"confidence."})
	}
	if len(r.confusions) > 0 {
		t := report.NewTable("class", "predicted as", ">documents")
		for _, c := range r.confusions {
			t.Add(c.Class, c.As, report.Count(c.Documents))
		}
		d.Table("Most confused", "Most confused", t)
	}
	d.Line("")
}

// mean returns weighted means of precision, recall and F1 over the classes that occur in labels or
// predictions.
func (r *predictReport) mean(weight func(k score.ClassScore) float64) (out score.ClassScore) {
	sum := 0.0
	for _, k := range r.Rows {
		if k.Documents+k.Predicted == 0 {
			continue
		}
		v := weight(k)
		sum += v
		out.Precision, out.Recall, out.F1 = out.Precision+v*k.Precision, out.Recall+v*k.Recall, out.F1+v*k.F1
	}
	out.Precision, out.Recall, out.F1 = out.Precision/sum, out.Recall/sum, out.F1/sum
	return out
}

// matrixTable returns the confusion matrix, or nil if it is too large for text.
func (r *predictReport) matrixTable() *report.Table {
	if len(r.Matrix) > widestMatrix {
		return nil
	}
	titles := []string{"class", ">"}
	for c := range r.Matrix[0] {
		titles = append(titles, ">"+strconv.Itoa(c+1))
	}
	t := report.NewTable(titles...)
	for c, row := range r.Matrix {
		cells := []string{r.Rows[c].Name, strconv.Itoa(c + 1)}
		for _, n := range row {
			if n == 0 {
				cells = append(cells, ".")
			} else {
				cells = append(cells, strconv.Itoa(n))
			}
		}
		t.Add(cells...)
	}
	if r.columns > 0 && t.Width() > r.columns {
		return nil // the report still lists the most confused classes
	}
	return t
}
