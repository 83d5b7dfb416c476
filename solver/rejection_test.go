package solver

import (
	"math"
	"strings"
	"testing"
)

// answersOf has per part 100 answers, the less probable the more often wrong, wrong[part] of ten of the last
// fifty.
func answersOf(wrong ...int) (answers []Answer) {
	for part, w := range wrong {
		for i := range 100 {
			right := i < 50 || i%10 >= w
			answers = append(answers, Answer{Probability: 1 - float64(i)/100, Right: right, Part: 3 * part})
		}
	}
	return answers
}

func TestTuneRejection(t *testing.T) {
	got, err := TuneRejection(answersOf(2, 2), RejectionTarget{Error: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	// Parts do not differ: two of 60 answers are wrong in each, three of 61: 7/123 are more than 5 %.
	if !(math.Abs(got.Below-0.41) <= 1e-12) || got.Error != 4./120 || got.Coverage != 0.6 {
		t.Errorf("%+v, expected 0.6 of all", got)
	}
	// Parts with errors 0 and 2e have a standard deviation of e√2, and t is 6.3138·√1.5: e(1 + 10.94) <= 0.15.
	if got, err = TuneRejection(answersOf(0, 4), RejectionTarget{Error: 0.15}); err != nil {
		t.Fatal(err)
	}
	if bound := got.Error * (1 + 6.3138*math.Sqrt(3)); !(bound <= 0.15) || !(got.Error > 0) {
		t.Errorf("%+v: an error of up to %v in a new part, expected at most 0.15", got, bound)
	}
	if got, err = TuneRejection(answersOf(2, 2), RejectionTarget{Coverage: 0.905}); err != nil || got.Coverage != 0.91 {
		t.Errorf("%+v, %v, expected the least coverage from 0.905", got, err)
	}
	wrong := []Answer{{1, false, 0}, {1, true, 1}}
	for what, c := range map[string]struct {
		answers []Answer
		target  RejectionTarget
	}{
		"expected one share above 0": {wrong, RejectionTarget{}},
		"an error of 0.1 and a cov":  {wrong, RejectionTarget{0.1, 0.5}},
		"answers of 1 parts":         {wrong[:1], RejectionTarget{Error: 0.1}},
		"answer 0 has":               {[]Answer{{math.NaN(), true, 0}}, RejectionTarget{Error: 0.1}},
		"no threshold keeps":         {wrong, RejectionTarget{Error: 0.1}},
	} {
		if _, err := TuneRejection(c.answers, c.target); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, expected %q", err, what)
		}
	}
}
