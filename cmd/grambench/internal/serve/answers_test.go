package serve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/learn"
)

// Of a text that is refused an answer says what it would be, and how likely that is.
func TestRefused(t *testing.T) {
	s, _, _ := serving(t, 3, 40, 20, gram.TrainOptions{Kernel: "linear", C: 1, Reject: "coverage=50%"})
	l := s.current.Load()
	p := gram.Must(l.model.PredictTexts(t.Context(), []string{"never seen before"}))
	got := l.prediction(p, 0)
	_, is := l.classes[got.Second]
	if !slices.Equal(got.Labels, []string{"?"}) || !is || got.Note != learn.NoKnownWord {
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
