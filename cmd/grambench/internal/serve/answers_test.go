package serve

import (
	"regexp"
	"slices"
	"strings"
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
	if !slices.Equal(got.Labels, []string{"?"}) || !is || !strings.HasPrefix(got.Note, learn.NoKnownWord+"; ") {
		t.Fatalf("%+v, expected a refusal with the class that it would be", got)
	}
	says := regexp.MustCompile(`^No answer; closest: (\w+) \((0\.\d\d)\), below the threshold (0\.\d{1,3})$`)
	refusal := got.refusal()
	m := says.FindStringSubmatch(refusal)
	if m == nil || m[1] != got.Second || m[2] >= m[3] || got.Threshold != l.model.About().Below ||
		!(*got.Probability < got.Threshold) {
		t.Errorf("it says %q, expected %s, its probability and the threshold %v", refusal, got.Second, got.Threshold)
	}
	page := bodyOf(t, ask(s, "POST", "/", formType, "text=never+seen+before"))
	if !strings.Contains(page, "<h2>"+refusal+"</h2>") || !strings.Contains(page, "<td>closest</td>") {
		t.Errorf("the page lacks %q:\n%s", refusal, page)
	}
	if got.Probability == nil || *got.Probability != slices.Max(p.Probabilities[0]) {
		t.Errorf("%+v, expected the greatest probability of %v", got, p.Probabilities[0])
	}
}
