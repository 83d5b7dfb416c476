package lafferty

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
)

// geometry are Figures 1 to 4 of the paper: what its two geometries look like. The data of Figures 1
// and 3 aren't in the paper; those here are of the same kind.
func geometry(ctx context.Context, seed uint64) ([]*repro.Figure, error) {
	boundaries, err := trinomial(ctx, seed)
	if err != nil {
		return nil, err
	}
	return []*repro.Figure{
		{Key: "geometry", Panels: []*repro.Panel{halfPlane(), boundaries, rounded()}},
		{Key: "distances", Panels: distances()},
	}, nil
}

// halfPlane is Figure 1: two normal distributions of one variable, and where a machine with them as
// its support vectors is undecided. A kernel that falls with the distance is so where both are
// equally far: in the plane (μ, σ), and in its hyperbolic geometry.
func halfPlane() *repro.Panel {
	a, b := [2]float64{0.3, 0.25}, [2]float64{0.75, 0.6} // μ, σ
	flat := func(p, q [2]float64) float64 { return math.Hypot(p[0]-q[0], p[1]-q[1]) }
	// cosh d = 1 + (|μ-μ′|²/2 + (σ-σ′)²)/(2σσ′), see lab/internal/hyperbolic
	curved := func(p, q [2]float64) float64 {
		mean, spread := p[0]-q[0], p[1]-q[1]
		return (mean*mean/2 + spread*spread) / (2 * p[1] * q[1])
	}
	between := func(distance func(p, q [2]float64) float64) []repro.Point {
		return repro.Zeros(func(direction int, line, along float64) (repro.Point, float64) {
			p := [2]float64{line, along}
			if direction == 1 {
				p = [2]float64{along, line}
			}
			p[1] = max(p[1], 1e-6) // σ = 0 is infinitely far
			return repro.Point{X: p[0], Y: p[1]}, distance(p, a) - distance(p, b)
		})
	}
	return &repro.Panel{Title: "Figure 1: means to the right, deviations upwards", Plane: true, Curves: []repro.Curve{
		{Name: "one point", Apart: true, Points: []repro.Point{{X: a[0], Y: a[1]}}},
		{Name: "the other", Apart: true, Points: []repro.Point{{X: b[0], Y: b[1]}}},
		{Name: "Gaussian", Apart: true, Small: true, Points: between(flat)},
		{Name: "hyperbolic diffusion", Apart: true, Small: true, Points: between(curved)},
		{Points: []repro.Point{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 1, Y: 1}, {X: 0, Y: 1}, {X: 0, Y: 0}}},
	}}
}

// share is a distribution of three outcomes.
type share [3]float64

// fisher is the geodesic distance, 2 arccos(√θ·√θ′), equation (7).
func fisher(p, q share) float64 {
	cos := math.Sqrt(p[0]*q[0]) + math.Sqrt(p[1]*q[1]) + math.Sqrt(p[2]*q[2])
	return 2 * math.Acos(min(cos, 1))
}

// euclid is the Euclidean distance.
func euclid(p, q share) float64 {
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// distances is Figure 2: circles around three points, six of each geometry, up to the farthest
// corner.
func distances() (panels []*repro.Panel) {
	for _, of := range []struct {
		name string
		at   share
	}{
		{"the right edge", share{0, 0.5, 0.5}}, {"the centre", share{1. / 3, 1. / 3, 1. / 3}},
		{"the right corner", share{0, 1, 0}},
	} {
		panel := &repro.Panel{Title: "Figure 2: distances from " + of.name, Plane: true}
		for _, g := range []struct {
			name     string
			distance func(p, q share) float64
		}{{"Fisher", fisher}, {"Euclidean", euclid}} {
			most := 0.0
			for _, corner := range []share{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
				most = max(most, g.distance(corner, of.at))
			}
			circles := repro.Curve{Name: g.name, Apart: true, Small: true}
			for k := 1.0; k <= 6; k++ {
				circles.Points = append(circles.Points, repro.ZerosInSimplex(func(a, b, c float64) float64 {
					return g.distance(share{a, b, c}, of.at) - most*k/7
				})...)
			}
			panel.Curves = append(panel.Curves, circles)
		}
		panels = append(panels, panel)
		panel.Curves = append(panel.Curves, repro.Triangle())
	}
	return panels
}

// trinomial is Figure 3: the boundaries of machines with the diffusion and the Gaussian kernel, for
// a class near an edge and others beside it.
func trinomial(ctx context.Context, seed uint64) (*repro.Panel, error) {
	random := rand.New(rand.NewPCG(seed, 3))
	var docs []share
	var labels []int
	of := [2]repro.Curve{{Name: "class", Apart: true}, {Name: "others", Apart: true}}
	for class, centres := range [2][]share{{{0.05, 0.6, 0.35}}, {{0.3, 0.5, 0.2}, {0.2, 0.15, 0.65}}} {
		for _, centre := range centres {
			for range 30 / len(centres) {
				var p share
				sum := 0.0
				for i, v := range centre {
					p[i] = max(v+0.06*random.NormFloat64(), 0.001)
					sum += p[i]
				}
				for i := range p {
					p[i] /= sum
				}
				docs, labels = append(docs, p), append(labels, class)
				of[class].Points = append(of[class].Points, repro.InSimplex(p[0], p[1], p[2]))
			}
		}
	}
	panel := &repro.Panel{Title: "Figure 3: machines on the simplex", Plane: true, Curves: of[:]}
	const t, width = 0.04, 0.25 // squared radians; √2σ
	for _, k := range []struct {
		name   string
		kernel func(p, q share) float64
	}{
		{"diffusion", func(p, q share) float64 { d := fisher(p, q) / 2; return math.Exp(-d * d / t) }},
		{"Gaussian", func(p, q share) float64 { d := euclid(p, q) / width; return math.Exp(-d * d) }},
	} {
		n := len(docs)
		values := make([]float32, n*n)
		for i, p := range docs {
			for j, q := range docs {
				values[i*n+j] = float32(k.kernel(p, q))
			}
		}
		dense, err := solver.NewDense(n, values)
		if err != nil {
			return nil, err
		}
		training := solver.Training{Labels: labels, Classes: 2}
		training.C = 10
		trained, err := solver.Train(ctx, dense, training, solver.Options{})
		if err != nil {
			return nil, err
		}
		m := trained.Machines[0]
		boundary := repro.ZerosInSimplex(func(a, b, c float64) float64 {
			f := -m.Rho
			for s, doc := range m.Support {
				f += m.Coef[s] * k.kernel(docs[doc], share{a, b, c})
			}
			return f
		})
		panel.Curves = append(panel.Curves, repro.Curve{Name: k.name, Apart: true, Small: true, Points: boundary})
	}
	panel.Curves = append(panel.Curves, repro.Triangle())
	return panel, nil
}

// rounded is Figure 4: the simplex without what no disc of a radius reaches that lies in it. In the
// plane it is drawn in, its edges have length 1, and the circle in it the radius 1/√12.
func rounded() *repro.Panel {
	panel := &repro.Panel{Title: "Figure 4: the rounded simplex", Plane: true}
	for _, radius := range []float64{0.05, 0.15} {
		curve := repro.Curve{Name: map[float64]string{0.05: "δ = 0.05", 0.15: "δ = 0.15"}[radius]}
		middle := repro.InSimplex(1, 1, 1)
		const steps = 60
		for corner, at := range repro.Triangle().Points[:3] {
			shrunk := 1 - radius*math.Sqrt(12)
			x, y := middle.X+shrunk*(at.X-middle.X), middle.Y+shrunk*(at.Y-middle.Y)
			for k := range steps + 1 { // a third of a circle, from the normal of one edge to that of the next
				angle := math.Pi * (5./6 + float64(2*corner)/3 + 2./3*float64(k)/steps)
				curve.Points = append(curve.Points, repro.Point{X: x + radius*math.Cos(angle), Y: y + radius*math.Sin(angle)})
			}
		}
		curve.Points = append(curve.Points, curve.Points[0])
		panel.Curves = append(panel.Curves, curve)
	}
	panel.Curves = append(panel.Curves, repro.Triangle())
	return panel
}
