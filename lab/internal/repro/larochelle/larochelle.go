// Package larochelle generates images of rectangles, convex regions, and digits on noise and
// textures, as described by Larochelle, Erhan, Courville, Bergstra and Bengio, ICML 2007.
//
// The paper doesn't specify all parameters, and its images are no longer available. So error rates
// can't be compared with error rates on the original images.
package larochelle

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

const (
	ImageSize  = 28 // width and height, in pixels
	PixelCount = ImageSize * ImageSize
)

// Generator draws an image and returns its class. Pixel values are from 0 to 1, in row-major order.
// All randomness comes from r.
type Generator func(r *rand.Rand, image []float32) (class int)

// Sequence is an infinite sequence of random images. Image i doesn't depend on the number of
// images drawn.
type Sequence struct {
	Name    string // becomes Corpus.Source
	Seed    uint64
	OnImage func() // called after each image
}

// Draw returns a corpus of images first to first+n-1, drawn by kind.
func (s Sequence) Draw(ctx context.Context, kind Generator, first, n int) (*corpus.Corpus, error) {
	m := &sparse.CSR{Cols: PixelCount, Offsets: make([]int64, 1, n+1)}
	c := &corpus.Corpus{Source: s.Name, Documents: m, Labels: sparse.Labels{Offsets: []int64{0}}}
	image := make([]float32, PixelCount)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		class := strconv.Itoa(kind(rand.New(rand.NewPCG(s.Seed, uint64(first+i))), image))
		id := slices.Index(c.Classes, class)
		if id < 0 {
			id, c.Classes = len(c.Classes), append(c.Classes, class)
		}
		c.Labels.Add(int32(id))
		for k, v := range image {
			if v != 0 {
				m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Values)))
		s.OnImage()
	}
	return c, nil
}

// rectangle consists of rows top to top+height-1 and columns left to left+width-1 of an image.
type rectangle struct{ top, left, height, width int }

// drawRectangle draws a rectangle at a random position in the image. Height and width are from
// minSize to maxSize, and differ by at least minDifference. Half of the rectangles are taller than
// wide.
func drawRectangle(r *rand.Rand, minSize, maxSize, minDifference int) rectangle {
	for {
		h, w := minSize+r.IntN(maxSize-minSize+1), minSize+r.IntN(maxSize-minSize+1)
		if h-w < minDifference && w-h < minDifference {
			continue
		}
		return rectangle{r.IntN(ImageSize - h + 1), r.IntN(ImageSize - w + 1), h, w}
	}
}

// class returns 1 if the rectangle is taller than wide, otherwise 0.
func (q rectangle) class() int {
	if q.height > q.width {
		return 1
	}
	return 0
}

// DrawOutline draws the outline of a rectangle, one pixel wide, in white on black. Height and width
// are 3 to 26 pixels and differ by at least 3. The paper doesn't specify these numbers.
func DrawOutline(r *rand.Rand, image []float32) int {
	q := drawRectangle(r, 3, 26, 3)
	clear(image)
	for y := range q.height {
		for x := range q.width {
			if y == 0 || y == q.height-1 || x == 0 || x == q.width-1 {
				image[(q.top+y)*ImageSize+q.left+x] = 1
			}
		}
	}
	return q.class()
}

// DrawTextured fills a rectangle with a texture, and the background with another texture. Height
// and width are 10 to 26 pixels and differ by at least 5. The paper uses photographs instead of
// textures, and doesn't specify the range of heights and widths.
func DrawTextured(r *rand.Rand, image []float32) int {
	q := drawRectangle(r, 10, 26, 5)
	drawTexture(r, image)
	inner := make([]float32, PixelCount)
	drawTexture(r, inner)
	for y := q.top; y < q.top+q.height; y++ {
		at := y*ImageSize + q.left
		copy(image[at:at+q.width], inner[at:at+q.width])
	}
	return q.class()
}

// drawTexture draws a random grey level plus randomly weighted noise on grids spaced by 16, 8, 4
// and 2 pixels, interpolated between grid points. As in photographs, coarse grids have more
// contrast.
func drawTexture(r *rand.Rand, image []float32) {
	grey, contrast := 0.2+0.6*r.Float64(), 0.2+0.6*r.Float64()
	for k := range image {
		image[k] = float32(grey)
	}
	for cell := 16; cell >= 2; cell /= 2 {
		share := contrast * r.Float64() * math.Sqrt(float64(cell)/16)
		shiftX, shiftY := r.IntN(cell), r.IntN(cell)
		across := (ImageSize+cell)/cell + 2
		grid := make([]float64, across*across)
		for k := range grid {
			grid[k] = 2*r.Float64() - 1
		}
		for y := range ImageSize {
			gy, fy := (y+shiftY)/cell, float64((y+shiftY)%cell)/float64(cell)
			for x := range ImageSize {
				gx, fx := (x+shiftX)/cell, float64((x+shiftX)%cell)/float64(cell)
				at := gy*across + gx
				upper, lower := grid[at]*(1-fx)+grid[at+1]*fx, grid[at+across]*(1-fx)+grid[at+across+1]*fx
				image[y*ImageSize+x] += float32(share * (upper*(1-fy) + lower*fy))
			}
		}
	}
	for k, v := range image {
		image[k] = min(max(v, 0), 1)
	}
}

// DigitsOnNoise returns a generator that draws the given documents of digits on noise, in order.
// Each pixel is the maximum of the digit's pixel and a uniform random value from 0 to 1. The class
// is the digit.
func DigitsOnNoise(digits *corpus.Corpus, documents []int) Generator {
	return digitsOnBackground(digits, documents, func(r *rand.Rand, image []float32) {
		for k := range image {
			image[k] = r.Float32()
		}
	})
}

// DigitsOnTexture is like [DigitsOnNoise], but draws digits on textures instead of noise.
func DigitsOnTexture(digits *corpus.Corpus, documents []int) Generator {
	return digitsOnBackground(digits, documents, drawTexture)
}

// digitsOnBackground returns a generator that draws digits on backgrounds drawn by draw. Each pixel
// is the maximum of the digit's pixel and the background's pixel.
func digitsOnBackground(digits *corpus.Corpus, documents []int, draw func(r *rand.Rand, image []float32)) Generator {
	class := make([]int, len(digits.Classes))
	for id, name := range digits.Classes {
		class[id], _ = strconv.Atoi(name)
	}
	next := 0 // index of the next digit; images are drawn in order
	return func(r *rand.Rand, image []float32) int {
		i := documents[next]
		next++
		draw(r, image)
		terms, values := digits.Documents.Row(i)
		for k, t := range terms {
			image[t] = max(image[t], values[k])
		}
		return class[digits.Labels.Classes(i)[0]]
	}
}
