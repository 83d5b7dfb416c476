package chart

import (
	"slices"
	"testing"

	"gonum.org/v1/plot"

	"github.com/gramengine/gram/internal/report"
)

func TestLogarithmic(t *testing.T) {
	var axis plot.Axis
	Logarithmic(report.Rate, &axis)
	var labels []string
	ticks := axis.Tick.Marker.Ticks(0.3, 2e9)
	for _, tick := range ticks {
		if tick.Value < 0.3 || tick.Value > 2e9 {
			t.Errorf("a tick at %v", tick.Value)
		}
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if want := []string{"1", "10", "100", "1 k", "10 k", "100 k", "1 M", "10 M", "100 M", "1 G"}; !slices.Equal(
		labels,
		want,
	) {
		t.Errorf("labels are %q, expected %q", labels, want)
	}
	if want := 7 + 9*9 + 2; len(ticks) != want { // 0.3 to 0.9, nine decades, 1e9 and 2e9
		t.Errorf("%d ticks, expected %d", len(ticks), want)
	}
}
