package machines

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/sparse"
)

// Predict is the command that predicts with a model.
var Predict = &cli.Command{
	Name:    "predict",
	Summary: "predict the classes of documents with a model, and score them where they are known",
	Args:    "[SOURCE MODEL [FILE]]",
	Help: `
Predicts documents with a model that grambench train wrote, or svm-train, one line per document, in
their order. The source, the model and the file for the predictions may stand behind the flags, as
svm-predict has them. Where the model knows the labels of the documents, a report scores the
predictions. Without -o predictions go to standard output, and the report to standard error.

A line has the class (several with commas between, - for none), the estimate of a regression, or 1
or -1 for documents like those of training or not. With -output probabilities the most probable
class and the probability of each class follow, with -output decisions the decision value of each
machine; a first line names the columns. Between them stands a blank, or a TAB where a name holds
blanks.`,
	Examples: `
grambench predict -in test.tsv.gz -model news.model -o predicted.txt
grambench predict -b 1 test.tsv news.model probabilities.txt
printf -- '-\tthe engine stalls at idle\n' >one.tsv && grambench predict one.tsv news.model`,
	Setup: func(f *cli.Flags) cli.Work {
		r := &predict{f: f}
		f.MaxArgs, f.Prints = 3, true
		r.DeclareInput(f, "", &r.Limits)
		r.DeclareSets(f)
		r.Compute.Declare(f)
		f.Group("Prediction", "")
		f.Reads(&r.model, "model", "predict with the model in `FILE`, - for standard input")
		f.Choose(&r.output, "output", "", "write `WHAT`: labels, probabilities or decisions (default: labels)", outputs)
		f.Var(&r.prob, "b", "-output probabilities, `0|1`")
		f.Group("Output", "")
		f.Writes(&r.out, "o", "write the predictions to `FILE` (default: standard output)")
		f.BoolVar(&r.names, "names", false, "begin each line with the document's file, or its number, and a TAB")
		f.Check(r.check)
		return r.run
	},
}

// predict is one run of the command.
type predict struct {
	source.Documents
	backend.Compute
	f          *cli.Flags
	model, out string
	output     string
	prob       cli.ZeroOne
	names      bool
}

// outputs are what a line of predictions may hold.
var outputs = []string{"labels", "probabilities", "decisions"}

// check checks that the flags make sense together, and takes from the arguments behind them what
// flags don't say.
func (r *predict) check() error {
	for i, place := range []struct {
		flag, what string
		value      *string
	}{{"-in", "a source", &r.In}, {"-model", "a model", &r.model}, {"-o", "a file for predictions", &r.out}} {
		if i >= len(r.f.Args) {
			break
		}
		if *place.value != "" {
			return cli.Usagef("%s %s and the argument %q both name %s, expected one of them", place.flag, *place.value,
				r.f.Args[i], place.what)
		}
		*place.value = r.f.Args[i]
	}
	switch {
	case r.In == "":
		return source.Missing("predict")
	case r.model == "":
		return cli.Usagef("-model FILE is missing")
	case bool(r.prob) && r.output != "" && r.output != "probabilities":
		return cli.Usagef("-b 1 and -output %s, expected one of them", r.output)
	case bool(r.prob):
		r.output = "probabilities"
	case r.output == "":
		r.output = "labels"
	}
	if r.model == "-" {
		r.model = "/dev/stdin"
	}
	r.StartsOver, r.Reread = true, []*string{&r.In, &r.Sets, &r.model} // predictions are written when all are known
	return nil
}

// run reads, predicts, writes and reports.
func (r *predict) run(ctx context.Context, e *cli.Env) error {
	begin := time.Now()
	p := e.Progress(false)
	defer p.Clear()
	loaded, corpus, err := r.load(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus, err = r.objects(ctx, p, loaded.m, corpus); err != nil {
		return err
	}
	out := &predictReport{
		Corpus:      newPredictedLine(corpus),
		Model:       r.model,
		SecondsLoad: loaded.seconds,
		SecondsRead: time.Since(begin).Seconds(),
	}
	of, predictor := &loaded.about, loaded.predictor
	if r.output == "probabilities" && !of.Probabilities {
		return fmt.Errorf("%s holds no probabilities: train a c_svc or nu_svc with -probabilities 1 (-b 1), "+
			"or with -landmarks M -loss logistic, or take -output decisions", r.model)
	}
	p.Stage("predicting")
	predicting := time.Now()
	prediction, err := predictor.Predict(ctx, corpus.Documents)
	if err != nil {
		return corpus.NameValue(fmt.Errorf("%s: %w", r.In, err))
	}
	p.Clear()
	if r.output == "probabilities" {
		learn.MostProbable(prediction)
	}
	out.SecondsPredict = time.Since(predicting).Seconds()

	writing := time.Now()
	lines := &learn.Lines{What: r.output, Of: *of, P: prediction}
	if r.names {
		lines.Name = func(i int) string { return cmp.Or(source.FileOf(corpus, i), strconv.Itoa(i+1)) }
	}
	if r.out != "" {
		_, err = matrixio.Make(r.out, func(w io.Writer) error { return writeLines(ctx, w, lines) })
	} else if !r.f.JSON {
		err = writeLines(ctx, e.Stdout, lines)
	}
	if err != nil {
		return err
	}
	out.SecondsWrite = time.Since(writing).Seconds()
	out.score(e, of, prediction, corpus)
	out.fill(of, r, predictor)
	out.Seconds = time.Since(begin).Seconds()
	to := e.Reports()
	if r.out == "" {
		to = e.Stderr
	}
	out.columns = cli.Columns(to)
	switch {
	case r.f.JSON && r.out == "":
		out.Predictions = objectsOf(lines)
	case r.f.Quiet && !r.f.JSON:
		return nil
	case r.out == "":
		return report.Write(to, r.Timed(out), false)
	}
	return r.Report(e, r.f, out)
}

// objects returns the sets of points of a corpus as documents, where the model learnt from sets, or
// makes them rows of kernel values, where it learnt from a matrix; otherwise the corpus stays as it
// is.
func (r *predict) objects(
	ctx context.Context, p *cli.Progress, of learn.Model, c *sparse.Corpus,
) (*sparse.Corpus, error) {
	machines, ok := of.(learn.Machines)
	if !ok {
		if r.Sets != "" {
			return nil, cli.Usagef("-sets with %s, which learnt from documents", r.model)
		}
		return c, nil
	}
	m := machines.Model
	switch sets := engine.IsHyperbolic(m.Kernel); {
	case sets && r.Sets == "":
		return nil, cli.Usagef(
			"%s learnt from sets of points, by the kernel %s, expected -sets to say which points belong together",
			r.model,
			m.Kernel,
		)
	case !sets && r.Sets != "":
		return nil, cli.Usagef("-sets with %s, which learnt from documents, by the kernel %s", r.model, m.Kernel)
	case m.Kernel == model.Precomputed:
		return c, kernelRows(c)
	case !sets:
		return c, nil
	case len(m.Embedder.Terms) < 2:
		return nil, fmt.Errorf("%s holds distributions without coordinates", r.model)
	}
	out, _, err := r.Distributions(ctx, p, c, m.Embedder.Terms)
	return out, err
}
