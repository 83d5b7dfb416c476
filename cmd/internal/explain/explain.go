// Package explain implements the command explain, which shows the terms that determine a model's
// decisions.
package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Command is the command explain, which explains models and predictions.
var Command = &cli.Command{
	Name:    "explain",
	Summary: "show the terms with the largest effect on a model or a prediction",
	Help: `
Prints the terms with the largest effects for and against each class. For logistic regression,
linear SVMs and linear kernels these are weights: effects of one unit of the embedded document. For
other kernels they are mean effects: the decision value of a training document minus the value
without the term, averaged over the training documents in the model. One-vs-one decision
functions are averaged by class; -class CLASS prints each decision function of a class.

With -text TEXT, or -in SOURCE -document N, it explains the prediction of any model for a document.
The decision value f compares the predicted class with the second class. The effect of a term is f
minus the value of f for the document without the term. For support vector machines the report also
has the slope (the derivative of f with respect to the term's count) and the training documents with
the largest contributions to f. In a terminal, words for the prediction are bold, words against it
underlined; elsewhere they are marked by [+ ] and [- ].`,
	Examples: `
gram explain news.model
gram explain -text 'the shuttle reached orbit' news.model
gram explain -in test.tsv.gz -document 17 news.model
gram explain -n 30 -class course -plot course.svg pages.model
gram train -type logistic mail/ && gram explain mail.model`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		r := &explainFlags{f: f}
		f.StartGroup("Model", "")
		f.InputVar(&r.model, "model", "explain the model in `FILE`, - for standard input")
		f.IntVar(&r.n, "n", 10, "show the `N` strongest terms for and against each class, or of a document")
		f.StringVar(&r.class, "class", "", "show only the decision functions of `CLASS` (default: all classes)")
		f.StringVar(&r.text, "text", "", "explain the prediction for `TEXT`")
		f.IntVar(&r.document, "document", 0, "explain the prediction for document `N` of -in, counted from 1")
		r.DeclareInput(f, "", &r.limits)
		f.SetArguments(cli.Argument{Flag: "model", ValueName: "model"})
		r.limits.DeclareMemory(f)
		r.limits.DeclareWorkers(f)
		f.StartGroup("Output", "")
		f.SVGOutputVar(&r.plot, "plot", "plot the weights to `FILE` (.svg)")
		f.AddCheck(r.check)
		return r.run
	},
}

type explainFlags struct {
	source.Documents
	limits                   backend.Limits
	f                        *cli.Flags
	model, class, plot, text string
	n, document              int
}

func (r *explainFlags) check() error {
	switch {
	case r.model == "":
		return cli.Usagef("-model FILE is required")
	case r.model == "-" && r.Source == "-":
		return cli.Usagef("-in - and -model - cannot both read standard input")
	case r.n < 1 || r.n > 1000:
		return cli.Usagef("-n must be between 1 and 1000, got %d", r.n)
	case r.f.IsSet("text") && r.Source != "":
		return cli.Usagef("-text and -in cannot be combined")
	case r.f.IsSet("text") && r.document != 0:
		return cli.Usagef("-text and -document cannot be combined")
	case (r.document != 0) != (r.Source != ""):
		return cli.Usagef("-document and -in must be set together")
	case r.document < 0:
		return cli.Usagef("-document must be at least 1, got %d", r.document)
	case (r.document > 0 || r.f.IsSet("text")) && (r.class != "" || r.plot != ""):
		return cli.Usagef("-class and -plot cannot be combined with -text or -document")
	}
	return nil
}

// modelReport lists the terms with the largest weights or mean effects in a model.
type modelReport struct {
	Model string `json:"model"`
	*learn.Explanation
}

func (r *explainFlags) run(ctx context.Context, e *cli.Env) error {
	if r.model == "-" {
		r.model = "/dev/stdin"
	}
	m, err := learn.Load(ctx, r.model, nil)
	if err != nil {
		return fmt.Errorf("-model %w", err)
	}
	if r.document > 0 || r.f.IsSet("text") {
		return r.explainDocument(ctx, e, m)
	}
	p := e.NewProgress(false)
	defer p.Clear()
	p.StartStage("explaining")
	out := &modelReport{Model: r.model}
	o := learn.Options{
		Workers: r.limits.Workers, MemoryBytes: r.limits.Budget(), HeldBytes: backend.RuntimeBytes + m.About().Bytes,
		Progress: func(_ string, done, total int64, _ ...string) { p.Update(done, total) },
	}
	if o.Predictor, err = learn.NewPredictor(ctx, m, o); err == nil {
		out.Explanation, err = learn.Explain(ctx, m, r.n, r.class, o)
		err = errors.Join(err, o.Predictor.Close())
	}
	if err != nil {
		return fmt.Errorf("-model %s: %w; to explain a single prediction, use -text TEXT or -in SOURCE -document N",
			r.model, err)
	}
	p.Clear()
	if r.plot != "" {
		if err := out.draw(r.plot); err != nil {
			return err
		}
	}
	return report.Write(e.Stdout, out, r.f.JSON)
}

func (x *modelReport) valueName() string {
	if x.DocumentCount > 0 {
		return "mean effect"
	}
	return "weight"
}

func functionTitle(r *learn.FunctionExplanation) string {
	if r.NegativeClass == "" {
		return r.Class
	}
	return r.Class + " against " + r.NegativeClass
}

func (x *modelReport) Describe(d *report.Document) {
	d.AddLinef("%s: %s", x.Model, x.Description)
	what := x.valueName()
	if x.DocumentCount > 0 {
		d.AddLinef("mean effect = decision value minus the value without the term, averaged over %s of the %s "+
			"training documents in the model", report.FormatCount(x.DocumentCount), report.FormatCount(x.StoredDocumentCount))
	}
	for _, r := range x.Functions {
		against := "against it"
		if r.NegativeClass != "" {
			against = "for " + r.NegativeClass
		}
		t := report.NewTable("for it", ">"+what, against, ">"+what)
		for i := range max(len(r.Positive), len(r.Negative)) {
			cells := []string{"", "", "", ""}
			if i < len(r.Positive) {
				cells[0], cells[1] = r.Positive[i].Term, fmt.Sprintf("%.4g", r.Positive[i].Weight)
			}
			if i < len(r.Negative) {
				cells[2], cells[3] = r.Negative[i].Term, fmt.Sprintf("%.4g", r.Negative[i].Weight)
			}
			t.Add(cells...)
		}
		d.AddTable(functionTitle(&r), fmt.Sprintf("%s: %s with a %s", functionTitle(&r),
			report.FormatCountOf(r.TermCount, "term", "terms"), what), t)
	}
}
