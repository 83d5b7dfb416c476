package lebanon

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// toy is a set of toy data: clusters on the simplex of three terms.
type toy struct {
	title    string
	clusters []cluster
}

// cluster are points around a centre, of the class or not.
type cluster struct {
	at       [3]float64
	spread   float64
	n        int
	positive bool
}

// toys show two classes on both sides, one in a corner, and one in the middle, around which a plane
// beside the origin bends, and no hyperplane of the sphere does.
var toys = []toy{
	{"side by side", []cluster{
		{[3]float64{0.65, 0.2, 0.15}, 0.06, 40, true}, {[3]float64{0.2, 0.6, 0.2}, 0.06, 40, false},
	}},
	{"a corner", []cluster{
		{[3]float64{0.85, 0.08, 0.07}, 0.05, 30, true}, {[3]float64{0.4, 0.5, 0.1}, 0.08, 30, false},
		{[3]float64{0.4, 0.1, 0.5}, 0.08, 30, false},
	}},
	{"the middle", []cluster{
		{[3]float64{0.36, 0.36, 0.28}, 0.05, 40, true}, {[3]float64{0.8, 0.1, 0.1}, 0.06, 30, false},
		{[3]float64{0.1, 0.8, 0.1}, 0.06, 30, false},
	}},
}

// draw draws the points of a set, as documents of three terms.
func (t *toy) draw(r *rand.Rand) (m *sparse.CSR, positive []bool) {
	m = &sparse.CSR{Cols: 3, Offsets: []int64{0}}
	for _, c := range t.clusters {
		for range c.n {
			for i, v := range c.at {
				m.Terms = append(m.Terms, uint32(i))
				m.Values = append(m.Values, float32(max(v+c.spread*r.NormFloat64(), 1e-4)))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			positive = append(positive, c.positive)
		}
	}
	return m, positive
}

// toyFigure draws the sets with the decision boundaries of both margins, as Figure 3 does.
func toyFigure(ctx context.Context, seed uint64) (*repro.Figure, error) {
	f := &repro.Figure{Key: "toy"}
	for n, set := range toys {
		m, positive := set.draw(rand.New(rand.NewPCG(seed, uint64(n))))
		x, err := sparse.Sphere.Fit(m).Transform(m)
		if err != nil {
			return nil, err
		}
		docs, err := logistic.NewDocuments(x)
		if err != nil {
			return nil, err
		}
		problem := docs.Problem(nil)
		var of [2]repro.Curve
		of[0].Name, of[1].Name = "class", "others"
		for i, is := range positive {
			k := 1
			if is {
				k = 0
			}
			v := m.Values[3*i : 3*i+3]
			of[k].Apart = true
			of[k].Points = append(of[k].Points, repro.InSimplex(float64(v[0]), float64(v[1]), float64(v[2])))
		}
		panel := &repro.Panel{Title: set.title, Plane: true, Curves: of[:]}
		for _, margin := range []logistic.Margin{logistic.Euclidean, logistic.Spherical} {
			machines, err := problem.Train(ctx, positive, nil, logistic.Settings{Margin: margin, C: 100}, logistic.Options{})
			if err != nil {
				return nil, err
			}
			curve := repro.Curve{Name: margin.String(), Apart: true, Small: true, Points: boundary(machines[0])}
			panel.Curves = append(panel.Curves, curve)
		}
		panel.Curves = append(panel.Curves, repro.Triangle())
		f.Panels = append(f.Panels, panel)
	}
	return f, nil
}

// boundary is where f is 0, for which the sphere's points are x = √θ: ⟨w,x⟩ + b = 0, where spherical
// margins have û for w and 0 for b.
func boundary(m *logistic.Machine) []repro.Point {
	return repro.ZerosInSimplex(func(a, b, c float64) float64 {
		return m.Weights[0]*math.Sqrt(a) + m.Weights[1]*math.Sqrt(b) + m.Weights[2]*math.Sqrt(c) + m.Bias
	})
}
