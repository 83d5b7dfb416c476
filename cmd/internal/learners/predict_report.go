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
	Corpus        source.Summary `json:"corpus"` // summary without TermCount and Digest
	Model         string         `json:"model"`
	Type          string         `json:"type"`
	Kernel        string         `json:"kernel,omitempty"` // empty if the learner has no kernel
	Scheme        string         `json:"scheme,omitempty"`
	ISA           string         `json:"isa"`                      // instruction set or GPU for kernel values
	BackendReason string         `json:"backend_reason,omitempty"` // reason for the choice of -backend auto
	Workers       int            `json:"workers"`

	NumScored  int `json:"documents_scored"`
	NumCorrect int `json:"documents_correct"`
	source.Metrics
	Regression       *score.Regression `json:"regression,omitempty"`
	Rejection        *rejection        `json:"rejection,omitempty"`         // nil if the model never rejects a document
	AccuracyInterval []float64         `json:"accuracy_interval,omitempty"` // bounds of the 95% Wilson interval
	ConfusionMatrix  [][]int           `json:"confusion_matrix,omitempty"`  // counts [true class][predicted class]

	Seconds        float64 `json:"seconds"`      // time from the start of reading to the end of writing
	ReadSeconds    float64 `json:"seconds_read"` // time for reading model and documents
	PredictSeconds float64 `json:"seconds_predict"`
	WriteSeconds   float64 `json:"seconds_write"`

	NumClassifiers int   `json:"decision_functions"`
	NumSupport     int   `json:"support_vectors"`
	DotProducts    int64 `json:"dot_products,omitempty"`
	PeakBytes      int64 `json:"peak_bytes"`

	Rows        []score.ClassScore `json:"rows"`
	Predictions []predictionObject `json:"predictions,omitempty"`

	confusions   []confusion             // most frequent confusions
	columns      int                     // terminal width; 0 if the output is not a terminal
	usesWeights  bool                    // true for a linear SVM, which is evaluated by weight vectors
	linkedMatrix *report.ConfusionMatrix // confusion matrix with the documents of each cell, for pages
}

func classTable(rows []score.ClassScore) *report.Table {
	t := report.NewTable("class", ">documents", ">predicted", ">correct", ">precision", ">recall", ">F1")
	for _, k := range rows {
		t.Add(scoreCells(k)...)
	}
	return t
}

func scoreCells(k score.ClassScore) []string {
	return []string{k.Name, report.FormatCount(k.Documents), report.FormatCount(k.PredictedCount),
		report.FormatCount(k.TruePositives),
		fmt.Sprintf("%.4f", k.Precision), fmt.Sprintf("%.4f", k.Recall), fmt.Sprintf("%.4f", k.F1)}
}

// confusion counts the documents of a class for which another class was predicted.
type confusion struct {
	Class, Predicted string
	NumDocuments     int
}

// scoreLabels compares predictions with the labels of the documents, if any label is a class of the
// model.
func (r *predictReport) scoreLabels(e *cli.Env, of *learn.About, p *model.Prediction, c *corpus.Corpus) {
	r.Rows = []score.ClassScore{}
	if len(c.Labels.IDs) == 0 || of.Classes != nil && !containsAny(of.Classes, c.Classes) {
		if len(c.Labels.IDs) > 0 {
			e.Warnf("predictions are not scored, because the model does not know the labels of %s, such as %s",
				c.Source, c.Classes[0])
		}
		return
	}
	if of.OneClass && !containsAny([]string{"1", "-1"}, c.Classes) {
		return // only the labels 1 and -1 mark inliers and outliers
	}
	s, err := of.Score(p, c)
	if err != nil {
		e.Warnf("predictions are not scored: %v", err)
		return
	}
	r.setScore(e, s, of, c)
}

// setScore sets the fields that depend on s. It warns about classes that the model can't predict.
func (r *predictReport) setScore(e *cli.Env, s *score.Score, of *learn.About, c *corpus.Corpus) {
	warnUnlabelled(e, c, of.Scheme)
	if known := len(of.Classes); known > 0 && !of.OneClass && len(s.Classes) > known {
		documents := 0
		for _, k := range s.Classes[known:] {
			documents += k.Documents
		}
		e.Warnf("the model does not know %s of %s (%s), such as %s; log loss ignores these documents",
			report.FormatCountOf(len(s.Classes)-known, "class", "classes"), c.Source,
			report.FormatCountOf(documents, "document", "documents"), s.Classes[known].Name)
	}
	r.NumScored, r.NumCorrect = s.Documents, s.Correct
	if s.Documents == 0 {
		return
	}
	r.Metrics = source.NewMetrics(s, of.IsRegression, of.Scheme == solver.MultiLabel)
	if r.Regression = s.Regression; of.IsRegression {
		return
	}
	if a := s.Answers; a != nil {
		n := float64(a.Answered)
		r.Rejection = &rejection{a.Answered, n / float64(s.Documents), (n - float64(a.Correct)) / n}
	}
	low, high := s.AccuracyInterval()
	r.AccuracyInterval = []float64{low, high}
	r.Rows = s.Classes
	r.ConfusionMatrix = s.Confusion
	for t, row := range s.Confusion {
		for g, n := range row {
			if t != g && n > 0 {
				r.confusions = append(r.confusions, confusion{s.Classes[t].Name, s.Classes[g].Name, n})
			}
		}
	}
	slices.SortStableFunc(r.confusions, func(a, b confusion) int { return cmp.Compare(b.NumDocuments, a.NumDocuments) })
	r.confusions = r.confusions[:min(len(r.confusions), maxConfusions)]
}

// rejection holds statistics of prediction with a probability threshold. A document is rejected if
// its largest probability is below the threshold.
type rejection struct {
	NumAnswered int     `json:"documents_answered"`
	Coverage    float64 `json:"coverage"` // fraction of documents not rejected
	ErrorRate   float64 `json:"error"`    // error rate on documents not rejected
}

// maxConfusions is the maximum number of confused pairs in the report.
const maxConfusions = 10

func containsAny(known, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) })
}

func (r *predictReport) fill(of *learn.About, run *predict, p learn.Predictor) {
	r.Type, r.Kernel, r.Scheme = of.Type, of.Kernel, of.SchemeName()
	r.NumClassifiers, r.NumSupport = len(of.DecisionNames), of.SupportVectorCount
	if of.HasVotes {
		r.NumClassifiers = 0
	}
	r.setComputation(run, p)
	r.PeakBytes = backend.PeakBytes()
}

// maxMatrixClasses is the maximum number of classes in a table of the text report.
const maxMatrixClasses = 20

func (r *predictReport) Describe(d *report.Document) {
	d.AddLinef("%s: %s", r.Corpus.Source, report.FormatDocuments(r.Corpus.DocumentCount))
	machines := ""
	if r.NumClassifiers > 0 {
		machines = ", " + report.FormatCountOf(r.NumClassifiers, "decision function", "decision functions")
	}
	if r.Kernel != "" {
		d.AddLinef("%s: %s, %s%s, %s", r.Model, r.Kernel, r.Type, machines,
			report.FormatCountOf(r.NumSupport, "support vector", "support vectors"))
	} else {
		scheme := ""
		if r.Scheme != "" {
			scheme = ", " + r.Scheme
		}
		d.AddLinef("%s: %s%s%s", r.Model, r.Type, scheme, machines)
	}
	d.AddLinef("%s, %s", backend.WithReason(r.ISA, r.BackendReason), report.FormatCountOf(r.Workers, "worker", "workers"))
	r.writeScore(d)
	dots := ""
	if r.NumSupport > 0 && !r.usesWeights { // other models don't count their dot products
		dots = report.FormatCountOf(r.DotProducts, "dot product", "dot products") + ", "
	}
	d.AddLinef("reading %.2f s, predicting %.2f s, writing %.2f s, total %.2f s; %speak memory %s",
		r.ReadSeconds, r.PredictSeconds, r.WriteSeconds, r.Seconds, dots, report.FormatBytes(r.PeakBytes))
}

// writeScore adds the scores. The first line is the same as the output of svm-predict.
func (r *predictReport) writeScore(d *report.Document) {
	if r.MSE != nil {
		d.AddLinef("Mean squared error = %g (regression)", run.RoundSignificant(*r.MSE, 6))
		d.AddLinef("Squared correlation coefficient = %g (regression)", run.RoundSignificant(*r.SquaredCorrelation, 6))
		describeErrors(d, r.Regression)
		return
	}
	if r.Accuracy == nil {
		return
	}
	d.AddLinef("Accuracy = %g%% (%d/%d) (classification)", run.RoundSignificant(100**r.Accuracy, 6), r.NumCorrect,
		r.NumScored)
	if a := r.Rejection; a != nil {
		d.AddFact("Coverage", "%.2f%% (%d/%d); error rate %.2f%% and accuracy %.2f%% on documents that aren't "+
			"rejected; the accuracy above counts rejected documents with their most probable class",
			100*a.Coverage, a.NumAnswered, r.NumScored, 100*a.ErrorRate, 100*(1-a.ErrorRate))
	}
	d.AddFact("95% confidence interval of the accuracy", "%.2f to %.2f%%", 100*r.AccuracyInterval[0],
		100*r.AccuracyInterval[1])
	hamming := ""
	if r.HammingLoss != nil {
		hamming = fmt.Sprintf("; Hamming loss %.4f (accuracy requires all labels of a document to be correct)",
			*r.HammingLoss)
	}
	d.AddFact("F1", "micro %.4f, macro %.4f%s", *r.MicroF1, *r.MacroF1, hamming)
	if r.LogLoss != nil {
		d.AddFact("Probabilities", "log loss %.4f, expected calibration error %.4f", *r.LogLoss, *r.ECE)
	}
	classes := report.Section{Title: "Classes", Table: classTable(r.Rows)}
	rows := r.Rows
	if len(rows) > maxMatrixClasses {
		classes.Heading = fmt.Sprintf("The %d of %d classes with the lowest F1; -json lists all", maxMatrixClasses, len(rows))
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b score.ClassScore) int { return cmp.Compare(a.F1, b.F1) })
		rows = rows[:maxMatrixClasses]
	}
	t := classTable(rows)
	mean := func(name string, weight func(k score.ClassScore) float64) {
		k := r.weightedMean(weight)
		t.Add(append([]string{name, "", "", ""}, scoreCells(k)[4:]...)...)
	}
	mean("mean of classes", func(k score.ClassScore) float64 { return 1 })
	mean("weighted by documents", func(k score.ClassScore) float64 { return float64(k.Documents) })
	if classes.TextTable = t; classes.Heading == "" {
		d.AddLine("")
	}
	d.AddSection(classes)
	if r.ConfusionMatrix != nil {
		d.AddSection(report.Section{Title: "Confusion", ConfusionMatrix: r.linkedMatrix, TextTable: r.matrixTable(),
			Heading: "Confusion matrix: rows are true classes, columns are predicted classes",
			Text: matrixNote + " Click a cell to list its documents: mistakes by decreasing, others by increasing " +
				"confidence."})
	}
	if len(r.confusions) > 0 {
		t := report.NewTable("class", "predicted as", ">documents")
		for _, c := range r.confusions {
			t.Add(c.Class, c.Predicted, report.FormatCount(c.NumDocuments))
		}
		d.AddTable("Most confused", "Most confused", t)
	}
	d.AddLine("")
}

// weightedMean returns weighted means of precision, recall and F1 over the classes that occur in
// labels or predictions.
func (r *predictReport) weightedMean(weight func(k score.ClassScore) float64) (out score.ClassScore) {
	sum := 0.0
	for _, k := range r.Rows {
		if k.Documents+k.PredictedCount == 0 {
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
	if len(r.ConfusionMatrix) > maxMatrixClasses {
		return nil
	}
	titles := []string{"class", ">"}
	for c := range r.ConfusionMatrix[0] {
		titles = append(titles, ">"+strconv.Itoa(c+1))
	}
	t := report.NewTable(titles...)
	for c, row := range r.ConfusionMatrix {
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
