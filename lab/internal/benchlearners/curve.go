package benchlearners

import (
	"math"

	"github.com/gramengine/gram/internal/chart"
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
		var right, took []chart.Point
		add := func(m float64, r result) {
			right = append(right, chart.Point{X: m, Y: 100 * r.Accuracy})
			took = append(took, chart.Point{X: m, Y: r.Seconds})
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
		accuracy.Curve(name, chart.Colors[i%len(chart.Colors)], right, marks)
		seconds.Curve("", chart.Colors[i%len(chart.Colors)], took, marks)
	}
	accuracy.X.Log, seconds.X.Log, seconds.Y.Log = true, true, true
	seconds.Y.Min, seconds.Y.Max = shortest/1.5, longest*1.5
	accuracy.X.At, seconds.X.At = landmarkTicks(ways), landmarkTicks(ways)
	b.panels = append(b.panels, accuracy, seconds)
}

// landmarkTicks are the numbers of landmarks that were measured.
func landmarkTicks(ways []way) []float64 {
	var ticks []float64
	for _, w := range ways {
		if w.landmarks > 0 {
			ticks = append(ticks, float64(w.landmarks))
		}
	}
	return ticks
}
