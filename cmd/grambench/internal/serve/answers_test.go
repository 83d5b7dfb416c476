package serve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/learn"
)

// A text has the most probable class, whatever the votes say; labels of their own and "?" stay.
func TestMostProbable(t *testing.T) {
	f := 0.5
	l := &loaded{names: []string{"a", "b"}, classes: map[string]int{"a": 0, "b": 1}, single: true}
	p := &gram.Predictions{Labels: [][]string{{"a"}, {"b"}, {"?"}},
		Probabilities: [][]float64{{0.4, 0.6}, {0.4, 0.6}, {0.5, 0.5}}, Margins: []float64{f, f, f},
		Seconds: []string{"b", "a", "a"}, Known: make([]int, 3), Empty: make([]bool, 3), Words: []int{1, 1, 1}}
	first, second, refused := l.prediction(p, 0), l.prediction(p, 1), l.prediction(p, 2)
	if first.Labels[0] != "b" || first.Second != "a" || first.Margin != nil || *first.Probability != 0.6 {
		t.Errorf("where the votes say another class: %+v", first)
	}
	if second.Labels[0] != "b" || second.Second != "a" || *second.Margin != f || *second.Probability != 0.6 {
		t.Errorf("where the votes say the same: %+v", second)
	}
	if refused.Labels[0] != "?" || refused.Probability != nil {
		t.Errorf("where nothing is answered: %+v", refused)
	}
	l.single = false
	if own := l.prediction(p, 0); own.Labels[0] != "a" || *own.Probability != 0.4 {
		t.Errorf("of labels each for itself: %+v", own)
	}
	if p.Labels[0][0] != "a" {
		t.Error("the prediction of the model was changed")
	}
}

// Of a text that is refused an answer says what it would be, and how likely that is.
func TestRefused(t *testing.T) {
	s, _, _ := serving(t, 3, 40, 20, gram.TrainOptions{Kernel: "linear", C: 1, Reject: "coverage=50%"})
	l := s.current.Load()
	p := gram.Must(l.model.PredictTexts(t.Context(), []string{"never seen before"}))
	got := l.prediction(p, 0)
	class := slices.Index(l.names, got.Second)
	if !slices.Equal(got.Labels, []string{"?"}) || class < 0 || got.Note != learn.NoKnownWord {
		t.Fatalf("%+v, expected a refusal with the class that it would be", got)
	}
	if got.Probability == nil || *got.Probability != slices.Max(p.Probabilities[0]) {
		t.Errorf("%+v, expected the greatest probability of %v", got, p.Probabilities[0])
	}
	shown := gram.Must(l.answers(t.Context(), "never seen before"))
	want := fmt.Sprintf("No answer; closest: %s (%.3g), below the threshold %.3g", got.Second, *got.Probability,
		l.model.About().Below)
	if got.Threshold != l.model.About().Below || !(*got.Probability < got.Threshold) || shown[0].Title != want {
		t.Errorf("threshold %v, title %q, expected %q", got.Threshold, shown[0].Title, want)
	}
}
