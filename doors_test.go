package gram_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

var fewTexts = []string{"red green blue", "red green", "blue red", "salt pepper sugar", "salt sugar", "pepper salt"}

// few are documents of two classes.
func few(t testing.TB) *sparse.Corpus {
	t.Helper()
	labels := []string{"colour", "colour", "colour", "spice", "spice", "spice"}
	return gram.Must(gram.Texts(t.Context(), fewTexts, labels, gram.ReadOptions{MinDF: 1}))
}

// of is the error of a call.
func of[T any](_ T, err error) error { return err }

// What makes no sense is an error at the door, never a panic or a result.
func TestDoors(t *testing.T) {
	ctx, none, nan := t.Context(), context.Context(nil), math.NaN()
	c := few(t)
	broken := &sparse.Corpus{Documents: &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{7}}}
	numbers := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), nil))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1}))
	curved := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))
	z := gram.Must(gram.PCA(ctx, c, gram.PCAOptions{}))
	texts := func(ctx context.Context, labels []string, o gram.ReadOptions) error {
		_, err := gram.Texts(ctx, fewTexts, labels, o)
		return err
	}
	train := func(o gram.TrainOptions) error { return of(gram.Train(ctx, c, o)) }
	validate := func(o gram.ValidateOptions) error { return of(gram.CrossValidate(ctx, c, o)) }
	search := func(o gram.SearchOptions) error { return of(gram.Search(ctx, c, o)) }
	grid := func(name string, values ...string) gram.SearchOptions {
		return gram.SearchOptions{Grid: map[string][]string{name: values}, TrainOptions: gram.TrainOptions{Kernel: "linear"}}
	}
	sel := func(c *sparse.Corpus, most int) error {
		_, _, err := gram.SelectTerms(ctx, c, most, gram.Options{})
		return err
	}
	within := func(v float64) gram.DuplicateOptions { return gram.DuplicateOptions{Within: &v} }
	for name, call := range map[string]func() error{
		"Read without a context":     func() error { return of(gram.Read(none, "goroot", gram.ReadOptions{})) },
		"Read nothing":               func() error { return of(gram.Read(ctx, "", gram.ReadOptions{})) },
		"Read MinDF -1":              func() error { return of(gram.Read(ctx, "goroot", gram.ReadOptions{MinDF: -1})) },
		"ReadFrom nil":               func() error { return of(gram.ReadFrom(ctx, nil, "x", gram.ReadOptions{})) },
		"Texts without a context":    func() error { return texts(none, nil, gram.ReadOptions{}) },
		"Texts with a label":         func() error { return texts(ctx, []string{"x"}, gram.ReadOptions{}) },
		"Terms with a label":         func() error { return of(gram.Terms([][]string{{"a"}, {"b"}}, []string{"x"})) },
		"FromMatrix nil":             func() error { return of(gram.FromMatrix(nil, nil)) },
		"FromMatrix of NaN":          func() error { return of(gram.FromMatrix(mat.NewDense(1, 1, []float64{nan}), nil)) },
		"FromMatrix with two labels": func() error { return of(gram.FromMatrix(mat.NewDense(1, 1, nil), make([]string, 2))) },
		"Add to columns below 0":     func() error { return gram.NewRows(-1).Add([]uint32{0}, []float64{1}) },
		"Add a column too many":      func() error { return gram.NewRows(3).Add([]uint32{0, 1}, []float64{1}) },
		"Add falling columns":        func() error { return gram.NewRows(3).Add([]uint32{1, 0}, []float64{1, 1}) },
		"Add beyond the columns":     func() error { return gram.NewRows(3).Add([]uint32{3}, []float64{1}) },
		"Add infinity":               func() error { return gram.NewRows(3).Add([]uint32{0}, []float64{math.Inf(1)}) },
		"Gram without a context":     func() error { return of(gram.Gram(none, c, "", gram.Options{})) },
		"Gram of nil":                func() error { return of(gram.Gram(ctx, nil, "", gram.Options{})) },
		"Gram of a broken corpus":    func() error { return of(gram.Gram(ctx, broken, "", gram.Options{})) },
		"Gram of a guess":            func() error { return of(gram.Gram(ctx, c, "guess", gram.Options{})) },
		"Gram on workers below 0":    func() error { return of(gram.Gram(ctx, c, "", gram.Options{Workers: -1})) },
		"Gram in bytes below 0":      func() error { return of(gram.Gram(ctx, c, "", gram.Options{MemoryBytes: -1})) },
		"Gram in a byte":             func() error { return of(gram.Gram(ctx, c, "", gram.Options{MemoryBytes: 1})) },
		"Gram on a set unknown":      func() error { return of(gram.Gram(ctx, c, "", gram.Options{ISA: "abacus"})) },
		"Cross of nil":               func() error { return of(gram.Cross(ctx, nil, c, "", gram.Options{})) },
		"Cross with nil":             func() error { return of(gram.Cross(ctx, c, nil, "", gram.Options{})) },
		"Cross of text and numbers":  func() error { return of(gram.Cross(ctx, c, numbers, "", gram.Options{})) },
		"Neighbours of nil":          func() error { return of(gram.Neighbours(ctx, nil, gram.NeighbourOptions{})) },
		"Neighbours -1":              func() error { return of(gram.Neighbours(ctx, c, gram.NeighbourOptions{K: -1})) },
		"Neighbours above NaN":       func() error { return of(gram.Neighbours(ctx, c, gram.NeighbourOptions{Min: &nan})) },
		"Neighbours of other things": func() error { return of(gram.Neighbours(ctx, c, gram.NeighbourOptions{Of: numbers})) },
		"Duplicates of nil":          func() error { return of(gram.Duplicates(ctx, nil, gram.DuplicateOptions{})) },
		"Duplicates within NaN":      func() error { return of(gram.Duplicates(ctx, c, within(nan))) },
		"Duplicates within 1":        func() error { return of(gram.Duplicates(ctx, c, within(1))) },
		"Duplicates by a guess": func() error {
			return of(gram.Duplicates(ctx, c, gram.DuplicateOptions{Embedding: "guess"}))
		},
		"Train without a context":   func() error { return of(gram.Train(none, c, gram.TrainOptions{})) },
		"Train nil":                 func() error { return of(gram.Train(ctx, nil, gram.TrainOptions{})) },
		"Train without labels":      func() error { return of(gram.Train(ctx, numbers, gram.TrainOptions{})) },
		"Train a guess":             func() error { return train(gram.TrainOptions{Type: "guess"}) },
		"Train with C NaN":          func() error { return train(gram.TrainOptions{C: nan}) },
		"Train with C below 0":      func() error { return train(gram.TrainOptions{C: -1}) },
		"Train with nu NaN":         func() error { return train(gram.TrainOptions{Type: "nu_svc", Nu: nan}) },
		"Train with epsilon NaN":    func() error { return train(gram.TrainOptions{Type: "epsilon_svr", Epsilon: nan}) },
		"Train to NaN":              func() error { return train(gram.TrainOptions{Tolerance: nan}) },
		"Train logistic with C NaN": func() error { return train(gram.TrainOptions{Type: "logistic", C: nan}) },
		"Train logistic to NaN":     func() error { return train(gram.TrainOptions{Type: "logistic", Tolerance: nan}) },
		"Train for work NaN":        func() error { return train(gram.TrainOptions{ChooseWork: nan}) },
		"Train by a scheme unknown": func() error { return train(gram.TrainOptions{Scheme: "guess"}) },
		"Train with weight NaN": func() error {
			return train(gram.TrainOptions{C: 1, Weights: map[string]float64{"spice": nan}})
		},
		"Train with thresholds of classes": func() error { return train(gram.TrainOptions{Thresholds: true}) },
		"CrossValidate nil":                func() error { return of(gram.CrossValidate(ctx, nil, gram.ValidateOptions{})) },
		"CrossValidate -1 folds":           func() error { return validate(gram.ValidateOptions{Folds: -1}) },
		"CrossValidate 99 folds":           func() error { return validate(gram.ValidateOptions{Folds: 99}) },
		"CrossValidate one class": func() error {
			return validate(gram.ValidateOptions{TrainOptions: gram.TrainOptions{Type: "one_class"}})
		},
		"CrossValidate -1 folds of knn": func() error {
			return validate(gram.ValidateOptions{Folds: -1, TrainOptions: gram.TrainOptions{Type: "knn"}})
		},
		"Search nil":                 func() error { return of(gram.Search(ctx, nil, gram.SearchOptions{})) },
		"Search -1 folds":            func() error { return search(gram.SearchOptions{Folds: -1}) },
		"Search no values":           func() error { return search(grid("C")) },
		"Search C NaN":               func() error { return search(grid("C", "NaN")) },
		"Search C twice":             func() error { return search(grid("C", "1", "1")) },
		"Search a parameter unknown": func() error { return search(grid("t", "1")) },
		"Search a word unknown":      func() error { return search(grid("loss", "hinge")) },
		"Search a nil cut":           func() error { return search(gram.SearchOptions{Cuts: []*sparse.Corpus{nil}}) },
		"Search cuts of a grid": func() error {
			o := grid("C", "1", "2")
			o.Cuts = []*sparse.Corpus{c}
			return search(o)
		},
		"Load nothing":                 func() error { return of(gram.Load("")) },
		"LoadFrom nil":                 func() error { return of(gram.LoadFrom(ctx, nil)) },
		"LoadFrom without a context":   func() error { return of(gram.LoadFrom(none, &bytes.Buffer{})) },
		"LoadFrom nothing":             func() error { return of(gram.LoadFrom(ctx, &bytes.Buffer{})) },
		"Explain -1":                   func() error { return of(m.Explain(-1)) },
		"Explain a curved kernel":      func() error { return of(curved.Explain(3)) },
		"Save to nothing":              func() error { return m.Save("") },
		"Save to a folder":             func() error { return m.Save(t.TempDir()) },
		"Write to what fails":          func() error { return m.Write(ctx, failing{}) },
		"Write to nil":                 func() error { return m.Write(ctx, nil) },
		"Predict without a context":    func() error { return of(m.Predict(none, c)) },
		"Predict nil":                  func() error { return of(m.Predict(ctx, nil)) },
		"Predict numbers":              func() error { return of(m.Predict(ctx, numbers)) },
		"PredictTexts without context": func() error { return of(m.PredictTexts(none, fewTexts)) },
		"PredictTerms without context": func() error { return of(m.PredictTerms(none, [][]string{{"red"}})) },
		"With workers below 0":         func() error { return of(m.With(gram.Options{Workers: -1}).Predict(ctx, c)) },
		"SelectTerms 0":                func() error { return sel(c, 0) },
		"SelectTerms without labels":   func() error { return sel(numbers, 1) },
		"SelectTerms of nil":           func() error { return sel(nil, 1) },
		"Spectrum of nil":              func() error { return of(gram.Spectrum(ctx, nil, gram.SpectrumOptions{})) },
		"Spectrum without a context":   func() error { return of(gram.Spectrum(none, c, gram.SpectrumOptions{})) },
		"PCA of nil":                   func() error { return of(gram.PCA(ctx, nil, gram.PCAOptions{})) },
		"PCA of -1 components":         func() error { return of(gram.PCA(ctx, c, gram.PCAOptions{Components: -1})) },
		"PCA to NaN":                   func() error { return of(gram.PCA(ctx, c, gram.PCAOptions{Tolerance: nan})) },
		"PCA by -1 landmarks":          func() error { return of(gram.PCA(ctx, c, gram.PCAOptions{Landmarks: -1})) },
		"PCA by no choice": func() error {
			return of(gram.PCA(ctx, c, gram.PCAOptions{Landmarks: 3, Choice: 9}))
		},
		"Project nil":     func() error { return of(z.Project(ctx, nil)) },
		"Project numbers": func() error { return of(z.Project(ctx, numbers)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if what := recover(); what != nil {
					t.Errorf("a panic: %v", what)
				}
			}()
			if err := call(); err == nil {
				t.Error("no error")
			} else if strings.Contains(err.Error(), "nil pointer") || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v: a failure of the runtime", err)
			}
		})
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// Empty inputs that make sense are no errors.
func TestDoorsTakeNothing(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	if p := gram.Must(m.PredictTexts(t.Context(), nil)); p.Label(0) != "" || p.Label(-1) != "" {
		t.Errorf("predictions of nothing: %+v", p)
	}
	if c := gram.NewRows(3).Corpus(); c.Documents.Rows() != 0 {
		t.Errorf("%d documents of none", c.Documents.Rows())
	}
	if len(gram.Kernels()) == 0 || m.About().Support == 0 {
		t.Error("no kernels, or no support vectors")
	}
	path := filepath.Join(t.TempDir(), "a.model")
	if err := errors.Join(m.Save(path), m.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Must of an error: no panic")
			}
		}()
		gram.Must(0, errors.New("own"))
	}()
	called := 0
	tell := func(gram.Progress) { called++ }
	o := gram.Options{Progress: tell, Warn: func(string) { called++ }, Kernels: []engine.Kernel{nil}}
	gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, C: 1}))
	gram.Must(gram.Gram(t.Context(), c, "", o))
	gram.Must(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{Options: o, Centred: true}))
	if called == 0 {
		t.Error("progress was never told")
	}
}
