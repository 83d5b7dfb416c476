package machines

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/sparse"
)

// inherit loads the model of -update, whose type, scheme, kernel and terms stand in for flags that weren't given, and
// checks all flags.
func (t *train) inherit(ctx context.Context) (err error) {
	o := learn.Options{Reject: t.reject, Weights: t.weights.Of, Balanced: t.weights.Balanced}
	var terms *learn.Terms
	if t.old, err = learn.Load(ctx, t.update, nil); err == nil {
		err = o.Inherit(t.old)
	}
	if err == nil {
		terms, err = learn.TermsOf(t.old)
	}
	if err != nil {
		return fmt.Errorf("-update %s: %w", t.update, err)
	}
	a := t.old.About()
	if t.chooseTime, t.Form = 0, a.Form; !t.f.Given("type", "s", "landmarks", "layers") {
		t.kind = a.Type
	}
	name, _, _ := strings.Cut(a.Type, ":")
	if t.kind != "" && !strings.HasPrefix(strings.ReplaceAll(t.kind, "-", "_"), name) {
		return cli.Usagef("-update %s: a model of %s, found -type %s, expected the same, or no -update", t.update, name,
			t.kind)
	}
	t.scheme = cmp.Or(t.scheme, a.SchemeName())
	if o.Kernel != "" && !t.f.Given("kernel", "t", "g", "d", "r") {
		t.Specs = []string{o.Kernel}
	}
	if terms != nil && !t.f.Given(source.TermFlags...) {
		t.TokenizerLater = func() (sparse.Tokenizer, error) { return terms.Tokenizer, nil }
	}
	if terms != nil && !t.f.Given("min-df") {
		t.MinDF = terms.MinDF
	}
	if err := t.machine.check(); err != nil {
		return err
	}
	return t.checkKernel()
}

// train trains a model, from where another ended with -update.
func (t *train) train(ctx context.Context, j *job) (learn.Model, *learn.Updated, error) {
	if t.old == nil {
		m, err := t.learner.trainer.Train(ctx, j.handOver(), j.o)
		return m, nil, err
	}
	return learn.Update(ctx, t.learner.trainer, j.handOver(), j.o, t.old)
}

// updatedLine is what a report says of the model that the training began at.
type updatedLine struct {
	Model string `json:"model"`
	learn.Updated
}

// String returns the line of the report.
func (u *updatedLine) String() string {
	text := "updated " + u.Model + ":"
	if u.What != "" {
		text += fmt.Sprintf(" %s of %s %s found,", report.Count(u.Found), report.Count(u.Of), u.What)
	}
	if u.Documents < 0 {
		return text + fmt.Sprintf(" %s fewer", report.Counted(-u.Documents, "document", "documents"))
	}
	return text + " " + report.Counted(u.Documents, "new document", "new documents")
}
