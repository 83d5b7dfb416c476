package corpus

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// Retokenize gives the same corpus as reading with these options.
func TestRecut(t *testing.T) {
	ctx := context.Background()
	texts, labels := []string{"the cat sat", "a cat ran", "dogs ran", ""}, []string{"x", "y", "x,y", ""}
	for _, opt := range []Options{{}, {MinDF: 1}, {MinDF: 1, Tokenizer: Tokenizer{Views: "words:1..2 + chars:3"}}} {
		c := musttest.Get(FromTexts(ctx, texts, labels, Options{KeepTextBytes: 1 << 10}))(t)
		for _, documents := range [][]int{nil, {0, 2}, {3}} {
			got := musttest.Get(c.Retokenize(ctx, documents, opt))(t)
			some, of := texts, labels
			if documents != nil {
				some, of = run.Select(texts, documents), run.Select(labels, documents)
			}
			want := musttest.Get(FromTexts(ctx, some, of, opt))(t)
			if !reflect.DeepEqual(got.Documents, want.Documents) || !reflect.DeepEqual(got.Vocabulary, want.Vocabulary) ||
				got.Tokenizer != want.Tokenizer || !reflect.DeepEqual(got.Texts, some) {
				t.Errorf("%v of %v: %+v, expected %+v", documents, opt.Tokenizer, got, want)
			}
			for i, label := range of {
				var names []string
				for _, id := range got.Labels.Classes(i) {
					names = append(names, got.Classes[id])
				}
				if strings.Join(names, ",") != label {
					t.Errorf("document %d has the labels %v, expected %s", i, names, label)
				}
			}
		}
	}
	c, err := FromTexts(ctx, texts, labels, Options{KeepTextBytes: 10})
	if err != nil || c.Texts != nil {
		t.Fatalf("texts beyond the bound are kept: %q, %v", c.Texts, err)
	}
	musttest.WantError(c.Retokenize(ctx, nil, Options{}))(t, "no texts")
	c, _ = FromTexts(ctx, texts, labels, Options{KeepTextBytes: 1 << 10})
	for _, documents := range [][]int{{}, {-1}, {4}} {
		musttest.WantError(c.Retokenize(ctx, documents, Options{}))(t, fmt.Sprintf("documents %v", documents))
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	musttest.WantError(c.Retokenize(ended, nil, Options{}))(t, "after the end of the context")
}
