package sphere

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// nearest returns the angle to the nearest point of the hyperplane by trying all faces of the
// positive orthant. The nearest point in a face is an orthogonal projection, and valid if it lies
// in the orthant. nearest shares no code with Project.
func nearest(x, u []float64) float64 {
	best, norm := 0.0, 0.0
	for _, v := range x {
		norm += v * v
	}
	for face := range 1 << len(x) {
		var q, w float64
		for i := range x {
			if face>>i&1 == 1 {
				q += x[i] * u[i]
				w += u[i] * u[i]
			}
		}
		f, inside := 0.0, true
		for i := range x {
			if face>>i&1 == 1 {
				y := x[i]
				if w > 0 {
					y -= q * u[i] / w
				}
				// Rounding may make a coordinate that is 0 negative; another face covers that case.
				inside = inside && y >= 0
				f += y * y
			}
		}
		if inside {
			best = max(best, f)
		}
	}
	return math.Acos(min(math.Sqrt(best/norm), 1))
}

// draw returns a random point of the sphere and a random unit vector in n dimensions. Some
// coordinates are 0, and the coordinates of u sometimes have equal signs.
func draw(r *rand.Rand, n int) (x []float32, u []float64) {
	x, u = make([]float32, n), make([]float64, n)
	kind, norm := r.IntN(6), 0.0
	for i := range x {
		if r.IntN(3) > 0 {
			x[i] = float32(r.ExpFloat64())
		}
		u[i] = r.NormFloat64()
		switch {
		case kind == 0: // H is empty, or touches the orthant
			u[i] = math.Abs(u[i])
		case kind == 1 && r.IntN(3) == 0:
			u[i] = 0
		case kind == 2:
			u[i] *= math.Exp(3 * r.NormFloat64())
		case kind == 3:
			u[i] = -math.Abs(u[i])
		}
		if kind == 0 && r.IntN(4) == 0 {
			u[i] = 0
		}
		norm += u[i] * u[i]
	}
	x[r.IntN(n)] = 1
	if norm == 0 {
		u[0], norm = 1, 1
	}
	for i := range u {
		u[i] /= math.Sqrt(norm)
	}
	return x, u
}

// pointOf returns a document without zero values.
func pointOf(x []float32) Point {
	var p Point
	for i, v := range x {
		if v != 0 {
			p.Terms, p.Values = append(p.Terms, uint32(i)), append(p.Values, v)
			p.SquaredNorm += float64(v) * float64(v)
		}
	}
	return p
}

// marginOfPaper returns arccos √F for the paper's set of zero coordinates, A = {i: xᵢ ≤ ⟨x,û⟩ûᵢ}.
func marginOfPaper(x, u []float64) float64 {
	sum, left, q, w := floats.Dot(x, u), 0.0, 0.0, 0.0
	for i := range x {
		if x[i] > sum*u[i] {
			left, q, w = left+x[i]*x[i], q+x[i]*u[i], w+u[i]*u[i]
		}
	}
	if w > 0 {
		left -= q * q / w
	}
	return math.Acos(math.Sqrt(min(max(left/floats.Dot(x, x), 0), 1)))
}

// Margins d equal the angles found by trying all faces. The error of the reference's Acos is
// 1e-16/d, below 1e-9 for d above 1e-6. Smaller margins have a larger tolerance.
func TestMarginIsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s Scratch
	differ, most := map[int]int{}, 0.0 // numbers of margins that differ from the paper's, indexed by number of terms
	for range 20000 {
		n := 2 + r.IntN(5)
		x, u := draw(r, n)
		wide := make([]float64, n)
		sum := 0.0
		for i := range x {
			wide[i] = float64(x[i])
			sum += wide[i] * u[i]
		}
		h := NewHyperplane(u)
		p := h.Project(pointOf(x), &s)
		want := math.Copysign(nearest(wide, u), sum)
		if sum == 0 {
			want = 0
		}
		if err := math.Abs(p.Margin - want); !(err <= 1e-9 || math.Abs(want) < 1e-6 && err <= 2e-8) {
			t.Fatalf("x %v, u %v: margin %v, expected %v", x, u, p.Margin, want)
		}
		paper := marginOfPaper(wide, u)
		if d := math.Abs(p.Margin) - paper; !(d >= -1e-7) {
			t.Fatalf("x %v, u %v: the paper's margin %v is greater than %v", x, u, paper, p.Margin)
		} else if n <= 3 && d > 1e-7 && slices.Min(u) < 0 && slices.Max(u) > 0 { // otherwise H only touches the orthant
			t.Fatalf("x %v, u %v: the paper's margin %v differs from %v with %d terms", x, u, paper, p.Margin, n)
		} else if d > 1e-7 {
			differ[n], most = differ[n]+1, max(most, d)
		}
	}
	if min(differ[4], differ[5], differ[6]) == 0 || most > math.Pi/2 {
		t.Errorf("margins of the paper that differ, by the number of terms: %v, by up to %v, want some from 4 on", differ,
			most)
	}
	t.Logf("margins of the paper that differ, by the number of terms, of 4000 each: %v, by up to %.3f", differ, most)
}
