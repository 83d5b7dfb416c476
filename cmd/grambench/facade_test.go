package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/sparse"
)

// Package gram does what the command does without flags, to the bit.

const facadeSource = "synthetic:docs=300,terms=200,length=12,classes=3,seed=5"

// command runs the program and returns its report.
func command(t *testing.T, report any, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(args, &stdout, &stderr); status != cli.Done {
		t.Fatalf("%q: exit status %d: %s", args, status, stderr.String())
	}
	if report == nil {
		return
	}
	if err := json.Unmarshal(stdout.Bytes(), report); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
}

func read(t *testing.T, source string) *sparse.Corpus {
	t.Helper()
	c, err := gram.Read(t.Context(), source, gram.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFacadeTrains(t *testing.T) {
	folder, c := t.TempDir(), read(t, facadeSource)
	for _, q := range []struct {
		flags []string
		o     gram.TrainOptions
	}{
		{nil, gram.TrainOptions{}},
		{[]string{"-type", "nu_svc"}, gram.TrainOptions{Type: "nu_svc"}},
		{[]string{"-kernel", "linear", "-c", "3"}, gram.TrainOptions{Kernel: "linear", C: 3}},
		{[]string{"-scheme", "labels"}, gram.TrainOptions{Scheme: "labels"}},
		{[]string{"-type", "logistic"}, gram.TrainOptions{Type: "logistic"}},
		{[]string{"-type", "landmark:m=30", "-c", "2"}, gram.TrainOptions{Type: "landmark:m=30", C: 2}},
	} {
		theirs, ours := filepath.Join(folder, "theirs.model"), filepath.Join(folder, "ours.model")
		command(t, nil, append([]string{"train", "-q", "-in", facadeSource, "-o", theirs}, q.flags...)...)
		m, err := gram.Train(t.Context(), c, q.o)
		if err == nil {
			err = m.Save(ours)
		}
		if err != nil {
			t.Fatalf("%q: %v", q.flags, err)
		}
		if readFile(t, ours) != readFile(t, theirs) {
			t.Errorf("train %q and gram.Train wrote other models", q.flags)
		}
	}
}

func TestFacadeValidates(t *testing.T) {
	c := read(t, facadeSource)
	for _, q := range []struct {
		flags []string
		o     gram.ValidateOptions
	}{
		{nil, gram.ValidateOptions{}},
		{[]string{"-folds", "3", "-scheme", "labels"},
			gram.ValidateOptions{Folds: 3, TrainOptions: gram.TrainOptions{Scheme: "labels"}}},
		{[]string{"-type", "logistic"}, gram.ValidateOptions{TrainOptions: gram.TrainOptions{Type: "logistic"}}},
		{[]string{"-type", "knn:k=3"}, gram.ValidateOptions{TrainOptions: gram.TrainOptions{Type: "knn:k=3"}}},
	} {
		var want struct {
			Mean float64 `json:"mean"`
			SD   float64 `json:"standard_deviation"`
			Rows []any   `json:"rows"`
		}
		command(t, &want, append([]string{"cv", "-json", "-in", facadeSource}, q.flags...)...)
		got, err := gram.CrossValidate(t.Context(), c, q.o)
		if err != nil {
			t.Fatalf("%q: %v", q.flags, err)
		}
		if got.Mean != want.Mean || got.SD != want.SD || len(got.ByFold) != len(want.Rows) ||
			len(got.Figures) != len(want.Rows) {
			t.Errorf("cv %q: %v ± %v in %d folds, gram.CrossValidate %v ± %v in %d", q.flags, want.Mean, want.SD,
				len(want.Rows), got.Mean, got.SD, len(got.ByFold))
		}
	}
}

func TestFacadeSearches(t *testing.T) {
	c := read(t, facadeSource)
	for _, q := range []struct {
		flags []string
		o     gram.SearchOptions
	}{
		{[]string{"-ngrams", "1"}, gram.SearchOptions{}},
		{[]string{"-grid", "embed=tf-l2", "-grid", "scheme=one-vs-rest", "-ngrams", "1"},
			gram.SearchOptions{Grid: map[string][]string{"embed": {"tf-l2"}, "scheme": {"one-vs-rest"}}}},
		{[]string{"-grid", "C=1,10", "-grid", "t=0.5,2"},
			gram.SearchOptions{Grid: map[string][]string{"C": {"1", "10"}, "t": {"0.5", "2"}}}},
		{[]string{"-type", "nu_svc"}, gram.SearchOptions{TrainOptions: gram.TrainOptions{Type: "nu_svc"}}},
		{[]string{"-kernel", "linear", "-kernel", "bhattacharyya", "-folds", "3"},
			gram.SearchOptions{Folds: 3, Grid: map[string][]string{"kernel": {"linear", "bhattacharyya"}}}},
		{[]string{"-type", "knn", "-grid", "k=1,5"},
			gram.SearchOptions{TrainOptions: gram.TrainOptions{Type: "knn"}, Grid: map[string][]string{"k": {"1", "5"}}}},
		{[]string{"-type", "linear", "-folds", "2"},
			gram.SearchOptions{TrainOptions: gram.TrainOptions{Type: "linear"}, Folds: 2}},
	} {
		type row struct {
			Type   string  `json:"type"`
			Kernel string  `json:"kernel"`
			C      float64 `json:"c"`
			Mean   float64 `json:"mean"`
		}
		var want struct {
			Best row   `json:"best"`
			Rows []row `json:"rows"`
		}
		command(t, &want, append([]string{"grid", "-json", "-in", facadeSource}, q.flags...)...)
		got, err := gram.Search(t.Context(), c, q.o)
		if err != nil {
			t.Fatalf("%q: %v", q.flags, err)
		}
		if len(got.Points) != len(want.Rows) || got.Best < 0 {
			t.Fatalf("grid %q: %d rows, gram.Search %d, the best is %d", q.flags, len(want.Rows), len(got.Points), got.Best)
		}
		best := got.Points[got.Best]
		type settings struct {
			kernel string
			c      float64
		}
		a, b := settings{got.Train.Kernel, got.Train.C}, settings{want.Best.Kernel, want.Best.C}
		if best.Mean != want.Best.Mean || a != b || want.Best.Type != "" && got.Train.Type != want.Best.Type {
			t.Errorf("grid %q: the best is %+v, of gram.Search %+v: %+v", q.flags, want.Best, best.Mean, got.Train)
		}
	}
}

func TestFacadeExplainsAndPredicts(t *testing.T) {
	c, path := read(t, facadeSource), filepath.Join(t.TempDir(), "linear.model")
	command(t, nil, "train", "-q", "-in", facadeSource, "-kernel", "linear", "-o", path)
	m, err := gram.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var want learn.Explanation
	command(t, &want, "explain", "-json", "-n", "3", path)
	got, err := m.Explain(3)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) || len(got.Rows) != 3 || len(got.Rows[0].For) != 3 {
		t.Errorf("explain says %s, Model.Explain %s", b, a)
	}
	if _, err := m.Explain(0); err == nil {
		t.Error("no terms to explain: no error")
	}
	var out bytes.Buffer
	if status := run([]string{"predict", "-q", "-in", facadeSource, "-model", path}, &out, &out); status != cli.Done {
		t.Fatal(out.String())
	}
	p, err := m.Predict(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range strings.Fields(out.String()) {
		if p.Label(i) != label {
			t.Fatalf("document %d is %q, expected %q as by predict", i+1, p.Label(i), label)
		}
	}
}

// Models of earlier programs are loaded through the facade, and predict.
func TestFacadeLoadsModelsOfEarlierPrograms(t *testing.T) {
	models, err := filepath.Glob(filepath.Join("testdata", "models", "*.model"))
	if err != nil || len(models) == 0 {
		t.Fatal(models, err)
	}
	for _, path := range models {
		m, err := gram.Load(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		source := filepath.Join("testdata", "models", "other.svm")
		if m.About().Vocabulary != nil {
			source = filepath.Join("testdata", "models", "new.tsv")
		}
		want := strings.Fields(readFile(t, strings.TrimSuffix(path, "model")+"want"))
		if strings.Contains(path, "sets") || want[0] == "machines" || strings.Contains(path, "labels") {
			continue // sets aren't predicted by the facade; the others print more than labels
		}
		c, err := gram.Read(t.Context(), source, gram.ReadOptions{MinDF: 1, Signed: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for i := range c.Documents.Rows() {
			if m.About().Numbers {
				if math.IsNaN(p.Values[i]) {
					t.Errorf("%s: document %d is no number", path, i+1)
				}
			} else if i < len(want) && p.Label(i) != want[i] {
				t.Errorf("%s: document %d is %q, expected %q", path, i+1, p.Label(i), want[i])
			}
		}
	}
	file, err := os.Open(models[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := gram.LoadFrom(t.Context(), file); err != nil {
		t.Error(err)
	}
}
