package bench

import (
	"math"
	"testing"
)

// If the computer slows down to a third halfway, times change, but not the best head or its ratio.
func TestHeadsSummary(t *testing.T) {
	r := &headsReport{Rows: []headRow{
		{NumTerms: 0, rounds: []headRound{{Seconds: 4}, {Seconds: 12}, {Seconds: 12}}},
		{NumTerms: 10, rounds: []headRound{{Seconds: 0.8}, {Seconds: 2.4}, {Seconds: 2.4}}},
		{NumTerms: 20, rounds: []headRound{{Seconds: 1}, {Seconds: 3}, {Seconds: 3}}, Chosen: true},
	}}
	r.summarise()
	if r.BestTerms != 10 || r.ChosenSeconds != 3 {
		t.Errorf("best of %d terms, chosen one takes %v s; expected 10 terms and 3 s", r.BestTerms, r.ChosenSeconds)
	}
	// tolerance for quotients with three roundings
	for i, want := range []float64{5, 1, 1.25} {
		if got := r.Rows[i].RatioToBest; !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("row %d: %v times the best, expected %v", i, got, want)
		}
	}
	if !(math.Abs(r.AboveBest-25) <= 1e-12) {
		t.Errorf("%v %% above the best, expected 25", r.AboveBest)
	}
}
