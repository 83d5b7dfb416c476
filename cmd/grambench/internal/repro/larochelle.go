package repro

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/gramengine/gram/sparse"
)

// Images like those of Larochelle, Erhan, Courville, Bergstra and Bengio, ICML 2007, whose files aren't to be had any more where the paper says. They are
// drawn after the paper's description; where that leaves a number open it is chosen here, and said at the function. So they are look-alikes: an error on
// them is no error on the originals.
const (
	side   = 28 // width and height of an image, in pixels
	pixels = side * side
)

// An imageKind draws an image, values from 0 to 1 row by row, and returns its class. All of its randomness is r's.
type imageKind func(r *rand.Rand, image []float32) (class int)

// drawImages draws images first to first+n-1 of a sequence that a seed has: image i is the same however many are drawn.
func drawImages(ctx context.Context, source string, draw imageKind, seed uint64, first, n int, step func()) (*sparse.Corpus, error) {
	c := &sparse.Corpus{Source: source, Documents: &sparse.CSR{Cols: pixels, Offsets: make([]int64, 1, n+1)}, Labels: sparse.Labels{Offsets: []int64{0}}}
	ids := map[int]int32{}
	image := make([]float32, pixels)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		class := draw(rand.New(rand.NewPCG(seed, uint64(first+i))), image)
		id, ok := ids[class]
		if !ok {
			id = int32(len(c.Classes))
			ids[class], c.Classes = id, append(c.Classes, strconv.Itoa(class))
		}
		c.Labels.Add(id)
		appendImage(c.Documents, image)
		step()
	}
	return c, nil
}

// appendImage appends a row.
func appendImage(m *sparse.CSR, image []float32) {
	for k, v := range image {
		if v != 0 {
			m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, v)
		}
	}
	m.Offsets = append(m.Offsets, int64(len(m.Values)))
}

// rectangle is a place in an image: rows top to top+height-1, columns left to left+width-1.
type rectangle struct{ top, left, height, width int }

// drawRectangle draws sides from least to most, uniformly and anew until they differ by at least apart, and a place where they fit. All but tall and
// broad are as likely: half of them are tall.
func drawRectangle(r *rand.Rand, least, most, apart int) rectangle {
	for {
		h, w := least+r.IntN(most-least+1), least+r.IntN(most-least+1)
		if h-w < apart && w-h < apart {
			continue
		}
		return rectangle{r.IntN(side - h + 1), r.IntN(side - w + 1), h, w}
	}
}

// tall is the class of rectangles that are taller than broad, 1.
func (q rectangle) tall() int {
	if q.height > q.width {
		return 1
	}
	return 0
}

// outline draws the border of a rectangle, one pixel wide, in white on black: sides from 3 to 26 pixels that differ by at least 3 (our choice).
func outline(r *rand.Rand, image []float32) int {
	q := drawRectangle(r, 3, 26, 3)
	clear(image)
	for y := range q.height {
		for x := range q.width {
			if y == 0 || y == q.height-1 || x == 0 || x == q.width-1 {
				image[(q.top+y)*side+q.left+x] = 1
			}
		}
	}
	return q.tall()
}

// texturedRectangle fills a rectangle with one texture and the rest with another: sides from 10 to 26 pixels that differ by at least 5 (our choice), and
// textures instead of pieces of photographs.
func texturedRectangle(r *rand.Rand, image []float32) int {
	q := drawRectangle(r, 10, 26, 5)
	texture(r, image)
	inner := make([]float32, pixels)
	texture(r, inner)
	for y := q.top; y < q.top+q.height; y++ {
		at := y*side + q.left
		copy(image[at:at+q.width], inner[at:at+q.width])
	}
	return q.tall()
}

// texture draws a texture: noise on grids of 16, 8, 4 and 2 pixels, interpolated between the points of the grid, each with a random share, around a random
// grey. Coarse grids have more contrast, about as photographs have (an amplitude in proportion to the wavelength).
func texture(r *rand.Rand, image []float32) {
	grey, contrast := 0.2+0.6*r.Float64(), 0.2+0.6*r.Float64()
	for k := range image {
		image[k] = float32(grey)
	}
	for cell := 16; cell >= 2; cell /= 2 {
		share := contrast * r.Float64() * math.Sqrt(float64(cell)/16)
		shiftX, shiftY := r.IntN(cell), r.IntN(cell)
		across := (side+cell)/cell + 2
		grid := make([]float64, across*across)
		for k := range grid {
			grid[k] = 2*r.Float64() - 1
		}
		for y := range side {
			gy, fy := (y+shiftY)/cell, float64((y+shiftY)%cell)/float64(cell)
			for x := range side {
				gx, fx := (x+shiftX)/cell, float64((x+shiftX)%cell)/float64(cell)
				at := gy*across + gx
				upper, lower := grid[at]*(1-fx)+grid[at+1]*fx, grid[at+across]*(1-fx)+grid[at+across+1]*fx
				image[y*side+x] += float32(share * (upper*(1-fy) + lower*fy))
			}
		}
	}
	for k, v := range image {
		image[k] = min(max(v, 0), 1)
	}
}

// onNoise returns an image kind that sets the digits of a corpus, in the order of documents, on noise: a pixel of the digit stays, and where there is none, a
// uniform random value from 0 to 1 is put. The class is the digit's.
func onNoise(digits *sparse.Corpus, documents []int) imageKind {
	class := make([]int, len(digits.Classes))
	for id, name := range digits.Classes {
		class[id], _ = strconv.Atoi(name)
	}
	next := 0 // images are drawn in their order
	return func(r *rand.Rand, image []float32) int {
		i := documents[next]
		next++
		for k := range image {
			image[k] = r.Float32()
		}
		terms, values := digits.Documents.Row(i)
		for k, t := range terms {
			image[t] = values[k]
		}
		return class[digits.Labels.Of(i)[0]]
	}
}
