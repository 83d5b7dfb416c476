package learn_test

import (
	"cmp"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// The smallest learner predicts the same class for each document, chosen by its frequency rank. It
// uses only exported names of package learn, so it could be in its own folder.
var frequencyLearner = &learn.Learner{
	Name: "frequency", Summary: "the class of a rank by its number of documents",
	FilePrefix: frequencyForm.Name, Read: learn.ReadFunc(&frequencyForm, func(m *frequencyModel) learn.Model { return m }),
	New: func() learn.Trainer { return &frequency{} },
}

type frequency struct {
	params.Record
	Rank int `param:"rank" default:"1" min:"1" max:"3" help:"rank of the class, 1 for the most frequent one"`
}

func (*frequency) Check(learn.Options) error { return nil }

func (f *frequency) Train(_ context.Context, c *corpus.Corpus, _ learn.Options) (learn.Model, error) {
	m := &frequencyModel{archive.OriginOf(c, c.Digest()), *f, make([]int64, len(c.Classes))}
	for _, id := range c.Labels.IDs {
		m.Counts[id]++
	}
	return m, nil
}

type frequencyModel struct {
	archive.Origin
	frequency
	Counts []int64
}

var frequencyForm = archive.Format[frequencyModel]{Package: "frequency", Name: "gram frequency ",
	Validate: func(*frequencyModel) error { return nil },
	Describe: func(f *archive.File, m *frequencyModel) {
		f.Parameters(&m.frequency)
		f.Origin(&m.Origin)
		archive.Array(f, "counts", &m.Counts, len(m.Classes))
	}}

func (m *frequencyModel) Write(ctx context.Context, w io.Writer) error {
	return frequencyForm.Write(ctx, w, m)
}

func (m *frequencyModel) About() learn.About {
	return learn.About{Origin: m.Origin, Type: "frequency" + params.Spec(m.frequency), Scheme: solver.OneVsRest,
		DecisionNames: m.Classes, HasVotes: true}
}

func (m *frequencyModel) Predict(_ context.Context, d *sparse.CSR, _ learn.Options) (*model.Prediction, error) {
	order, scores, p := make([]int, len(m.Classes)), make([]float64, len(m.Classes)), &model.Prediction{}
	for i, n := range m.Counts {
		order[i], scores[i] = i, float64(n)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Counts[b], m.Counts[a]) })
	for range d.Rows() {
		p.ClassIndices, p.DecisionValues = append(p.ClassIndices, order[max(m.Rank, 1)-1]), append(p.DecisionValues, scores)
	}
	return p, nil
}

// One line registers a learner. The learner is then parsed, described, searched, written and loaded
// like other learners.
func TestSmallestLearner(t *testing.T) {
	defer func(all []*learn.Learner) { learn.Learners = all }(learn.Learners)
	learn.Learners = slices.Clip(learn.Learners)
	learn.Register(frequencyLearner)
	ctx, o := t.Context(), learn.Options{Seed: 1}
	labels := strings.Split(strings.Repeat("a", 12)+strings.Repeat("b", 8)+strings.Repeat("c", 4), "")
	c := musttest.Get(corpus.FromTexts(ctx, labels, labels, corpus.Options{MinDF: 1}))(t)
	l, trainer, err := learn.Parse("frequency:rank=2")
	if err != nil || !strings.Contains(learn.Help(), frequencyLearner.Summary) {
		t.Fatalf("%v, help:\n%s", err, learn.Help())
	}
	v := musttest.Get(learn.CrossValidate(ctx, c, trainer, o, 4))(t)
	g := musttest.Get(learn.NewGrid(l, trainer, []learn.ParameterValues{{Name: "rank", Values: []string{"1", "2", "3"}}},
		o))(t)
	g.Folds = 4
	found := musttest.Get(learn.Search(ctx, c, g, o))(t)
	if found.BestIndex != 0 || !(math.Abs(found.Points[0].Mean-0.5) <= 1e-12) || found.Points[1].Mean != v.Mean {
		t.Errorf("means %v, %v; best %d", v.Mean, found.Points[0].Mean, found.BestIndex)
	}
	m, path := musttest.Get(trainer.Train(ctx, c, o))(t), filepath.Join(t.TempDir(), "frequency.model")
	musttest.NoError(t, os.WriteFile(path, []byte(musttest.Output(t, m.Write)), 0o600))
	loaded := musttest.Get(learn.Load(ctx, path, nil))(t)
	p := musttest.Get(loaded.Predict(ctx, c.Documents, o))(t)
	if !reflect.DeepEqual(loaded, m) || p.ClassIndices[0] != 1 || m.About().Type != "frequency:rank=2" {
		t.Errorf("%+v became %+v, which predicts %v", m, loaded, p.ClassIndices)
	}
}

// Errors name the file and the reason. Reading stops when the context is done.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	musttest.NoError(t, os.WriteFile(text, []byte("svm_typo c_svc\n"), 0o600))
	other := filepath.Join(dir, "other")
	musttest.NoError(t, os.WriteFile(other, []byte("gram metric 1\n"), 0o600))
	for path, want := range map[string]string{dir: "is a directory", filepath.Join(dir, "none"): "no such file",
		text:  text + `: wrong file format: file must begin with "gram model 1\n", got "svm_typo`,
		other: other + `: wrong file format: "metric" is not a model type of this program`} {
		musttest.WantError(learn.Load(t.Context(), path, nil))(t, path, want)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(learn.Read(ended, strings.NewReader("gram model 1\n")))(t, "after the end", context.Canceled)
}
