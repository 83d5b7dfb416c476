package logistic

import (
	"fmt"

	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
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

// Settings say what is trained. The zero value works.
type Settings struct {
	Margin Margin
	C      float64       `param:"c" default:"10" above:"0" max:"+Inf" flag:""` // +Inf for no regularisation
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights multiply the losses of documents by name of their class in the machine that tells it from others, and
	// of two classes those of both. Balanced weighs classes that Weights don't name as linear.Settings says.
	// Models don't keep them, and [Problem.Train] ignores them. Default: 1.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`
	prices   [2]float64         // multiples of the losses of a machine, of positive documents the second; zero for 1

	// NoBias has b = 0 in Euclidean margins, so that hyperplanes go through the origin, as those of
	// spherical margins do.
	NoBias bool `param:"origin" help:"hyperplanes go through the origin"`

	// Tolerance ends a search at a gradient of this part of that at w = 0, with Euclidean margins and
	// finite C not before the value is at most this part of itself above its minimum.
	Tolerance float64 `param:"tolerance" default:"1e-4" above:"0" below:"1" flag:""`

	Iterations int `param:"iterations" default:"1000" min:"1" help:"iterations of a search at most"`

	Loose bool // searches end by their gradients alone: their machines are compared, and none says that it has converged
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, error) {
	err := params.Resolve(&s)
	switch {
	case err != nil:
		return s, fmt.Errorf("logistic: %w", err)
	case s.Margin != Euclidean && s.Margin != Spherical:
		return s, fmt.Errorf("logistic: Margin %d, expected Euclidean or Spherical", s.Margin)
	case s.Margin == Spherical && s.NoBias:
		return s, fmt.Errorf("logistic: NoBias with spherical margins, which have no bias, expected Euclidean")
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
