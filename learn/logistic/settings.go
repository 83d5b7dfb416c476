package logistic

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/sphere"
	"github.com/gramengine/gram/solver"
)

// Margin says how a document is compared with a hyperplane.
type Margin int

const (
	// Euclidean margins are f(x) = ⟨w,x⟩ + b.
	Euclidean Margin = iota

	// Spherical margins are f(x) = 2θ·d, with the signed angle d between x and the hyperplane of û on
	// the positive sphere, see package sphere.
	Spherical
)

// String names the margin.
func (m Margin) String() string {
	if m == Spherical {
		return "spherical"
	}
	return "euclidean"
}

// Boundary says which terms are taken to be 0 at the point of a hyperplane that is nearest to a
// document, see package sphere.
type Boundary = sphere.Boundary

// The boundaries: those that are 0, and those that Lebanon and Lafferty take, a part of them.
const (
	Exact = sphere.Exact
	Paper = sphere.Paper
)

// Settings say what is trained. The zero value works.
type Settings struct {
	Margin   Margin
	Boundary Boundary      // of spherical margins; default: the exact one
	C        float64       // price of the losses against ½‖w‖²; default 1, +Inf for no regularisation
	Scheme   solver.Scheme // OneVsRest or Labels; OneVsOne stands for OneVsRest

	// Weights multiply the losses of documents by name of their class in the machine that tells it from others, and
	// of two classes those of both. Balanced weighs classes that Weights don't name as linear.Settings says.
	// Models don't keep them, and [Problem.Train] ignores them. Default: 1.
	Weights  map[string]float64
	Balanced bool
	prices   [2]float64 // multiples of the losses of a machine, of positive documents the second; zero for 1

	// NoBias has b = 0 in Euclidean margins, so that hyperplanes go through the origin, as those of
	// spherical margins do.
	NoBias bool

	// Pull is the price of 1 - ⟨û,m⟩, with m the difference of the classes' mean documents: it
	// regularises the direction of spherical margins, as C does θ. Default: 0.
	Pull float64

	// Tolerance ends a search at a gradient of this part of that at w = 0, with Euclidean margins and
	// finite C not before the value is at most this part of itself above its minimum. Default 1e-4.
	Tolerance float64

	Iterations int  // of a search, at most; default 1,000
	Ascent     bool // spherical margins: search as the paper does, by steps along the gradient

	// Starts is how many searches a spherical machine is the best of. The first begins near the solution
	// with Euclidean margins, the second at m, others at random directions. Default 1.
	Starts int
	Seed   uint64 // of random directions
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, error) {
	if s.C == 0 {
		s.C = 1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-4
	}
	if s.Iterations == 0 {
		s.Iterations = 1000
	}
	if s.Starts == 0 {
		s.Starts = 1
	}
	if s.Scheme == solver.OneVsOne {
		s.Scheme = solver.OneVsRest
	}
	switch {
	case s.Margin != Euclidean && s.Margin != Spherical:
		return s, fmt.Errorf("logistic: Margin %d, expected Euclidean or Spherical", s.Margin)
	case s.Boundary != Exact && s.Boundary != Paper:
		return s, fmt.Errorf("logistic: Boundary %d, expected Exact or Paper", s.Boundary)
	case !(s.C > 0):
		return s, fmt.Errorf("logistic: C %v, expected a number above 0", s.C)
	case !(s.Pull >= 0) || math.IsInf(s.Pull, 0):
		return s, fmt.Errorf("logistic: Pull %v, expected a number of at least 0", s.Pull)
	case !(s.Tolerance > 0 && s.Tolerance < 1):
		return s, fmt.Errorf("logistic: Tolerance %v, expected a number above 0 and below 1", s.Tolerance)
	case s.Iterations < 1:
		return s, fmt.Errorf("logistic: Iterations %d, expected at least 1", s.Iterations)
	case s.Starts < 1:
		return s, fmt.Errorf("logistic: Starts %d, expected at least 1", s.Starts)
	case s.Scheme != solver.OneVsRest && s.Scheme != solver.Labels:
		return s, fmt.Errorf("logistic: Scheme %d, expected solver.OneVsRest or solver.Labels", s.Scheme)
	case s.Margin == Spherical && s.NoBias:
		return s, fmt.Errorf("logistic: NoBias with spherical margins, which have no bias, expected Euclidean")
	case s.Margin == Euclidean && (s.Ascent || s.Starts > 1 || s.Pull > 0 || s.Boundary != Exact):
		return s, fmt.Errorf("logistic: Ascent, Starts, Pull or Boundary with Euclidean margins, " +
			"expected Spherical: they have one optimum and no boundary")
	}
	return s, nil
}

// Options say how it is computed, not what. The zero value works.
type Options struct {
	Workers     int   // goroutines; default one a processor. Results don't depend on it
	MemoryBytes int64 // bound on what training or prediction holds beside the corpus; default none

	// Progress is called with how far the work is, never concurrently. Default: none.
	Progress func(run.Progress)
}
