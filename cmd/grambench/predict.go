package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

var predictCommand = command{
	name:    "predict",
	summary: "predict the classes of documents with a model, and score them where they are known",
	args:    "[SOURCE MODEL [FILE]]",
	help: `
Predicts documents with a model that grambench train wrote, or svm-train. A model that learnt from text reads text, one that learnt from vectors reads
vectors. The source, the model and the file for the predictions stand behind -in, -model and -o or, as svm-predict has it, behind the flags.

Predictions have one line a document, in their order. -output says what stands there:
  labels         the class; several with commas between, - for none; the estimate of a regression; 1 or -1 for documents like those of training or not
  probabilities  the most probable class, which isn't always that of the votes, and the probability of each class; the first line, which begins with
                 labels, names the classes. The model must have been trained with -b 1
  decisions      the class and the decision value of each machine; the first line, which begins with machines, names them: one class, or two with / between
Between columns stands a blank, or a TAB where a name holds blanks. -names puts the document's file, or its number from 1, before each line.

Where the documents have labels that the model knows, a report says how many are right: accuracy, or for regression the mean squared error, precision, recall and
F1 by class, the confusion matrix (of 20 classes at most), the pairs of classes that are confused most. A document without a label has - where the label belongs.

Without -o predictions go to standard output, and the report to standard error; with -json, one object with both goes to standard output.

Examples:
  grambench predict -in test.tsv.gz -model news.model -o predicted.txt
  grambench predict -names -in mail/ -model news.model
  grambench predict -sets qid test-points.svm points.model
  grambench predict -b 1 test.tsv news.model probabilities.txt
  printf -- '-\tthe engine stalls at idle\n' >one.tsv && grambench predict one.tsv news.model
  grambench predict -backend cuda test.tsv.gz news.model predicted.txt   kernel values from a GPU
`,
	setup: func(f *flags) func(context.Context, *env) error {
		r := &predictRun{f: f}
		f.inputFlags("")
		f.computeFlags(0)
		f.maxArgs = 3
		f.setsFlag()
		f.set.StringVar(&r.model, "model", "", "predict with the model in `FILE`")
		f.set.StringVar(&r.out, "o", "", "write the predictions to `FILE` (default: standard output)")
		f.reads("-model", &r.model)
		f.writes("-o", &r.out)
		f.set.StringVar(&r.output, "output", "", "write `WHAT`: labels, probabilities or decisions (default: labels)")
		f.set.Var(&r.prob, "b", "-output probabilities, `0|1`")
		f.set.BoolVar(&r.names, "names", false, "begin each line with the document's file, or its number where it has none, and a TAB")
		f.set.BoolVar(&r.quiet, "q", false, "neither progress nor report")
		f.check = r.check
		return r.run
	},
}

// predictRun is one run of the command predict.
type predictRun struct {
	f          *flags
	model, out string
	output     string
	prob       zeroOne
	names      bool
	quiet      bool
}

// outputs are what a line of predictions may hold.
var outputs = []string{"labels", "probabilities", "decisions"}

// check holds that the flags make sense together, and takes from the arguments behind them what flags don't say.
func (r *predictRun) check() error {
	f := r.f
	for i, place := range []struct {
		flag, what string
		value      *string
	}{{"-in", "a source", &f.in}, {"-model", "a model", &r.model}, {"-o", "a file for predictions", &r.out}} {
		if i >= len(f.args) {
			break
		}
		if *place.value != "" {
			return usagef("%s %s and the argument %q both name %s, expected one of them", place.flag, *place.value, f.args[i], place.what)
		}
		*place.value = f.args[i]
	}
	switch {
	case f.in == "":
		return noSource("predict")
	case r.model == "":
		return usagef("-model FILE is missing")
	case r.output == "" && bool(r.prob):
		r.output = "probabilities"
	case r.output == "":
		r.output = "labels"
	case !slices.Contains(outputs, r.output):
		return usagef("-output %q, expected one of %s", r.output, join(outputs))
	case bool(r.prob) && r.output != "probabilities":
		return usagef("-b 1 and -output %s, expected one of them", r.output)
	}
	f.startsOver = readAgain(r.model) // predictions are written when all are known
	return nil
}

// run reads, predicts, writes and reports.
func (r *predictRun) run(ctx context.Context, e *env) error {
	begin := time.Now()
	f := r.f
	p := newProgress(e.stderr)
	if r.quiet {
		p = &progress{}
	}
	defer p.clear()
	loaded, corpus, err := r.load(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus, err = r.setsLike(ctx, p, loaded.m, corpus); err != nil {
		return err
	}
	report := &predictReport{Corpus: newPredictedLine(corpus), Model: r.model, SecondsLoad: loaded.seconds, SecondsRead: time.Since(begin).Seconds()}
	m, predictor := loaded.m, loaded.predictor
	if r.output == "probabilities" && !hasProbabilities(m) {
		return fmt.Errorf("%s holds no probabilities: train a c_svc or nu_svc with -probabilities 1 (-b 1), or take -output decisions", r.model)
	}
	p.stage("predicting")
	predicting := time.Now()
	prediction, err := predictor.Predict(ctx, corpus.Documents)
	if err != nil {
		return nameValue(corpus, fmt.Errorf("%s: %w", f.in, err))
	}
	p.clear()
	if r.output == "probabilities" {
		mostProbable(prediction)
	}
	report.SecondsPredict = time.Since(predicting).Seconds()

	writing := time.Now()
	lines := &predictionLines{what: r.output, m: m, p: prediction}
	if r.names {
		lines.names = func(i int) string { return cmp.Or(documentFile(corpus, i), strconv.Itoa(i+1)) }
	}
	if err := r.write(ctx, e, lines); err != nil {
		return err
	}
	report.SecondsWrite = time.Since(writing).Seconds()
	report.score(e.stderr, m, prediction, corpus)
	report.fill(f, m, predictor)
	report.Seconds = time.Since(begin).Seconds()
	switch {
	case f.json:
		if r.out == "" {
			report.Predictions = lines.objects()
		}
		return writeReport(e.stdout, f.timed(report), true)
	case r.quiet:
		return nil
	case r.out == "":
		return writeReport(e.stderr, f.timed(report), false)
	}
	return writeReport(e.stdout, f.timed(report), false)
}

// setsLike returns the sets of points of a corpus as documents, where the model learnt from sets; otherwise the corpus stays as it is.
func (r *predictRun) setsLike(ctx context.Context, p *progress, m *model.Model, c *sparse.Corpus) (*sparse.Corpus, error) {
	switch sets := engine.IsHyperbolic(m.Kernel); {
	case sets && r.f.sets == "":
		return nil, usagef("%s learnt from sets of points, by the kernel %s, expected -sets to say which points belong together", r.model, m.Kernel)
	case !sets && r.f.sets != "":
		return nil, usagef("-sets with %s, which learnt from documents, by the kernel %s", r.model, m.Kernel)
	case !sets:
		return c, nil
	case len(m.Embedder.Terms) < 2:
		return nil, fmt.Errorf("%s holds distributions without coordinates", r.model)
	}
	out, _, err := r.f.corpusOfSets(ctx, p, c, m.Embedder.Terms)
	return out, err
}

// write writes the predictions to their file, or to standard output where no JSON object goes there.
func (r *predictRun) write(ctx context.Context, e *env, lines *predictionLines) error {
	if r.out == "" {
		if r.f.json {
			return nil
		}
		return lines.write(ctx, e.stdout)
	}
	file, err := matrixio.Create(r.out)
	if err != nil {
		return err
	}
	defer file.Abort()
	if err := lines.write(ctx, file); err != nil {
		return err
	}
	_, err = file.Commit()
	return err
}

// predicting is the callback for a predictor.
func (p *progress) predicting(s svm.Progress) { p.update(s.Done, s.Total) }
