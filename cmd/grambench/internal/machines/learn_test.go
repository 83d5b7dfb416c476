package machines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// majority is the smallest learner: it predicts class number Rank by frequency, whatever it sees.
type majority struct {
	rank int

	Classes    []string
	Order      []int
	Vocabulary []string
	At         int
	Price      float64
}

const majorityForm = "gram majority "

var majorityLearner = &learn.Learner{
	Name: "majority", Summary: "the most frequent class", Flags: []string{"c", "scheme"},
	Setup: func(f *flag.FlagSet) learn.Trainer {
		m := &majority{}
		f.IntVar(&m.rank, "rank", 0, "a whole number, the class's place by frequency")
		return m
	},
	Files: learn.Files{
		Form: majorityForm,
		Load: func(_ context.Context, path string, early func(corpus.Tokenizer, corpus.Form)) (learn.Model, error) {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if early != nil {
				early(corpus.Tokenizer{}, corpus.Form{})
			}
			m := &majority{}
			return m, json.Unmarshal(data[len(majorityForm):], m)
		},
	},
}

func (m *majority) Check(learn.Options) error {
	if m.rank < 0 {
		return errors.New("rank below 0")
	}
	return nil
}

func (m *majority) Train(_ context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	count := make([]int, len(c.Classes))
	for _, id := range c.Labels.IDs {
		count[id]++
	}
	out := &majority{Classes: c.Classes, Vocabulary: c.Vocabulary, At: m.rank, Price: o.C}
	for i := range c.Classes {
		out.Order = append(out.Order, i)
	}
	slices.SortStableFunc(out.Order, func(a, b int) int { return count[b] - count[a] })
	return out, nil
}

func (m *majority) About() learn.About {
	return learn.About{Type: "majority", Scheme: solver.OneVsRest, C: m.Price, Classes: m.Classes, Machines: m.Classes,
		Vocabulary: m.Vocabulary, Text: []string{"counted"}}
}

func (m *majority) Predict(_ context.Context, d *sparse.CSR, _ learn.Options) (*model.Prediction, error) {
	out := &model.Prediction{}
	for range d.Rows() {
		out.Class = append(out.Class, m.Order[m.At])
		out.Decisions = append(out.Decisions, make([]float64, len(m.Classes)))
	}
	return out, nil
}

func (m *majority) Write(_ context.Context, w io.Writer) error {
	data, err := json.Marshal(m)
	if err == nil {
		_, err = w.Write(append([]byte(majorityForm), data...))
	}
	return err
}

// The commands train, validate, search and predict with any learner of the table, and refuse flags
// that it has no use for.
func TestLearners(t *testing.T) {
	before := learn.All
	learn.All = append(slices.Clone(before), majorityLearner)
	defer func() { learn.All = before }()
	dir := t.TempDir()
	docs, model := filepath.Join(dir, "docs.tsv"), filepath.Join(dir, "docs.model")
	musttest.Do(t, os.WriteFile(docs, []byte("a\tx y\na\tx\na\tx z\nb\ty x\nb\tz y\n"), 0o666))
	program := &cli.Program{Commands: []*cli.Command{Train, Predict, CV, Grid}}
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"train -type majority:rank=1 -c 3 " + docs + " " + model, "majority, C = 3, one-vs-rest, 2 machines", cli.Done},
		{"predict " + docs + " " + model, "b\nb\nb\nb\nb\n", cli.Done},
		{"predict -output decisions " + docs + " " + model, "machines a b\nb 0 0\n", cli.Done},
		{"predict -b 1 " + docs + " " + model, "holds no probabilities", cli.Failed},
		{"cv -type majority -folds 2 " + docs, "Cross Validation Accuracy = 60%", cli.Done},
		{"train -v 2 -type majority -json " + docs, `"measure": "accuracy"`, cli.Done},
		{"grid -type majority -folds 2 -grid rank=0,1 -c 1 " + docs, "-type majority:rank=0 -c 1", cli.Done},
		{"train -type majority:rank=x " + docs, "found rank=x, expected a whole number", cli.Misuse},
		{"train -type majority:k=1 " + docs, `no parameter "k", expected one of rank`, cli.Misuse},
		{"train -type majority:rank=1,rank=1 " + docs, "rank a second time", cli.Misuse},
		{"train -type majority:rank " + docs, "expected parameter=value", cli.Misuse},
		{"train -type majority:rank=-1 " + docs, "rank below 0", cli.Misuse},
		{"train -type majority -nu 0.1 " + docs, "-nu does not apply to -type majority, which takes c, scheme", cli.Misuse},
		{"train -type majority -e 0.1 " + docs, "-e does not apply", cli.Misuse},
		{"train -type majority -c 0 " + docs, "-c 0, expected a number above 0", cli.Misuse},
		{"train -type majority -scheme one-vs-one " + docs, "expected one-vs-rest or labels", cli.Misuse},
		{"grid -type majority -grid C=-1,1 " + docs, "expected numbers above 0", cli.Misuse},
		{"train -type nonsense " + docs, "or a learner", cli.Misuse},
	} {
		var stdout, stderr bytes.Buffer
		status := program.Run(strings.Fields(c.args), &stdout, &stderr)
		if text := stdout.String() + stderr.String(); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: status %d, expected %d and %q in\n%s", c.args, status, c.status, c.want, text)
		}
	}
}

// A parameter is taken out of what -type says, wherever it stands.
func TestWithout(t *testing.T) {
	for name, want := range map[string]string{
		"landmark:m=256":                         "landmark",
		"landmark:m=256,loss=logistic":           "landmark:loss=logistic",
		"landmark:loss=logistic,m=256":           "landmark:loss=logistic",
		"landmark:m=256 diffusion:t=2":           "landmark diffusion:t=2",
		"landmark:choice=pivoted,m=256,passes=9": "landmark:choice=pivoted,passes=9",
	} {
		if value, rest := without(name, "m"); value != 256 || rest != want {
			t.Errorf("%q: %v and %q, expected 256 and %q", name, value, rest, want)
		}
	}
}
