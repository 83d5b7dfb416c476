package learners

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/internal/effects"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Evaluate is the command evaluate, which scores a model on labelled documents.
var Evaluate = &cli.Command{
	Name:      "evaluate",
	Summary:   "score a model on labelled documents, and explain its mistakes",
	ArgsUsage: "[SOURCE MODEL]",
	Help: `
Predicts labelled documents and scores the predictions: accuracy with a 95% confidence interval,
scores per class, the confusion matrix, coverage at given error rates, calibration, and the worst
mistakes, the most confident first, with the words that decided them. The effect of a word is the
decision value minus the decision value without the word.

-report writes a self-contained HTML page with sortable tables and marked words; a click on a cell
of the confusion matrix lists its documents. -o writes a line for each document: text, truth,
prediction, probability, second class, decision value. -training lists documents with near copies in
the training set, and scores the other documents separately.`,
	Examples: `
gram evaluate test.tsv.gz news.model
gram evaluate -report news.html -training train.tsv.gz test.tsv.gz news.model
gram evaluate -o predicted.csv -json test.tsv.gz news.model`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		r := &evaluate{predict: predict{f: f, output: "labels"}}
		r.declare("Evaluation", "evaluate")
		f.StringVar(&r.training, "training", "",
			"report test documents that are near-duplicates of training documents in `SOURCE`")
		f.RegisterInput(&r.training, "training", r.Files(&r.training))
		f.IntVar(&r.mistakes, "mistakes", 20, "explain the `N` worst mistakes")
		f.IntVar(&r.permutations, "permutations", 5, "permute each column `N` times to measure its importance; 0 = off")
		f.StartGroup("Output", "")
		f.OutputVar(&r.out, "o", "write one row per document to `FILE` (.csv, .tsv, .jsonl or .parquet)")
		f.DeclareReport()
		f.AddCheck(r.check)
		return r.run
	},
}

type evaluate struct {
	predict
	training string
	mistakes int

	permutations int
}

func (r *evaluate) check() error {
	if err := r.requireInputs("evaluate with"); err != nil {
		return err
	}
	r.to, r.RereadSources = cli.Extension(r.out), append(r.RereadSources, &r.training)
	switch {
	case r.out != "" && !slices.Contains(table.Formats, r.to):
		return cli.Usagef("-o %s: the file name must end in .csv, .tsv, .jsonl or .parquet", r.out)
	case r.mistakes < 0 || r.mistakes > 1000:
		return cli.Usagef("-mistakes must be between 0 and 1000, got %d", r.mistakes)
	case r.permutations < 0 || r.permutations > 1000:
		return cli.Usagef("-permutations must be between 0 and 1000, got %d", r.permutations)
	}
	return nil
}

type evaluateReport struct {
	*predictReport
	Reliability []score.Bin `json:"reliability,omitempty"`
	*learn.Evaluation
	Command string `json:"command"` // command line of this evaluation

	corpus, training *corpus.Corpus
	predictions      *predictions
}

func (r *evaluate) run(ctx context.Context, e *cli.Env) error {
	begin := time.Now()
	p := e.NewProgress(false)
	defer p.Clear()
	if r.keepTexts(); r.out != "" {
		r.KeepTexts = math.MaxInt64 // if memory is insufficient, reading fails
	}
	x, err := r.predict.predict(ctx, e, p)
	if err != nil {
		return err
	}
	r.warnTexts(e, x.corpus)
	if !x.about.IsRegression {
		warnLabels(e, x.corpus)
	}
	out := &evaluateReport{predictReport: x.report, corpus: x.corpus, Command: strings.Join(append(
		appendFlags([]string{r.f.ProgramName, "evaluate"}, r.f, "in", "model"), quote(r.Source), quote(r.model)), " ")}
	out.fill(&x.about, &r.predict, x.predictor) // before explanations, whose dot products must not be counted
	held := heldBytes(x)
	var training *sparse.CSR
	if r.training != "" {
		if out.training, err = r.readTraining(ctx, e, p, x); err != nil {
			return err
		}
		training = out.training.Documents
		held += training.Bytes()
	}
	if err := r.addNovelty(ctx, p, x, training, held); err != nil {
		return x.corpus.DescribeError(err)
	}
	p.StartStage("explaining")
	own := learn.EvaluateOptions{MistakeCount: cmp.Or(r.mistakes, -1), Training: out.training,
		Permutations: cmp.Or(r.permutations, -1)}
	out.Evaluation, err = learn.Evaluate(ctx, x.model, x.prediction, x.corpus, learn.Options{
		ISA: r.ISA, Workers: r.Workers, MemoryBytes: r.Budget(), HeldBytes: held, Predictor: x.predictor,
		Progress: func(stage string, done, total int64, details ...string) { p.Show(stage, done, total, details) },
	}, own)
	p.Clear()
	if err != nil {
		return x.corpus.DescribeError(r.RaiseToTotalNeed(err, x.corpus))
	}
	out.setScore(e, out.Score, &x.about, x.corpus)
	if c := out.Score.Calibration; c != nil {
		out.Reliability = c.Bins
	}
	writing := time.Now()
	if err := r.write(ctx, out, x); err != nil {
		return err
	}
	out.WriteSeconds, out.Seconds = time.Since(writing).Seconds(), time.Since(begin).Seconds()
	out.PeakBytes, out.columns = backend.PeakBytes(), cli.TerminalWidth(e.ReportWriter())
	if r.f.Quiet && !r.f.JSON && r.f.ReportPath+r.out != "" {
		return nil
	}
	return report.Write(e.ReportWriter(), r.WithKernelTimes(out), r.f.JSON) // r.write has written the page
}

// warnTexts warns if texts were discarded because of the memory limit.
func (r *evaluate) warnTexts(e *cli.Env, c *corpus.Corpus) {
	if c.HasRawDocuments() || c.Vocabulary == nil || strings.HasPrefix(r.Source, "synthetic:") {
		return
	}
	e.Warnf("the texts of %s need more than a quarter of -m, so mistakes are shown without their text", r.Source)
}

func (r *evaluate) write(ctx context.Context, out *evaluateReport, x *predictions) error {
	if r.out != "" {
		rows := make([]learn.PredictionRow, len(out.Outcomes))
		for i := range rows {
			rows[i] = out.Outcomes[i].PredictionRow
		}
		_, err := matrixio.WriteFile(r.out, func(w io.Writer) error {
			return table.WriteAll(ctx, w, r.to, rows, predictionColumns()...)
		})
		if err != nil {
			return err
		}
	}
	out.predictions = x
	if r.f.ReportPath != "" && out.Score.Confusion != nil {
		out.linkedMatrix = out.pageMatrix()
	}
	return r.f.WriteReportPage(out)
}

// readTraining reads the -training documents with the model's tokenizer.
func (r *evaluate) readTraining(
	ctx context.Context, e *cli.Env, p *cli.Progress, x *predictions,
) (*corpus.Corpus, error) {
	if x.about.Kernel == model.Precomputed {
		return nil, cli.Usagef("-training requires a model of documents, but %s was trained on kernel values", r.model)
	}
	d := r.WithTermsOf(r.training, x.corpus)
	d.Tokenizer = &x.about.Tokenizer
	c, err := d.Read(ctx, e, p)
	if err == nil && (c.Vocabulary == nil) != (x.corpus.Vocabulary == nil) {
		err = fmt.Errorf("-training %s and %s cannot be compared: one contains text, the other vectors",
			r.training, r.Source)
	}
	return c, err
}

func (r *evaluateReport) Describe(d *report.Document) {
	d.Title = fmt.Sprintf("%s on %s", filepath.Base(r.Model), filepath.Base(r.Corpus.Source))
	d.Intro = fmt.Sprintf("%s: %s, %s. Predictions were compared with the labels.", report.FormatDocuments(r.NumScored),
		r.Type, strings.Trim(strings.Join([]string{r.Kernel, r.Scheme}, ", "), ", "))
	r.addFigures(d)
	r.predictReport.Describe(d)
	if a := r.CoverageAtErrorRates; len(a) == 4 {
		d.AddLinef("coverage at a maximum error rate of 1%%: %s, 2%%: %s, 5%%: %s, 10%%: %s "+
			"(thresholds tuned on the test documents)",
			report.FormatPercent(a[0].Fraction), report.FormatPercent(a[1].Fraction), report.FormatPercent(a[2].Fraction),
			report.FormatPercent(a[3].Fraction))
	}
	if c := r.Curves; len(c) > 1 {
		var auc, precision float64
		for _, k := range c[1:] {
			auc, precision = auc+k.AUC/float64(len(c)-1), precision+k.AveragePrecision/float64(len(c)-1)
		}
		d.AddFact("ROC AUC", "micro %.4f, macro %.4f; average precision: micro %.4f, macro %.4f", c[0].AUC, auc,
			c[0].AveragePrecision, precision)
	}
	if r.NonDuplicates != nil {
		d.AddLinef("%s with near-duplicates in the training set; %[3]s of the other %[2]s are correct (%[4]s)",
			report.FormatDocuments(len(r.NearDuplicates)), report.FormatCount(r.NonDuplicates.DocumentCount),
			report.FormatCount(r.NonDuplicates.CorrectCount),
			report.FormatPercent(report.Ratio(float64(r.NonDuplicates.CorrectCount), float64(r.NonDuplicates.DocumentCount))))
	}
	if r.CoverageCurve != nil {
		s := report.Section{Title: "Confidence", Charts: r.charts(), Text: "This section shows the error " +
			"rate as a function of coverage, the share of documents that aren't rejected; the least confident " +
			"are rejected first. For models with probabilities, it also shows accuracy by predicted probability."}
		d.AddPageSection(s)
	}
	if r.Regression != nil {
		d.AddPageSection(estimatesSection(r.Regression, r.NumScored))
	}
	if r.Curves != nil {
		d.AddPageSection(curvesSection(r.Curves))
	}
	if r.NoveltyBins != nil {
		d.AddSection(report.Section{Title: "Novelty",
			Heading: "Novelty: rank of the test documents among the training documents",
			Text: "Each document's largest kernel value with a training document is ranked among the corresponding " +
				"values of the training documents. If both come from the same distribution, the shares match " +
				"the expected shares.",
			Table: r.noveltyTable()})
		d.AddPageSection(r.novelSection())
	}
	if len(r.Importances) > 0 {
		d.AddSection(r.importanceSection())
	}
	if len(r.Mistakes) > 0 {
		s := r.mistakesSection()
		s.Heading, s.TextTable = r.mistakesTable()
		d.AddSection(s)
	}
	if r.Explanation != nil {
		d.AddPageSection(r.termsSection())
	}
	if r.NonDuplicates != nil {
		d.AddPageSection(r.copiesSection())
	}
	d.AddPageSection(r.modelSection(r.predictions))
}

func (r *evaluateReport) mistakesTable() (title string, t *report.Table) {
	title = "Worst mistakes, and the terms with the largest effect"
	columns := []string{"document", "class", "predicted", ">confidence", "by"}
	if r.MSE != nil {
		title, columns[1], columns[3] = "Largest errors, and the terms with the largest effect", "value", ">error"
	}
	several := slices.ContainsFunc(r.Mistakes, func(m learn.Mistake) bool { return m.WrongLabel != "" })
	if several { // confidence and terms refer to the label in this column
		columns = slices.Insert(columns, 3, "wrong")
	}
	t = report.NewTable(columns...)
	for _, m := range r.Mistakes {
		cells := []string{report.TruncateStart(m.Document, 32), labelsOrNone(m.Truth), r.predictedLabels(&m),
			fmt.Sprintf("%.4g", r.Outcomes[m.Index].Confidence),
			cmp.Or(m.Note, topColumns(m.Columns, 3), topTerms(m.Explanation, 5))}
		if several {
			cells = slices.Insert(cells, 3, m.WrongLabel)
		}
		t.Add(cells...)
	}
	return title, t
}

// topTerms lists up to limit terms with the largest positive effects on the prediction.
func topTerms(x *learn.DocumentExplanation, limit int) string {
	var terms []string
	if x != nil {
		for _, e := range x.Terms {
			if e.Effect > 0 && len(terms) < limit {
				terms = append(terms, e.Term)
			}
		}
	}
	return strings.Join(terms, ", ")
}

// topColumns lists up to limit columns with the largest positive effects on the prediction, and all
// columns with a note, such as a missing value.
func topColumns(columns []learn.ColumnEffect, limit int) string {
	var parts []string
	for _, c := range columns {
		if c.Effect > 0 && len(parts) < limit || c.Note != "" {
			parts = append(parts, effects.FormatColumn(c, 24))
		}
	}
	return strings.Join(parts, ", ")
}
