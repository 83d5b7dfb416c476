package svm

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// truth is a corpus that knows nothing but labels: of each document the indices into its classes.
func truth(classes []string, labels ...[]int32) *corpus.Corpus {
	c := &corpus.Corpus{Source: "truth", Classes: classes}
	for _, l := range labels {
		c.Labels.Add(l...)
	}
	return c
}

// Counted by hand: classes go by name, whatever their order; a class that the model doesn't know is
// wrong whatever it says.
func TestScoreClasses(t *testing.T) {
	s := ScoreClasses([]string{"a", "b", "c"}, []int{0, 0, 1, 1, 2, -1, 0, 1},
		truth(
			[]string{"b", "new", "a"}, []int32{2}, []int32{0}, []int32{0}, []int32{1}, []int32{2}, []int32{0}, nil,
			[]int32{2, 0},
		))
	// a: of documents 0, 4; given to 0, 1; right 0.  b: of 1, 2, 7; given to 2, 3, 7; right 2, 7.
	// c: given to 4.  new: of 3.
	if s.Documents != 6 || s.Right != 3 || len(s.Classes) != 4 || s.Classes[3].Name != "new" {
		t.Fatalf("%+v", s)
	}
	want := [][]int{{1, 0, 1}, {1, 2, 0}, {0, 0, 0}, {0, 1, 0}} // no document can be given the new class
	for i := range want {
		for j := range want[i] {
			if s.Confusion[i][j] != want[i][j] {
				t.Errorf("%d documents of class %d are called %d, expected %d", s.Confusion[i][j], i, j, want[i][j])
			}
		}
	}
	const rounding = 1e-15
	within(t, "accuracy", s.Accuracy, 0.5, rounding)
	within(t, "precision of a", s.Classes[0].Precision, 0.5, rounding)
	within(t, "recall of b", s.Classes[1].Recall, 2.0/3, rounding)
	within(t, "F1 of b", s.Classes[1].F1, 2.0/3, rounding)
	within(t, "micro F1", s.MicroF1, 0.5, rounding)
	within(t, "macro F1", s.MacroF1, (0.5+2.0/3+0+0)/4, rounding)
}

// Figures that predictions don't have are NaN.
func TestScoreOfOther(t *testing.T) {
	c := truth([]string{"1", "2"}, []int32{0}, []int32{1})
	classes := ScoreClasses(c.Classes, []int{0, 1}, c)
	values := musttest.Get(ScoreValues([]float64{1, 2}, c))(t)
	for name, v := range map[string]float64{
		"Hamming": classes.Hamming, "MeanSquaredError": classes.MeanSquaredError, "R2": classes.R2,
		"Variance": classes.Variance, "MicroF1": values.MicroF1, "MacroF1": values.MacroF1, "Accuracy": values.Accuracy,
		"Hamming of values": values.Hamming,
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v, expected NaN", name, v)
		}
	}
}

func TestScoreLabels(t *testing.T) {
	s := ScoreLabels([]string{"x", "y", "z"}, [][]int{{0}, {0, 1}, {}, {2}, nil, {}},
		truth([]string{"y", "x"}, []int32{1}, []int32{0}, nil, []int32{0}, []int32{0}, []int32{1}))
	// x: of 0, 5; given to 0, 1; right 0.  y: of 1, 3; given to 1; right 1.  z: given to 3.
	if s.Documents != 5 || s.Right != 2 || s.Confusion != nil {
		t.Fatalf("%+v", s)
	}
	const rounding = 1e-15
	within(t, "accuracy", s.Accuracy, 0.4, rounding)
	within(t, "micro F1", s.MicroF1, 2*2.0/(4+4), rounding)
	within(t, "macro F1", s.MacroF1, (0.5+2.0/3+0)/3, rounding)
	within(t, "wrong decisions", s.Hamming, 4.0/15, rounding)
}

func TestScoreValues(t *testing.T) {
	c := truth([]string{"1", "2.5", "-4"}, []int32{0}, []int32{1}, []int32{2}, nil)
	s := musttest.Get(ScoreValues([]float64{1.5, 2.5, -3, 99}, c))(t)
	within(t, "mean squared error", s.MeanSquaredError, (0.25+1)/3, 1e-15)
	// Pearson's correlation from centred values, in another way than svm-predict's formula.
	x, z := []float64{1.5, 2.5, -3}, []float64{1, 2.5, -4}
	var mx, mz, xx, zz, xz float64
	for i := range x {
		mx, mz = mx+x[i]/3, mz+z[i]/3
	}
	for i := range x {
		xx, zz, xz = xx+(x[i]-mx)*(x[i]-mx), zz+(z[i]-mz)*(z[i]-mz), xz+(x[i]-mx)*(z[i]-mz)
	}
	within(t, "squared correlation", s.R2, xz*xz/(xx*zz), 1e-12)
	within(t, "variance", s.Variance, zz/3, 1e-12)
	if s.Documents != 3 || !math.IsNaN(s.Accuracy) {
		t.Errorf("%+v", s)
	}
	if _, err := ScoreValues(
		[]float64{1, 2, 3, 4}, withClasses(c, "1", "two", "3"),
	); err == nil || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("error %v, expected one that names the label", err)
	}
}

func TestScoreOneClass(t *testing.T) {
	values := []float64{0.5, -1, 0, 2}
	s, err := ScoreOneClass(values, truth([]string{"-1", "1"}, []int32{1}, []int32{0}, []int32{0}, []int32{0}))
	if err != nil || s.Right != 3 || s.Documents != 4 {
		t.Errorf("%+v, %v, expected 3 of 4", s, err)
	}
	_, err = ScoreOneClass(values, truth([]string{"cats"}, []int32{0}, []int32{0}, []int32{0}, []int32{0}))
	if err == nil {
		t.Error("no error where labels say nothing")
	}
}
