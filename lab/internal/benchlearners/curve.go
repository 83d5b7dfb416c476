package benchlearners

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/chart"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// curves draws accuracy and seconds of a corpus over the number of landmarks, which ways with none
// have as lines across.
func (b *bench) curves(c *dataset, ways []way, medians []result) {
	accuracy := chart.New(c.name+", "+c.embedding, "landmarks", "right, %")
	seconds := chart.New("training", "landmarks", "s")
	names := map[string][]int{} // ways of a curve
	var order []string
	least, most := math.Inf(1), 0.0
	shortest, longest := math.Inf(1), 0.0
	for k, w := range ways {
		shortest, longest = min(shortest, medians[k].Seconds), max(longest, medians[k].Seconds)
		if w.landmarks > 0 {
			least, most = min(least, float64(w.landmarks)), max(most, float64(w.landmarks))
		}
		name := medians[k].program + w.curve
		if names[name] == nil {
			order = append(order, name)
		}
		names[name] = append(names[name], k)
	}
	if most == 0 || !(shortest > 0) {
		return // nothing to draw over
	}
	for i, name := range order {
		var right, took plotter.XYs
		add := func(m float64, r result) {
			right = append(right, plotter.XY{X: m, Y: 100 * r.Accuracy})
			took = append(took, plotter.XY{X: m, Y: r.Seconds})
		}
		for _, k := range names[name] {
			if m := ways[k].landmarks; m > 0 {
				add(float64(m), medians[k])
			} else {
				add(least, medians[k])
				add(most, medians[k])
			}
		}
		marks := ways[names[name][0]].landmarks > 0
		chart.Curve(accuracy, name, chart.Colors[i%len(chart.Colors)], right, marks)
		chart.Curve(seconds, "", chart.Colors[i%len(chart.Colors)], took, marks)
	}
	number := func(v float64) string { return fmt.Sprint(v) }
	chart.Logarithmic(number, &accuracy.X, &seconds.X, &seconds.Y)
	seconds.Y.Min, seconds.Y.Max = shortest/1.5, longest*1.5
	accuracy.X.Tick.Marker, seconds.X.Tick.Marker = landmarkTicks(ways), landmarkTicks(ways)
	b.panels = append(b.panels, accuracy, seconds)
}

// landmarkTicks are the numbers of landmarks that were measured.
func landmarkTicks(ways []way) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, w := range ways {
		if w.landmarks > 0 {
			ticks = append(ticks, plot.Tick{Value: float64(w.landmarks), Label: fmt.Sprint(w.landmarks)})
		}
	}
	return ticks
}
