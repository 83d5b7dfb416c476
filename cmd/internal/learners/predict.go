package learners

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Predict is the command predict, which applies a model to documents.
var Predict = &cli.Command{
	Name:      "predict",
	Summary:   "predict documents with a model, and score the predictions if labels are known",
	ArgsUsage: "[SOURCE MODEL [FILE]]",
	Help: `
Predicts documents with a model from gram train or svm-train, and writes a line per document in the
order of the source. As in svm-predict, the source, the model and the output file may follow the
flags. If the documents have labels that the model knows, a report scores the predictions. Without
-o the predictions go to standard output, and the report to standard error.

With -to, or if the name of -o ends in .csv, .tsv, .jsonl or .parquet, it writes a table: document,
truth, prediction, probability, second class, decision value between the two classes, kernel value
and rank of the nearest training document (a small rank is novel), known terms, -texts.

A line contains the class (the most probable class if the model has probabilities; commas separate
several classes, - means none), the estimate of a regression, or 1 for inliers and -1 for outliers.
-output probabilities or decisions adds the values of all classes or decision functions, with a
header. Columns are separated by a space (a comma in .csv, a TAB in .tsv).`,
	Examples: `
gram predict -in test.tsv.gz -model news.model -o predicted.txt
gram predict -b 1 test.tsv news.model probabilities.txt
gram predict -texts test.tsv news.model predicted.csv
printf 'the engine stalls at idle\n' | gram predict -in - news.model`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		r := &predict{f: f}
		f.PrintsResult = true
		r.declare("Prediction", "predict with", cli.Argument{Flag: "o", ValueName: "file"})
		f.ChoiceVar(&r.output, "output", "", "predict `WHAT`: labels, probabilities or decisions (default: labels)",
			outputValues)
		f.Var(&r.rejectBelow, "b", "`0|1`: same as -output probabilities")
		f.StartGroup("Output", "")
		f.OutputVar(&r.out, "o", "write the predictions to `FILE` (default: standard output)")
		f.ChoiceVar(&r.to, "to", "",
			"output `FORMAT`: lines, csv, tsv, jsonl or parquet (default: from -o, or lines)",
			append([]string{"lines"}, table.Formats...))
		f.BoolVar(&r.texts, "texts", false, "add the text of each document to the table")
		f.BoolVar(&r.names, "names", false, "prefix each line with the document's file name or number and a TAB")
		f.AddCheck(r.check)
		return r.run
	},
}

type predict struct {
	source.Documents
	backend.ComputeFlags
	f           *cli.Flags
	model, out  string
	output      string
	rejectBelow cli.ZeroOne
	names       bool
	to          string
	texts       bool
}

// declare declares the flags for documents and the model. group is the help group of -model. use is
// the start of the help text of -model. others lists positional arguments after source and model.
func (r *predict) declare(group, use string, others ...cli.Argument) {
	r.DeclareInput(r.f, "", &r.Limits)
	r.f.SetArguments(append([]cli.Argument{source.Argument, {Flag: "model", ValueName: "model"}}, others...)...)
	r.ComputeFlags.Declare(r.f)
	r.f.StartGroup(group, "")
	r.f.InputVar(&r.model, "model", use+" the model in `FILE`, - for standard input")
}

// requireInputs fails unless documents and a model are set. what completes the error message.
func (r *predict) requireInputs(what string) error {
	switch {
	case r.Source == "":
		return source.MissingSourceError(what)
	case r.model == "":
		return cli.Usagef("-model FILE is required")
	case r.model == "-":
		r.model = "/dev/stdin"
	}
	// output is written after all input has been read
	r.Restartable, r.RereadSources = true, []*string{&r.Source, &r.model}
	return nil
}

// keepTexts limits the memory of texts to a quarter of the memory for reading.
func (r *predict) keepTexts() { r.KeepTexts = cmp.Or(r.ReadLimitBytes()/4, math.MaxInt64) }

var outputValues = []string{"labels", "probabilities", "decisions"}

func (r *predict) check() error {
	if err := r.requireInputs("predict"); err != nil {
		return err
	}
	switch {
	case bool(r.rejectBelow) && r.output != "" && r.output != "probabilities":
		return cli.Usagef("-b 1 and -output %s cannot be combined", r.output)
	case bool(r.rejectBelow):
		r.output = "probabilities"
	}
	by := cli.Extension(r.out)
	if r.to == "" && r.output == "" && slices.Contains(table.Formats, by) {
		r.to = by
	}
	switch {
	case r.to == "" && r.output == "":
		if err := cli.CheckTableExtension("-o", r.out, ", or -to FORMAT", "csv", "tsv", "jsonl", "parquet"); err != nil {
			return err
		}
	case r.to == "" && r.output != "labels":
		if err := cli.CheckTableExtension("-o", r.out, ", or no -output", "csv", "tsv"); err != nil {
			return err
		}
	case r.to == "lines":
		r.to = ""
	case r.to != "" && r.output != "":
		return cli.Usagef("-to %s and -output %s cannot be combined", r.to, r.output)
	}
	if r.texts && r.to == "" {
		return cli.Usagef("-texts requires a table: set -to or the extension of -o to csv, tsv, jsonl or parquet, " +
			"without -b 1 or -output")
	}
	r.output = cmp.Or(r.output, "labels")
	return nil
}

type predictions struct {
	*loadedModel
	corpus     *corpus.Corpus
	prediction *model.Prediction
	report     *predictReport
}

func (r *predict) predict(ctx context.Context, e *cli.Env, p *cli.Progress) (*predictions, error) {
	begin := time.Now()
	loaded, corpus, err := r.load(ctx, e, p)
	if err != nil {
		return nil, err
	}
	if r.texts && !corpus.HasRawDocuments() {
		return nil, fmt.Errorf("-texts: %s contains no text", r.Source)
	}
	if corpus, err = r.convertKernelRows(loaded.model, corpus); err != nil {
		return nil, err
	}
	x := &predictions{loadedModel: loaded, corpus: corpus, report: &predictReport{
		Corpus: source.Summary{Source: corpus.Source, DocumentCount: corpus.Documents.Rows(), ClassCount: len(corpus.Classes),
			ValueCount: corpus.Documents.NNZ()},
		Model:       r.model,
		ReadSeconds: time.Since(begin).Seconds(),
	}}
	if r.output == "probabilities" && !loaded.about.HasProbabilities {
		return nil, fmt.Errorf("%s has no probabilities; train with -probabilities 1 (-b 1) or "+
			"-type landmark:loss=logistic, or use -output decisions", r.model)
	}
	p.StartStage("predicting")
	predicting := time.Now()
	x.prediction, err = loaded.predictor.Predict(ctx, corpus.Documents)
	if err != nil {
		return nil, corpus.DescribeError(fmt.Errorf("%s: %w", r.Source, r.RaiseToTotalNeed(err, corpus)))
	}
	p.Clear()
	unknown := 0
	if loaded.about.Kernel != model.Precomputed {
		for i := range corpus.Documents.Rows() {
			terms, _ := corpus.Documents.Row(i)
			if loaded.about.CountKnown(terms) == 0 {
				unknown++
			}
		}
		loaded.about.WarnUnknown(corpus, e.Warnf)
	}
	if unknown > 0 {
		e.Warnf("%s: %s of %s are predicted as empty documents", learn.NoKnownTerm,
			report.FormatDocuments(unknown), r.Source)
	}
	x.report.PredictSeconds = time.Since(predicting).Seconds()
	return x, nil
}

func (r *predict) run(ctx context.Context, e *cli.Env) error {
	begin := time.Now()
	p := e.NewProgress(false)
	defer p.Clear()
	if r.texts {
		r.KeepTexts = math.MaxInt64 // if memory is insufficient, reading fails
	}
	x, err := r.predict(ctx, e, p)
	if err != nil {
		return err
	}
	of, corpus, prediction, out := &x.about, x.corpus, x.prediction, x.report
	writing := time.Now()
	lines := &learn.PredictionWriter{Output: r.output, About: *of, Prediction: prediction}
	if r.output != "labels" {
		lines.Separator = map[string]string{"csv": ",", "tsv": "\t"}[cli.Extension(r.out)]
	}
	if r.names {
		lines.FirstCell = func(i int) string { return cmp.Or(source.DocumentName(corpus, i), strconv.Itoa(i+1)) }
	}
	write := func(w io.Writer) error { return writeLines(ctx, w, lines) }
	if r.to != "" {
		if err := r.addNovelty(ctx, p, x, nil, heldBytes(x)); err != nil {
			return err
		}
		writing = time.Now()
		write = func(w io.Writer) error {
			rows, err := learn.PredictionRows(x.model, prediction, corpus)
			if err != nil {
				return err
			}
			return table.WriteAll(ctx, w, r.to, rows, predictionColumns()...)
		}
	}
	if r.out != "" {
		_, err = matrixio.WriteFile(r.out, write)
	} else if !r.f.JSON {
		err = write(e.Stdout)
	}
	if err != nil {
		return err
	}
	out.WriteSeconds = time.Since(writing).Seconds()
	out.scoreLabels(e, of, prediction, corpus)
	out.fill(of, r, x.predictor)
	out.Seconds = time.Since(begin).Seconds()
	to := e.ReportWriter()
	if r.out == "" {
		to = e.Stderr
	}
	out.columns = cli.TerminalWidth(to)
	switch {
	case r.f.JSON && r.out == "":
		out.Predictions = predictionObjects(lines)
	case r.f.Quiet && !r.f.JSON:
		return nil
	case r.out == "":
		return report.Write(to, r.WithKernelTimes(out), false)
	}
	return r.PrintReport(e, r.f, out)
}

// heldBytes returns the memory in bytes that the program, the model and the documents use after
// prediction.
func heldBytes(x *predictions) int64 { return predictionBytes(&x.about) + x.corpus.Bytes() }

// addNovelty ranks the documents by similarity to the training documents. If training is nil,
// addNovelty uses the documents stored in the model.
func (r *predict) addNovelty(
	ctx context.Context, p *cli.Progress, x *predictions, training *sparse.CSR, held int64,
) error {
	p.StartStage("comparing")
	defer p.Clear()
	n, err := learn.NewNoveltyScorer(ctx, x.model, x.predictor, training, learn.Options{ISA: r.ISA, Workers: r.Workers,
		MemoryBytes: r.Budget(), HeldBytes: held})
	if err != nil || n == nil {
		return err
	}
	return errors.Join(n.Annotate(ctx, x.prediction, x.corpus.Documents), n.Close())
}

// convertKernelRows converts documents to rows of kernel values if the model was trained on rows of
// kernel values.
func (r *predict) convertKernelRows(of learn.Model, c *corpus.Corpus) (*corpus.Corpus, error) {
	if of.About().Kernel == model.Precomputed {
		return c, toKernelRows(c)
	}
	return c, nil
}
