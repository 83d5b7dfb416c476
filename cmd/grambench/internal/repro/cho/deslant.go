package cho

import (
	"math"

	"github.com/gramengine/gram/cmd/grambench/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

// deslant shears each image about its centre of mass so that the covariance of x and y becomes 0:
// row y moves to the left by (y - ȳ)·cov(x,y)/var(y) pixels, interpolated linearly between its two
// neighbours. (Bilinear interpolation is no more than that, as no pixel changes its row.) So each
// row keeps its sum, but for what leaves the image. An image of one row, or none, stays as it is.
func deslant(c *sparse.Corpus) *sparse.Corpus {
	const side = larochelle.Side
	from := c.Documents
	to := &sparse.CSR{
		Cols: from.Cols, Offsets: make([]int64, 1, from.Rows()+1),
		Terms: make([]uint32, 0, len(from.Terms)), Values: make([]float32, 0, len(from.Values)),
	}
	image := make([]float64, larochelle.Pixels)
	for i := range from.Rows() {
		terms, values := from.Row(i)
		slope, middle := slant(terms, values)
		clear(image)
		for k, t := range terms {
			y, v := int(t/side), float64(values[k])
			left, share := math.Modf(float64(t%side) - slope*(float64(y)-middle) + side) // above 0 in the image
			for x, part := range [2]float64{v * (1 - share), v * share} {
				if x += int(left) - side; x >= 0 && x < side {
					image[y*side+x] += part
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

// slant returns cov(x,y)/var(y) of an image, 0 where it has no height, and ȳ.
func slant(terms []uint32, values []float32) (slope, middle float64) {
	var mass, x, y float64
	for k, t := range terms {
		v := float64(values[k])
		mass, x, y = mass+v, x+v*float64(t%larochelle.Side), y+v*float64(t/larochelle.Side)
	}
	if !(mass > 0) {
		return 0, 0
	}
	x, y = x/mass, y/mass
	var xy, yy float64
	for k, t := range terms {
		v, dy := float64(values[k]), float64(t/larochelle.Side)-y
		xy, yy = xy+v*dy*(float64(t%larochelle.Side)-x), yy+v*dy*dy
	}
	if !(yy > 1e-9*mass) { // one row: what is left is rounding
		return 0, y
	}
	return xy / yy, y
}
