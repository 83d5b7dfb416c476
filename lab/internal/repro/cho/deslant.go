package cho

import (
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

// deslant shears each image so that the covariance of x and y becomes 0, and moves its centre of
// mass to the middle. The pixel at (x, y) moves to
//
//	(x - x̄ - (y-ȳ)·cov(x,y)/var(y) + m, y - ȳ + m),  m = (side-1)/2
//
// and its value is distributed over four pixels by bilinear interpolation.
func deslant(c *corpus.Corpus) *corpus.Corpus {
	const side, middle = larochelle.ImageSize, (larochelle.ImageSize - 1) / 2.
	from := c.Documents
	to := &sparse.CSR{
		Cols: from.Cols, Offsets: make([]int64, 1, from.Rows()+1),
		Terms: make([]uint32, 0, len(from.Terms)), Values: make([]float32, 0, len(from.Values)),
	}
	image := make([]float64, larochelle.PixelCount)
	for i := range from.Rows() {
		terms, values := from.Row(i)
		slope, meanX, meanY := slant(terms, values)
		clear(image)
		for k, t := range terms {
			y := float64(t/side) - meanY
			left, shareX := floorFrac(float64(t%side) - meanX - slope*y + middle)
			top, shareY := floorFrac(y + middle)
			for corner, part := range [4]float64{(1 - shareX) * (1 - shareY), shareX * (1 - shareY),
				(1 - shareX) * shareY, shareX * shareY} {
				if x, y := left+corner%2, top+corner/2; x >= 0 && x < side && y >= 0 && y < side {
					image[y*side+x] += part * float64(values[k])
				}
			}
		}
		for t, v := range image {
			if v := float32(v); v != 0 {
				to.Terms, to.Values = append(to.Terms, uint32(t)), append(to.Values, v)
			}
		}
		to.Offsets = append(to.Offsets, int64(len(to.Values)))
	}
	straight := *c
	straight.Documents = to
	return &straight
}

func floorFrac(x float64) (below int, share float64) {
	floor := math.Floor(x)
	return int(floor), x - floor
}

// slant returns cov(x,y)/var(y) for an image, and its centre of mass. If all mass is in one row,
// slope is 0.
func slant(terms []uint32, values []float32) (slope, x, y float64) {
	mass := 0.
	for k, t := range terms {
		v := float64(values[k])
		mass, x, y = mass+v, x+v*float64(t%larochelle.ImageSize), y+v*float64(t/larochelle.ImageSize)
	}
	if !(mass > 0) {
		return 0, 0, 0
	}
	x, y = x/mass, y/mass
	var xy, yy float64
	for k, t := range terms {
		v, dy := float64(values[k]), float64(t/larochelle.ImageSize)-y
		xy, yy = xy+v*dy*(float64(t%larochelle.ImageSize)-x), yy+v*dy*dy
	}
	if !(yy > 1e-9*mass) { // all mass is in one row, so yy is a rounding error
		return 0, x, y
	}
	return xy / yy, x, y
}
