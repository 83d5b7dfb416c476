package larochelle

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// region is the set of white pixels of an image.
type region [PixelCount]bool

// In both classes the size of a region is drawn uniformly between minRegionSize and maxRegionSize
// pixels, so that the size doesn't reveal the class. The actual size may differ from the drawn size
// by the fraction regionSizeTolerance. In a non-convex region of n pixels, at least n/hollowDivisor
// pixels of its convex hull are missing. The paper doesn't specify these numbers.
const (
	minRegionSize, maxRegionSize = 60, 450
	regionSizeTolerance          = 0.1
	hollowDivisor                = 15
)

// DrawConvex draws a white region on black. With equal probability, the region is convex (class 1)
// or not (class 0). A convex region is an intersection of 3 to 8 random half-planes. A non-convex
// region is a union of two or three such intersections.
func DrawConvex(r *rand.Rand, image []float32) int {
	class := r.IntN(2)
	var at region
	size := minRegionSize + (maxRegionSize-minRegionSize)*r.Float64()
	for {
		at = region{}
		parts := 1
		if class == 0 {
			parts = 2 + r.IntN(2)
		}
		for range parts {
			at.addConvex(r, math.Sqrt(size/float64(parts)))
		}
		n := at.count()
		if math.Abs(float64(n)-size) <= regionSizeTolerance*size && (class == 1 || at.missing()*hollowDivisor >= n) {
			break
		}
	}
	for k, in := range at {
		image[k] = 0
		if in {
			image[k] = 1
		}
	}
	return class
}

// addConvex adds the intersection of 3 to 8 random half-planes that contain a random point. The
// distance of each border from this point is 0.3 to 1.2 times reach.
func (g *region) addConvex(r *rand.Rand, reach float64) {
	px, py := ImageSize*r.Float64(), ImageSize*r.Float64()
	type halfPlane struct{ x, y, at float64 }
	var planes []halfPlane
	for range 3 + r.IntN(6) {
		s, c := math.Sincos(2 * math.Pi * r.Float64())
		planes = append(planes, halfPlane{c, s, c*px + s*py + reach*(0.3+0.9*r.Float64())})
	}
	for k := range g {
		x, y := float64(k%ImageSize)+0.5, float64(k/ImageSize)+0.5
		if !slices.ContainsFunc(planes, func(p halfPlane) bool { return p.x*x+p.y*y > p.at }) {
			g[k] = true
		}
	}
}

func (g *region) count() int {
	n := 0
	for _, in := range g {
		if in {
			n++
		}
	}
	return n
}

// missing returns the number of pixels in the region's convex hull that aren't in the region.
func (g *region) missing() int {
	hull := g.hull()
	n := 0
	for k, in := range g {
		if !in && inside(hull, point{k % ImageSize, k / ImageSize}) {
			n++
		}
	}
	return n
}

type point struct{ x, y int }

// orientation returns a positive number if a → b → c turns left, and 0 if the points are collinear.
func orientation(a, b, c point) int { return (b.x-a.x)*(c.y-a.y) - (b.y-a.y)*(c.x-a.x) }

// hull returns the convex hull's vertices, anticlockwise, by Andrew's monotone chain algorithm.
func (g *region) hull() []point {
	var points []point
	for k, in := range g {
		if in {
			points = append(points, point{k % ImageSize, k / ImageSize})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	if len(points) < 3 {
		return points
	}
	var chain []point
	grow := func(p point, least int) {
		for len(chain) > least && orientation(chain[len(chain)-2], chain[len(chain)-1], p) <= 0 {
			chain = chain[:len(chain)-1]
		}
		chain = append(chain, p)
	}
	for _, p := range points {
		grow(p, 1)
	}
	lower := len(chain)
	for _, p := range slices.Backward(points[:len(points)-1]) {
		grow(p, lower)
	}
	return chain[:len(chain)-1]
}

func inside(hull []point, p point) bool {
	for k, a := range hull {
		if orientation(a, hull[(k+1)%len(hull)], p) < 0 {
			return false
		}
	}
	return true
}
