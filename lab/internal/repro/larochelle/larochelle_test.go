package larochelle

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

func drawn(kind Generator, seed uint64, i int) ([]float32, int) {
	image := make([]float32, PixelCount)
	for k := range image {
		image[k] = float32(math.NaN()) // so that the test notices pixels that the generator doesn't set
	}
	return image, kind(rand.New(rand.NewPCG(seed, uint64(i))), image)
}

// The class of an outline matches its bounding box, and only the border of the bounding box is
// white.
func TestOutline(t *testing.T) {
	tall := 0
	for i := range 400 {
		image, class := drawn(DrawOutline, 1, i)
		top, left, bottom, right := ImageSize, ImageSize, -1, -1
		for k, v := range image {
			if v != 0 {
				top, left, bottom, right = min(top, k/ImageSize), min(left, k%ImageSize), max(bottom, k/ImageSize),
					max(right, k%ImageSize)
			}
		}
		h, w := bottom-top+1, right-left+1
		if h < 3 || h > 26 || w < 3 || w > 26 || max(h-w, w-h) < 3 || (class == 1) != (h > w) {
			t.Fatalf("image %d: %d×%d Pixels of class %d", i, h, w, class)
		}
		for k, v := range image {
			y, x := k/ImageSize, k%ImageSize
			white := y >= top && y <= bottom && x >= left && x <= right &&
				(y == top || y == bottom || x == left || x == right)
			if white != (v == 1) || !white && v != 0 {
				t.Fatalf("image %d: pixel %d,%d is %v", i, y, x, v)
			}
		}
		tall += class
	}
	if tall < 150 || tall > 250 { // ±5 standard deviations of 400 coin flips
		t.Errorf("%d of 400 are tall", tall)
	}
}

// inHull reports whether a point is in the convex hull of a region. A point is outside if it sees
// the whole region within less than a half-turn.
func inHull(g *region, p point) bool {
	var angles []float64
	for k, in := range g {
		if in {
			angles = append(angles, math.Atan2(float64(k/ImageSize-p.y), float64(k%ImageSize-p.x)))
		}
	}
	slices.Sort(angles)
	gap := angles[0] + 2*math.Pi - angles[len(angles)-1]
	for k := 1; k < len(angles); k++ {
		gap = max(gap, angles[k]-angles[k-1])
	}
	return gap <= math.Pi+1e-9
}

// A region of class 1 contains all pixels of its convex hull. A region of class 0 lacks some of
// these pixels. The number of pixels doesn't distinguish the classes.
func TestConvexity(t *testing.T) {
	var areas [2][]float64
	for i := range 300 {
		image, class := drawn(DrawConvex, 1, i)
		var g region
		for k, v := range image {
			if v != 0 && v != 1 {
				t.Fatalf("image %d: pixel %d is %v", i, k, v)
			}
			g[k] = v == 1
		}
		areas[class] = append(areas[class], float64(g.count()))
		if i < 15 {
			missing := 0
			for k, in := range g {
				if !in && inHull(&g, point{k % ImageSize, k / ImageSize}) {
					missing++
				}
			}
			if missing != g.missing() || class == 1 && missing != 0 || class == 0 && missing*hollowDivisor < g.count() {
				t.Fatalf("image %d of class %d: %d of the hull are missing, %d were counted", i, class, missing,
					g.missing())
			}
		}
	}
	a, b := repro.Summarise(areas[0]), repro.Summarise(areas[1])
	for _, n := range slices.Concat(areas[0], areas[1]) {
		if n < (1-regionSizeTolerance)*minRegionSize || n > (1+regionSizeTolerance)*maxRegionSize {
			t.Fatalf("%v Pixels", n)
		}
	}
	if a.N < 107 || b.N < 107 { // ±5 standard deviations of 300 flips
		t.Fatalf("%d and %d of the classes", a.N, b.N)
	}
	if d := math.Abs(a.Mean - b.Mean); !(d < 5*math.Sqrt(a.SD*a.SD/float64(a.N)+b.SD*b.SD/float64(b.N))) {
		t.Errorf("%v and %v Pixels in the mean", a.Mean, b.Mean)
	}
}

// A rectangle of one texture differs visibly from a background of another texture. All values are
// from 0 to 1.
func TestTexturedRectangle(t *testing.T) {
	var edge, elsewhere float64
	edges, others := 0, 0
	for i := range 100 {
		image, class := drawn(DrawTextured, 1, i)
		q := drawRectangle(rand.New(rand.NewPCG(1, uint64(i))), 10, 26, 5)
		if class != q.class() || q.height < 10 || q.width < 10 || max(q.height-q.width, q.width-q.height) < 5 ||
			q.top+q.height > ImageSize ||
			q.left+q.width > ImageSize {
			t.Fatalf("image %d: %+v of class %d", i, q, class)
		}
		for k, v := range image {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("image %d: pixel %d is %v", i, k, v)
			}
			x, y := k%ImageSize, k/ImageSize
			if x == 0 || y < q.top || y >= q.top+q.height {
				continue
			}
			step := math.Abs(float64(v - image[k-1]))
			if x == q.left || x == q.left+q.width {
				edge, edges = edge+step, edges+1
			} else {
				elsewhere, others = elsewhere+step, others+1
			}
		}
	}
	if !(edge/float64(edges) > 2*elsewhere/float64(others)) {
		t.Errorf("at edges Pixels differ by %v, elsewhere by %v", edge/float64(edges), elsewhere/float64(others))
	}
}

// Digits on noise keep their classes. Each pixel is the maximum of digit and noise, and the noise
// has the mean of its distribution.
func TestOnNoise(t *testing.T) {
	digits := &corpus.Corpus{
		Classes: []string{"7", "0"},
		Documents: &sparse.CSR{
			Cols:    PixelCount,
			Offsets: []int64{0, 2, 3},
			Terms:   []uint32{3, 700, 5},
			Values:  []float32{0.25, 1, 0.5},
		},
	}
	digits.Labels.Add(1)
	digits.Labels.Add(0)
	draw := func(digits *corpus.Corpus) *corpus.Corpus {
		return musttest.Get(Sequence{"noise", 1, func() {}}.Draw(t.Context(), DigitsOnNoise(digits, []int{1, 0, 1}), 0, 3))(t)
	}
	dark := *digits
	dark.Documents = &sparse.CSR{Cols: PixelCount, Offsets: []int64{0, 0, 0}}
	c, noise := draw(digits), draw(&dark) // the same noise
	sum, noisier := 0., 0
	for i, want := range []struct {
		class string
		term  uint32
		value float32
	}{{"7", 5, 0.5}, {"0", 3, 0.25}, {"7", 5, 0.5}} {
		terms, values := c.Documents.Row(i)
		at, ok := slices.BinarySearch(terms, want.term)
		noiseTerms, noiseValues := noise.Documents.Row(i)
		var under float32
		if k, ok := slices.BinarySearch(noiseTerms, want.term); ok {
			under = noiseValues[k]
		}
		if under > want.value {
			noisier++
		}
		if !ok || values[at] != max(want.value, under) || c.Classes[c.Labels.Classes(i)[0]] != want.class {
			t.Errorf("image %d: class %s, pixel %d is there: %v", i, c.Classes[c.Labels.Classes(i)[0]], want.term, ok)
		}
		for _, v := range values {
			sum += float64(v)
		}
	}
	if noisier == 0 || noisier == 3 {
		t.Errorf("noise is the greater value in %d of 3 pixels: the seed tests only one side", noisier)
	}
	if mean := sum / (3 * PixelCount); !(math.Abs(mean-0.5) < 5*0.289/math.Sqrt(3*PixelCount)) {
		t.Errorf("mean %v, expected 0.5", mean)
	}
}

// Each pixel of a digit on a texture is the maximum of digit and texture.
func TestOnTexture(t *testing.T) {
	digits := &corpus.Corpus{Classes: []string{"4"},
		Documents: &sparse.CSR{Cols: PixelCount, Offsets: []int64{0, 2}, Terms: []uint32{3, 700}, Values: []float32{0.01, 1}}}
	digits.Labels.Add(0)
	dark := *digits
	dark.Documents = &sparse.CSR{Cols: PixelCount, Offsets: []int64{0, 0}}
	image, ground := make([]float32, PixelCount), make([]float32, PixelCount)
	for seed := range uint64(5) {
		class := DigitsOnTexture(digits, []int{0})(rand.New(rand.NewPCG(seed, 1)), image)
		DigitsOnTexture(&dark, []int{0})(rand.New(rand.NewPCG(seed, 1)), ground)
		bright := 0
		for k, v := range image {
			if want := max(ground[k], map[int]float32{3: 0.01, 700: 1}[k]); v != want {
				t.Errorf("seed %d, pixel %d: %v on %v", seed, k, v, ground[k])
			}
			if ground[k] > 0 {
				bright++
			}
		}
		if class != 4 || bright < PixelCount/2 {
			t.Errorf("seed %d: class %d, %d pixels of the ground aren't black", seed, class, bright)
		}
	}
}

// Image i of a sequence doesn't depend on the number of images drawn. Another seed gives other
// images.
func TestDrawImages(t *testing.T) {
	for name, kind := range map[string]Generator{"Outline": DrawOutline, "Textured": DrawTextured, "Convex": DrawConvex} {
		draw := func(seed uint64, first, n int) *corpus.Corpus {
			c := musttest.Get(Sequence{name, seed, func() {}}.Draw(t.Context(), kind, first, n))(t)
			if err := c.Documents.Validate(); err != nil || c.Documents.Rows() != n || c.Documents.Cols != PixelCount ||
				len(c.Labels.Offsets) != n+1 {
				t.Fatalf("%s: %v, %d rows of %d, %d offsets", name, err, c.Documents.Rows(), n, len(c.Labels.Offsets))
			}
			return c
		}
		whole, part := draw(1, 0, 12), draw(1, 4, 3)
		if want := whole.Select([]int{4, 5, 6}); !reflect.DeepEqual(part.Documents, want.Documents) {
			t.Errorf("%s: images 4 to 6 of 12 and of 3 differ", name)
		}
		if other := draw(2, 0, 12); reflect.DeepEqual(other.Documents, whole.Documents) {
			t.Errorf("%s: two seeds give the same images", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := (Sequence{"outline", 1, cancel}).Draw(ctx, DrawOutline, 0, 1000); err != context.Canceled {
		t.Errorf("%v, expected the end of the context", err)
	}
}
