package score

import (
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// truth returns a corpus with labels only, which are indices into classes.
func truth(classes []string, labels ...[]int32) *corpus.Corpus {
	c := &corpus.Corpus{Source: "truth", Classes: classes}
	for _, l := range labels {
		c.Labels.Add(l...)
	}
	return c
}

// Counts were computed by hand. Classes are matched by name, in any order. A class that the model
// doesn't know is always predicted wrongly.
func TestScoreClasses(t *testing.T) {
	p := &model.Prediction{ClassIndices: []int{0, 0, 1, 1, 2, -1, 0, 1}}
	s := musttest.Get(Compute([]string{"a", "b", "c"}, p,
		truth(
			[]string{"b", "new", "a"}, []int32{2}, []int32{0}, []int32{0}, []int32{1}, []int32{2}, []int32{0}, nil,
			[]int32{2, 0},
		)))(t)
	// a: true for documents 0, 4; predicted for 0, 1; right 0.  b: 1, 2, 7; 2, 3, 7; 2, 7.
	// c: predicted for 4.  new: true for 3.
	if s.Documents != 6 || s.Correct != 3 || len(s.Classes) != 4 || s.Classes[3].Name != "new" {
		t.Fatalf("%+v", s)
	}
	want := [][]int{{1, 0, 1}, {1, 2, 0}, {0, 0, 0}, {0, 1, 0}} // no document can be predicted as "new"
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

// Metrics that don't apply to the predictions are NaN.
func TestScoreOfOther(t *testing.T) {
	c := truth([]string{"1", "2"}, []int32{0}, []int32{1})
	classes := musttest.Get(Compute(c.Classes, &model.Prediction{ClassIndices: []int{0, 1}}, c))(t)
	values := musttest.Get(Compute(nil, &model.Prediction{Values: []float64{1, 2}}, c))(t)
	for name, v := range map[string]float64{
		"Hamming": classes.Hamming, "MeanSquaredError": classes.MeanSquaredError,
		"Correlation": classes.Correlation, "MicroF1": values.MicroF1, "MacroF1": values.MacroF1, "Accuracy": values.Accuracy,
		"Hamming of values": values.Hamming,
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v, expected NaN", name, v)
		}
	}
}

func TestScoreLabels(t *testing.T) {
	p := &model.Prediction{Labels: [][]int{{0}, {0, 1}, {}, {2}, nil, {}}}
	s := musttest.Get(Compute([]string{"x", "y", "z"}, p,
		truth([]string{"y", "x"}, []int32{1}, []int32{0}, nil, []int32{0}, []int32{0}, []int32{1})))(t)
	// x: true for 0, 5; predicted for 0, 1; right 0.  y: 1, 3; 1; 1.  z: predicted for 3.
	if s.Documents != 5 || s.Correct != 2 || s.Confusion != nil {
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
	s := musttest.Get(Compute(nil, &model.Prediction{Values: []float64{1.5, 2.5, -3, 99}}, c))(t)
	within(t, "mean squared error", s.MeanSquaredError, (0.25+1)/3, 1e-15)
	// Pearson's correlation is computed from centred values here, unlike in svm-predict's formula.
	x, z := []float64{1.5, 2.5, -3}, []float64{1, 2.5, -4}
	var mx, mz, xx, zz, xz float64
	for i := range x {
		mx, mz = mx+x[i]/3, mz+z[i]/3
	}
	for i := range x {
		xx, zz, xz = xx+(x[i]-mx)*(x[i]-mx), zz+(z[i]-mz)*(z[i]-mz), xz+(x[i]-mx)*(z[i]-mz)
	}
	within(t, "squared correlation", s.Correlation, xz*xz/(xx*zz), 1e-12)
	within(t, "R²", s.Regression.R2.Value, 1-(0.25+1)/zz, 1e-12)
	within(t, "mean absolute error", s.Regression.MAE.Value, 1.5/3, 1e-12)
	within(t, "root mean squared error", s.Regression.RMSE.Value, math.Sqrt(1.25/3), 1e-12)
	if s.Documents != 3 || !math.IsNaN(s.Accuracy) {
		t.Errorf("%+v", s)
	}
	for _, other := range []string{"two", "NaN"} {
		c.Classes[1] = other
		musttest.WantError(Compute(nil, &model.Prediction{Values: []float64{1, 2, 3, 4}}, c))(t,
			fmt.Sprintf("label %q", other), other)
	}
}

// Two classes of truth with the same name count as one.
func TestClassesOfOneName(t *testing.T) {
	p := &model.Prediction{Labels: [][]int{{0}}}
	s := musttest.Get(Compute([]string{"a"}, p, truth([]string{"a", "a"}, []int32{0, 1})))(t)
	if s.Correct != 1 || s.Classes[0].Documents != 1 {
		t.Errorf("%+v", s)
	}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, expected %v ± %.2g", what, got, want, tolerance)
	}
}

// The expected metrics were computed by hand, with two bins, an unknown class, and missing labels.
func TestScoreProbabilities(t *testing.T) {
	truth := &corpus.Corpus{Classes: []string{"b", "a", "z"}, Labels: sparse.Labels{
		Offsets: []int64{0, 1, 2, 3, 4, 4, 5}, IDs: []int32{1, 1, 0, 2, 0}}}
	p := [][]float64{{0.95, 0.05}, {0.2, 0.8}, {0.25, 0.75}, {0.99, 0.01}, {0.5, 0.5}, nil}
	class := make([]int, len(p))
	got := musttest.Get(Compute([]string{"a", "b"}, &model.Prediction{ClassIndices: class, Probabilities: p},
		truth))(t).Calibration
	// Bins (14/15, 1]: 0.95 right, 0.99 wrong; (11/15, 12/15]: 0.8 wrong, 0.75 right.
	loss := -(math.Log(0.95) + math.Log(0.2) + math.Log(0.75)) / 3
	ece := (math.Abs(0.95+0.99-1) + math.Abs(0.8+0.75-1)) / 4
	within(t, "log loss", got.LogLoss, loss, 1e-12)
	within(t, "expected calibration error", got.ECE, ece, 1e-12)
	one := &corpus.Corpus{Classes: []string{"a"}, Labels: sparse.Labels{Offsets: []int64{0, 1}, IDs: []int32{0}}}
	labels := &model.Prediction{Labels: [][]int{{}}, Probabilities: p[:1]}
	got = musttest.Get(Compute([]string{"a", "b"}, labels, one))(t).Calibration
	within(t, "log loss of labels", got.LogLoss, -math.Log(0.95), 1e-12)
	within(t, "expected calibration error of labels", got.ECE, 0.05, 1e-12)
	none := &model.Prediction{ClassIndices: class, Probabilities: make([][]float64, 6)}
	if got := musttest.Get(Compute([]string{"a", "b"}, none, truth))(t).Calibration; got != nil {
		t.Errorf("%v, of no probabilities", got)
	}
}
