package neighbours

import (
	"math"
	"slices"

	"github.com/gramengine/gram/internal/chart"
)

const numBins = 100

// newPlot draws a histogram of the nearest neighbours' kernel values.
func newPlot(kernel string, nearest []float64) *chart.Chart {
	p := chart.New("The nearest document", "value of "+kernel, "documents")
	if len(nearest) > 0 {
		least, most := slices.Min(nearest), slices.Max(nearest)
		width := (most - least) / numBins
		if !(width > 0) {
			width = max(math.Abs(most), 1) / numBins
		}
		count := make([]float64, numBins)
		for _, v := range nearest {
			count[min(int((v-least)/width), numBins-1)]++
		}
		var outline []chart.Point
		for i, n := range count {
			left := least + float64(i)*width
			outline = append(outline, chart.Point{X: left, Y: n}, chart.Point{X: left + width, Y: n})
		}
		p.AddCurve("", chart.Palette[0], outline, false)
	}
	p.Y.Min = 0
	return p
}
