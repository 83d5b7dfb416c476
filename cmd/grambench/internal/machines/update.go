package machines

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/sparse"
)

// sameFlags are flags that stand for others, which a recipe doesn't set beside them.
var sameFlags = map[string][]string{
	"type": {"s", "landmarks", "layers"}, "kernel": {"t", "g", "d", "r"}, "nu": {"n"}, "epsilon": {"p"},
	"tolerance": {"e"}, "probabilities": {"b"}, "embed": {"scale"},
}

// takeRecipe loads the model of -update, and sets the flags that weren't given to what it was trained with.
func (t *train) takeRecipe() error {
	switch {
	case t.update == "":
		return nil
	case t.update == "-":
		return cli.Usagef("-update -, expected a file")
	case t.f.Given("v"):
		return cli.Usagef("-update with -v, which writes no model, expected one of them")
	}
	var r learn.Recipe
	var err error
	if t.old, err = learn.Load(context.Background(), t.update, nil); err == nil {
		r, err = learn.RecipeOf(t.old)
	}
	if err != nil {
		return fmt.Errorf("-update %s: %w", t.update, err)
	}
	own, _, err := learn.Parse(r.Type)
	if err != nil {
		return err
	}
	if l, _, err := learn.Parse(t.kind); t.kind != "" && err == nil && l.Name != own.Name {
		return cli.Usagef("-update %s: a model of %s, found -type %s, expected the same, or a training without -update",
			t.update, own.Name, l.Name)
	}
	t.chooseTime, t.Form = 0, t.old.About().Form
	if r.Terms != nil && !t.f.Given(source.TermFlags...) {
		t.TokenizerLater = func() (sparse.Tokenizer, error) { return r.Terms.Tokenizer, nil }
	}
	if r.Terms != nil && r.Terms.MinDF > 0 && !t.f.Given("min-df") {
		t.MinDF = r.Terms.MinDF
	}
	flags := slices.DeleteFunc(r.Flags(), func(f [2]string) bool { return t.f.Given(append(sameFlags[f[0]], f[0])...) })
	for _, f := range flags {
		if err := t.f.Set(f[0], f[1]); err != nil {
			return fmt.Errorf("-update %s: -%s %s: %w", t.update, f[0], f[1], err)
		}
	}
	return nil
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
