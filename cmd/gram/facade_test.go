package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// Package gram and the command without flags give the same results on these documents, bit for bit.

const facadeSource = "synthetic:docs=300,terms=200,length=12,classes=3,seed=5"

// command runs the program and decodes its JSON report.
func command(t *testing.T, report any, args ...string) {
	t.Helper()
	musttest.NoError(t, json.Unmarshal([]byte(runs(t, args...)), report))
}

func read(t *testing.T, source string) *corpus.Corpus {
	t.Helper()
	return musttest.Get(gram.Read(t.Context(), source, gram.ReadOptions{}))(t)
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
		runs(t, append([]string{"train", "-q", "-in", facadeSource, "-o", theirs}, q.flags...)...)
		musttest.NoError(t, musttest.Get(gram.Train(t.Context(), c, q.o))(t).Save(ours))
		if !bytes.Equal(musttest.Get(os.ReadFile(ours))(t), musttest.Get(os.ReadFile(theirs))(t)) {
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
		got := musttest.Get(gram.CrossValidate(t.Context(), c, q.o))(t)
		if got.Mean != want.Mean || got.SD != want.SD || len(got.FoldScores) != len(want.Rows) {
			t.Errorf("cv %q: %v ± %v in %d folds, gram.CrossValidate %v ± %v in %d", q.flags, want.Mean, want.SD,
				len(want.Rows), got.Mean, got.SD, len(got.FoldScores))
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
		got := musttest.Get(gram.Search(t.Context(), c, q.o))(t)
		if len(got.Points) != len(want.Rows) || got.BestIndex < 0 {
			t.Fatalf("grid %q: %d rows, gram.Search %d, the best is %d", q.flags, len(want.Rows), len(got.Points), got.BestIndex)
		}
		best := got.Points[got.BestIndex]
		if best.Mean != want.Best.Mean || got.TrainOptions.Kernel != want.Best.Kernel || got.TrainOptions.C != want.Best.C ||
			want.Best.Type != "" && got.TrainOptions.Type != want.Best.Type {
			t.Errorf("grid %q: the best is %+v, of gram.Search %+v: %+v", q.flags, want.Best, best.Mean, got.TrainOptions)
		}
	}
}

func TestFacadeExplainsAndPredicts(t *testing.T) {
	c, path := read(t, facadeSource), filepath.Join(t.TempDir(), "linear.model")
	runs(t, "train", "-q", "-in", facadeSource, "-kernel", "linear", "-o", path)
	m := musttest.Get(gram.Load(path))(t)
	var want, why json.RawMessage
	command(t, &want, "explain", "-json", "-n", "3", path)
	got := musttest.Get(m.Explain(t.Context(), 3))(t)
	if a := musttest.Get(json.Marshal(got))(t); !same(t, a, want) || len(got.Functions) != 3 ||
		len(got.Functions[0].Positive) != 3 {
		t.Errorf("explain says %s, Model.Explain %s", want, a)
	}
	command(t, &why, "explain", "-json", "-n", "4", "-in", facadeSource, "-document", "9", path)
	x, err := m.ExplainDocument(t.Context(), c, 8, 4)
	if a, _ := json.Marshal(x); err != nil || !same(t, a, why) || len(x.Terms) != 4 {
		t.Errorf("explain says %s, Model.ExplainDocument %s, %v", why, a, err)
	}
	musttest.WantError(m.Explain(t.Context(), 0))(t, "no terms to explain")
	out := runs(t, "predict", "-q", "-in", facadeSource, "-model", path)
	p := musttest.Get(m.Predict(t.Context(), c))(t)
	for i, label := range strings.Fields(out) {
		if p.Label(i) != label {
			t.Fatalf("document %d is %q, expected %q as by predict", i+1, p.Label(i), label)
		}
	}
}

// same compares JSON objects. The second may have more keys, such as texts and times.
func same(t *testing.T, one, all []byte) bool {
	t.Helper()
	var a, b map[string]any
	musttest.NoError(t, errors.Join(json.Unmarshal(one, &a), json.Unmarshal(all, &b)))
	maps.DeleteFunc(b, func(key string, _ any) bool { return a[key] == nil })
	return reflect.DeepEqual(a, b)
}

func TestFacadeComponentsAndSpectrum(t *testing.T) {
	c := read(t, facadeSource)
	type values struct {
		Rows []struct {
			Eigenvalue float64   `json:"eigenvalue"`
			Values     []float64 `json:"eigenvalues"`
		} `json:"rows"`
	}
	for _, q := range []struct {
		flags []string
		o     gram.PCAOptions
	}{
		{nil, gram.PCAOptions{}},
		{[]string{"-landmarks", "40", "-components", "3", "-kernel", "linear"},
			gram.PCAOptions{Landmarks: 40, Components: 3, Kernel: "linear"}},
	} {
		var want values
		out := filepath.Join(t.TempDir(), "z.npy")
		command(t, &want, append([]string{"pca", "-json", "-in", facadeSource, "-o", out}, q.flags...)...)
		got := musttest.Get(gram.PCA(t.Context(), c, q.o))(t)
		for i, row := range want.Rows {
			if len(got.Eigenvalues) != len(want.Rows) || got.Eigenvalues[i] != row.Eigenvalue {
				t.Errorf("pca %q: eigenvalue %v, gram.PCA %v", q.flags, row.Eigenvalue, got.Eigenvalues)
			}
		}
		z := musttest.Get(got.Project(t.Context(), c))(t)
		if rows, cols := z.Dims(); rows != c.Documents.Rows() || cols != len(got.Eigenvalues) {
			t.Errorf("coordinates are %d × %d", rows, cols)
		}
		if own := got.Coordinates(); own != nil && !(math.Abs(own.At(7, 1)-z.At(7, 1)) <= 1e-4) {
			t.Errorf("document 8 is at %v, projected to %v", own.At(7, 1), z.At(7, 1))
		}
	}
	var want values
	command(t, &want, "spectrum", "-json", "-in", facadeSource)
	got := musttest.Get(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{}))(t)
	for i, v := range want.Rows[0].Values {
		if got[i] != v {
			t.Errorf("eigenvalue %d is %v, of gram.Spectrum %v", i+1, v, got[i])
		}
	}
	if len(want.Rows[0].Values) == 0 || len(got) != c.Documents.Rows() {
		t.Errorf("%d eigenvalues, of gram.Spectrum %d", len(want.Rows[0].Values), len(got))
	}
}
