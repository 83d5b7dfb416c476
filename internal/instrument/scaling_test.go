package instrument

import (
	"slices"
	"testing"
)

// If no CPU is known, no worker is pinned.
func TestConfineNowhere(t *testing.T) {
	m := &measuring{result: &Result{Pinned: true}, pin: true}
	if m.confine(1); m.pin || m.result.Pinned {
		t.Error("workers are pinned, though the system doesn't say where to")
	}
}

// Efficiency is the rate per worker relative to a single worker's rate.
func TestScaling(t *testing.T) {
	row := func(workers int, rate float64) *Row {
		return &Row{Workload: "w", Version: 1, Workers: workers, Rate: Median{Median: rate}}
	}
	got := (&Result{Rows: []*Row{row(1, 2), row(8, 4), {Workload: "alone", Workers: 8}}}).Scaling()
	if want := []Scaled{{"w", 8, 2, 0.25}}; !slices.Equal(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
}
