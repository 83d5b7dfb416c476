package learners

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/cmd/internal/effects"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
)

// These are the maximum sizes of a page's sections.
const (
	maxText   = 4000 // bytes shown of the text of a misclassified document
	maxCopies = 200
	maxNovel  = 50
	maxCurves = 4 // number of classes with curves
)

// termsSection returns a table of the terms with the largest weights per class.
func (r *evaluateReport) termsSection() report.Section {
	t := report.NewTable("class", "strongest for it", "strongest against it")
	title := "Terms by class"
	if r.MSE != nil {
		t, title = report.NewTable("of", "raise the prediction most", "lower the prediction most"), "Terms"
	}
	for _, row := range r.Explanation.Functions {
		class := row.Class
		if row.NegativeClass != "" {
			class += " against " + row.NegativeClass
		}
		t.Add(class, joinTerms(row.Positive), joinTerms(row.Negative))
	}
	return report.Section{Title: title, Text: r.Explanation.Description, Table: t}
}

func formatPercent(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// addFigures adds the main results at the top of the page.
func (r *evaluateReport) addFigures(d *report.Document) {
	if r.Regression != nil {
		errorFigures(d, r.Regression)
		return
	}
	scoreFigures(d, r.Score)
	if r.HammingLoss != nil {
		d.AddMetric("Hamming loss", fmt.Sprintf("%.4f", *r.HammingLoss), "share of wrong labels")
	}
	if r.ECE != nil {
		d.AddMetric("Calibration error", fmt.Sprintf("%.4f", *r.ECE), fmt.Sprintf("log loss %.4f", *r.LogLoss))
	}
	if a := r.Rejection; a != nil {
		d.AddMetric("Coverage", formatPercent(a.Coverage),
			fmt.Sprintf("accuracy %s on documents that aren't rejected; the overall accuracy counts rejected "+
				"documents with their most probable class",
				formatPercent(1-a.ErrorRate)))
	}
	if len(r.CoverageAtErrorRates) > 1 {
		d.AddMetric("Coverage with 2% errors", formatPercent(r.CoverageAtErrorRates[1].Fraction),
			"threshold tuned on the test documents")
	}
	if r.NonDuplicates != nil {
		d.AddMetric("Near-duplicates in training", report.FormatCount(len(r.NearDuplicates)),
			fmt.Sprintf("%s of %s other documents correct",
				report.FormatCount(r.NonDuplicates.CorrectCount), report.FormatCount(r.NonDuplicates.DocumentCount)))
	}
}

func scoreFigures(d *report.Document, s *score.Score) {
	low, high := s.AccuracyInterval()
	d.AddMetric("Accuracy", formatPercent(s.Accuracy), fmt.Sprintf("95%% interval %.2f to %s", 100*low,
		formatPercent(high)))
	d.AddMetric("Correct", report.FormatCount(s.Correct), "of "+report.FormatDocuments(s.Documents))
	d.AddMetric("Macro F1", fmt.Sprintf("%.4f", s.MacroF1), fmt.Sprintf("micro %.4f", s.MicroF1))
}

func confusionMatrix(s *score.Score) *report.ConfusionMatrix {
	m := &report.ConfusionMatrix{Counts: s.Confusion}
	for _, k := range s.Classes {
		m.ClassNames = append(m.ClassNames, k.Name)
	}
	return m
}

const matrixNote = "Rows are true classes, columns are predicted classes. Cells are shaded by their share " +
	"of the row."

func (r *evaluateReport) pageMatrix() *report.ConfusionMatrix {
	m := confusionMatrix(r.Score)
	for i, x := range r.Outcomes {
		if !x.Scored {
			continue
		}
		m.Documents = append(m.Documents, report.CellDocument{TrueClass: x.TrueClass, PredictedClass: x.PredictedClass,
			Name: r.corpus.DocumentName(i), Text: x.Text, Note: r.formatConfidence(&r.Outcomes[i]), Confidence: x.Confidence})
	}
	return m
}

func (r *evaluateReport) formatConfidence(x *learn.Outcome) string {
	text := fmt.Sprintf("decision value %.3g", x.Margin)
	if x.Probability != nil {
		text = fmt.Sprintf("probability %.3f", *x.Probability)
	}
	if x.SecondClass != "" {
		text += ", then " + x.SecondClass
	}
	if x.Note != "" {
		text += "; " + x.Note
	}
	return text
}

// curvesSection draws ROC and precision-recall curves for the micro average and for the classes
// with the smallest AUC. The section's table lists all classes.
func curvesSection(curves []learn.Curve) report.Section {
	worst := slices.Clone(curves[1:])
	slices.SortStableFunc(worst, func(a, b learn.Curve) int { return cmp.Compare(a.AUC, b.AUC) })
	s := report.Section{Title: "Curves", Text: "ROC and precision-recall curves of the class probabilities or decision " +
		"values: the micro-average over all classes, and the classes with the smallest area under the " +
		"ROC curve.", Table: report.NewTable("class", ">documents", ">ROC AUC", ">average precision")}
	roc := chart.New("ROC", "false positive rate, %", "true positive rate, %")
	precision := chart.New("Precision and recall", "recall, %", "precision, %")
	roc.AddCurve("", chart.Gray, []chart.Point{{X: 0, Y: 0}, {X: 100, Y: 100}}, false)
	var parts [2][]string
	for i, c := range append(curves[:1:1], worst...) {
		name := cmp.Or(report.TruncateStart(c.Class, 24), "micro")
		s.Table.Add(cmp.Or(c.Class, "micro"), report.FormatCount(c.PositiveCount), fmt.Sprintf("%.4f", c.AUC),
			fmt.Sprintf("%.4f", c.AveragePrecision))
		if i > maxCurves {
			continue
		}
		for k, points := range [][][2]float64{c.ROC, c.PrecisionRecall} {
			var xy []chart.Point
			for _, at := range points {
				xy = append(xy, chart.Point{X: 100 * at[0], Y: 100 * at[1]})
			}
			[]*chart.Chart{roc, precision}[k].AddCurve(name, chart.Palette[i], xy, false)
			parts[k] = append(parts[k], fmt.Sprintf("%s %.4f", name, []float64{c.AUC, c.AveragePrecision}[k]))
		}
	}
	for _, p := range []*chart.Chart{roc, precision} {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max, p.X.TickValues, p.Y.TickValues = 0, 100, 0, 100, percentTicks, percentTicks
	}
	s.Charts = []report.Chart{{Chart: roc, Description: "areas: " + strings.Join(parts[0], "; ")},
		{Chart: precision, Description: "average precision: " + strings.Join(parts[1], "; ")}}
	return s
}

// noveltyTable returns a table with the number of documents per interval of novelty ranks.
func (r *evaluateReport) noveltyTable() *report.Table {
	t := report.NewTable(">rank above", ">up to", ">documents", ">share", ">expected", ">correct")
	above, all := 0.0, 0
	for _, n := range r.NoveltyBins {
		all += n.DocumentCount
	}
	for _, n := range r.NoveltyBins {
		right := ""
		if n.DocumentCount > 0 {
			right = report.FormatPercent(float64(n.CorrectCount) / float64(n.DocumentCount))
		}
		t.Add(fmt.Sprintf("%g%%", 100*above), fmt.Sprintf("%g%%", 100*n.MaxRank), report.FormatCount(n.DocumentCount),
			report.FormatPercent(report.Ratio(float64(n.DocumentCount), float64(all))), report.FormatPercent(n.MaxRank-above),
			right)
		above = n.MaxRank
	}
	return t
}

// novelSection returns a table of the documents with the lowest novelty ranks.
func (r *evaluateReport) novelSection() report.Section {
	s := report.Section{Title: "The most novel documents",
		Text: fmt.Sprintf("Up to %d documents with the lowest ranks.", maxNovel)}
	order := run.Range(0, len(r.Outcomes))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(*r.Outcomes[i].Rank, *r.Outcomes[j].Rank) })
	s.Table = report.NewTable("document", "class", "predicted", ">rank", ">kernel", "text")
	for _, i := range order[:min(len(order), maxNovel)] {
		x := &r.Outcomes[i]
		value := x.Note
		if x.Nearest != nil {
			value = fmt.Sprintf("%.4g", *x.Nearest)
		}
		s.Table.Add(x.Document, x.Truth, x.Prediction, fmt.Sprintf("%.4f", *x.Rank), value, report.Excerpt(x.Text, 120))
	}
	return s
}

var percentTicks = []float64{0, 20, 40, 60, 80, 100}

// charts draws error rate against coverage and, if there are probabilities, a reliability diagram.
func (r *evaluateReport) charts() []report.Chart {
	const steps = 200 // more points would not be visible
	var points []chart.Point
	for _, c := range r.CoverageCurve {
		k := len(points)
		if c.Fraction >= 0.02 && (k == 0 || c.Fraction == 1 || c.Fraction-points[k-1].X/100 >= 1.0/steps) {
			points = append(points, chart.Point{X: 100 * c.Fraction, Y: 100 * c.ErrorRate})
		}
	}
	p := chart.New("Risk-coverage curve", "coverage, %", "error rate, %")
	p.X.Min, p.X.Max, p.Y.Min, p.X.TickValues = 0, 100, 0, percentTicks
	p.AddCurve("", chart.Palette[0], points, false)
	p.Y.Max = max(p.Y.Max, 1)
	var parts []string
	for _, a := range r.CoverageAtErrorRates {
		parts = append(parts, fmt.Sprintf("error rate %s on the most confident %s of the documents",
			formatPercent(a.ErrorRate),
			formatPercent(a.Fraction)))
	}
	parts = append(parts, "on all documents "+formatPercent(1-r.Score.Accuracy))
	out := []report.Chart{{Chart: p, Description: strings.Join(parts, "; ")}}
	if r.Reliability == nil {
		return out
	}
	points, parts = nil, nil
	for _, b := range r.Reliability {
		points = append(points, chart.Point{X: 100 * b.Confidence, Y: 100 * b.Accuracy})
		parts = append(parts, fmt.Sprintf("accuracy %s on %s with a mean probability of %s", formatPercent(b.Accuracy),
			report.FormatDocuments(b.Documents), formatPercent(b.Confidence)))
	}
	p = chart.New("Reliability", "probability of the prediction, %", "accuracy, %")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max, p.X.TickValues, p.Y.TickValues = 0, 100, 0, 100, percentTicks, percentTicks
	p.AddCurve("", chart.Gray, []chart.Point{{X: 0, Y: 0}, {X: 100, Y: 100}}, false)
	p.AddCurve("", chart.Palette[0], points, true)
	return append(out, report.Chart{Chart: p, Description: strings.Join(parts, "; ")})
}

// importanceSection returns a table of the columns' importance, with a chart of the largest values.
func (r *evaluateReport) importanceSection() report.Section {
	what, format := "accuracy", func(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }
	if r.MSE != nil {
		what, format = "R²", func(v float64) string { return fmt.Sprintf("%.4f", v) }
	}
	title := fmt.Sprintf("Mean drop in %s when the values of one column are permuted", what)
	s := report.Section{Title: "Importance of columns", Heading: title,
		Text:  title + ", with its standard error over rows.",
		Table: report.NewTable("column", ">drop", ">± standard error")}
	var names []string
	for _, x := range r.Importances {
		s.Table.Add(x.Column, format(x.MeanDrop+0), format(x.SE)) // + 0 turns -0 into 0
		names = append(names, report.TruncateStart(x.Column, 20))
	}
	const most = 20
	names = names[:min(len(names), most)]
	p := chart.New("Importance of columns", "", "drop in "+what)
	p.AddBars(names, []string{"drop"}, func(column, _ int) float64 { return r.Importances[column].MeanDrop })
	for k, x := range r.Importances[:len(names)] {
		at := float64(k)
		p.AddCurve("", chart.Gray, []chart.Point{{X: at, Y: x.MeanDrop - x.SE}, {X: at, Y: x.MeanDrop + x.SE}}, false)
	}
	s.Charts = []report.Chart{{Chart: p, Description: "the chart shows the values of the table"}}
	return s
}

// mistakesSection returns the worst mistakes with the effects of words or columns.
func (r *evaluateReport) mistakesSection() report.Section {
	texts := r.trainingTexts()
	s := report.Section{Title: "Worst mistakes", Text: "The most confident wrong predictions. "}
	value, favoured, part := "decision value", "the prediction", "word"
	if r.MSE != nil {
		s.Title, s.Text, value, favoured = "Largest errors", "", "prediction", "a larger value"
	}
	if r.Mistakes[0].Columns != nil {
		part = "column"
	} else {
		s.Text += fmt.Sprintf("Words with a solid underline favour %s; words with a dashed underline oppose it. ", favoured)
	}
	s.Text += fmt.Sprintf("The effect of a %s is the change of the %s when the %s is added.", part, value, part)
	for i := range r.Mistakes {
		m := &r.Mistakes[i]
		d := report.HighlightedText{
			Name: fmt.Sprintf("%s: %s, predicted as %s", r.corpus.DocumentName(m.Index), labelsOrNone(m.Truth),
				r.predictedLabels(m)),
			Spans: markedParts(m),
		}
		switch {
		case m.WrongLabel != "":
			d.Text = fmt.Sprintf("%s is wrong, with a confidence of %.3g", m.WrongLabel, r.Outcomes[m.Index].Confidence)
		case r.MSE == nil:
			d.Text = r.formatConfidence(&r.Outcomes[m.Index])
		}
		if m.Columns != nil {
			d.Spans, d.Tables = nil, []report.CollapsibleTable{{Title: "Columns", Table: effects.ColumnTable(m.Columns),
				Open: true}}
		}
		if m.Explanation != nil {
			d.Tables = append(d.Tables, report.CollapsibleTable{Title: "Terms that decided",
				Table: effects.TermTable(m.Explanation.Terms),
				Open:  d.Spans == nil && d.Tables == nil})
			if len(m.Explanation.SupportVectors) > 0 {
				d.Tables = append(d.Tables, report.CollapsibleTable{Title: "Training documents with the largest contributions",
					Table: effects.SupportTable(m.Explanation, texts)})
			}
		}
		s.Documents = append(s.Documents, d)
	}
	return s
}

func labelsOrNone(labels string) string { return cmp.Or(labels, "none") }

func (r *evaluateReport) predictedLabels(m *learn.Mistake) string {
	if r.MSE != nil {
		return fmt.Sprintf("%.6g", r.Outcomes[m.Index].Margin)
	}
	return labelsOrNone(m.Prediction)
}

// markedParts splits the first maxText bytes of a mistake's text at the marked words.
func markedParts(m *learn.Mistake) (out []report.Span) {
	end := len(m.Text)
	if end > maxText {
		for end = maxText; !utf8.RuneStart(m.Text[end]); {
			end--
		}
	}
	at := 0
	for _, k := range m.Occurrences {
		if k.End > end {
			break
		}
		out = append(out, report.Span{Text: m.Text[at:k.Start]}, report.Span{Text: m.Text[k.Start:k.End], Effect: k.Effect,
			Title: fmt.Sprintf("%+.3g", k.Effect)})
		at = k.End
	}
	if at < end {
		out = append(out, report.Span{Text: m.Text[at:end]})
	}
	if end < len(m.Text) {
		out = append(out, report.Span{Text: fmt.Sprintf(" … (%s in all)", report.FormatBytes(int64(len(m.Text))))})
	}
	return out
}

// trainingTexts returns the text of each -training document. It returns nil unless the model has
// support vectors and was trained on the -training documents.
func (r *evaluateReport) trainingTexts() []string {
	a := r.predictions.model.About()
	if c := r.training; a.SupportVectorCount > 0 && c != nil && a.NumDocuments == c.Documents.Rows() &&
		(a.Source == c.Source || a.Digest == c.Digest()) {
		return c.Texts
	}
	return nil
}

func joinTerms(terms []learn.TermWeight) string {
	var names []string
	for _, t := range terms {
		names = append(names, t.Term)
	}
	return strings.Join(names, ", ")
}

// copiesSection returns a table of the documents with near-duplicates in the training set.
func (r *evaluateReport) copiesSection() report.Section {
	s := report.Section{Title: "Near-duplicates in training", Text: fmt.Sprintf("%s within a cosine distance of 0.02 "+
		"of a training document (embedding tf-l1-sqrt). Up to %d are listed:",
		report.FormatCountOf(len(r.NearDuplicates), "document is", "documents are"), maxCopies)}
	s.Table = report.NewTable("document", "class", "predicted", "training document", "its class", ">c", "text")
	for _, k := range r.NearDuplicates[:min(len(r.NearDuplicates), maxCopies)] {
		x := &r.Outcomes[k.Document-1]
		var classes []string
		for _, id := range r.training.Labels.Classes(k.TrainingDocument - 1) {
			classes = append(classes, r.training.Classes[id])
		}
		s.Table.Add(x.Document, x.Truth, x.Prediction, source.DisplayName(r.training, k.TrainingDocument-1),
			strings.Join(classes, ","), fmt.Sprintf("%.4f", k.Distance), report.Excerpt(x.Text, 120))
	}
	return s
}

func (r *evaluateReport) modelSection(x *predictions) report.Section {
	a := &x.about
	s := report.Section{Title: "Model", Code: r.Command}
	add := func(name, value string) {
		if value != "" && value != "0" {
			s.Facts = append(s.Facts, [2]string{name, value})
		}
	}
	add("Learner", a.Type)
	add("Kernel", a.Kernel)
	add("Embedding", a.Embedding)
	add("C", fmt.Sprint(a.C))
	add("Scheme", a.SchemeName())
	if a.Vocabulary != nil {
		add("Terms", a.Tokenizer.String())
		add("Vocabulary", report.FormatCountOf(len(a.Vocabulary), "term", "terms"))
	}
	if a.HasProbabilities {
		add("Probabilities", "yes")
	}
	add("Classes", fmt.Sprint(len(a.Classes)))
	add("Support vectors", report.FormatCount(a.SupportVectorCount))
	if a.Source != "" {
		add("Trained on", a.Source)
	}
	return s
}
