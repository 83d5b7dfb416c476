package repro

import "math"

// InSimplex is a point of the simplex of three terms in the plane: a triangle with corners (0, 0), (1,
// 0) and at the top. The shares are divided by their sum.
func InSimplex(a, b, c float64) Point {
	sum := a + b + c
	return Point{X: (b + c/2) / sum, Y: math.Sqrt(3) / 2 * c / sum, SD: math.NaN()}
}

// Triangle is the edge of the simplex.
func Triangle() Curve {
	return Curve{Points: []Point{InSimplex(1, 0, 0), InSimplex(0, 1, 0), InSimplex(0, 0, 1), InSimplex(1, 0, 0)}}
}

// zeroSteps is how many lines of each direction are followed for zeros, and places on each of them.
const zeroSteps = 300

// Zeros are points of the curve on which f is 0. They lie on lines in two directions, numbered 0 and
// 1: at returns the place and the value of f for a line and a place along it, both from 0 to 1.
func Zeros(at func(direction int, line, along float64) (place Point, f float64)) (out []Point) {
	for i := range zeroSteps {
		line := float64(i) / zeroSteps
		for direction := range 2 {
			_, before := at(direction, line, 0)
			for k := range zeroSteps {
				lo, hi := float64(k)/zeroSteps, float64(k+1)/zeroSteps
				_, after := at(direction, line, hi)
				if (before > 0) != (after > 0) {
					place, _ := at(direction, line, lo+(hi-lo)*before/(before-after))
					out = append(out, place)
				}
				before = after
			}
		}
	}
	return out
}

// ZerosInSimplex are points of the simplex at which f is 0.
func ZerosInSimplex(f func(a, b, c float64) float64) []Point {
	return Zeros(func(direction int, line, along float64) (Point, float64) {
		a, b, c := (1-line)*along, (1-line)*(1-along), line
		if direction == 1 {
			a, c = c, a
		}
		return InSimplex(a, b, c), f(a, b, c)
	})
}
