package linear

import (
	"fmt"

	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// Loss is the price of a margin m = y·f(x).
type Loss int

const (
	SquaredHinge Loss = iota // max(0, 1-m)²
	Hinge                    // max(0, 1-m)
)

// String names the loss.
func (l Loss) String() string {
	if l == Hinge {
		return "hinge"
	}
	return "squared-hinge"
}

// Settings say what is trained. The zero value works.
type Settings struct {
	Loss   Loss          `param:"loss" max:"1" help:"loss of a margin"`
	C      float64       `param:"c" default:"1" above:"0" max:"1e12" flag:""` // sums over documents stay finite
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights multiply C, by name of the class, for the documents of the class in the machine that tells it from
	// others, and of two classes for those of both: LIBLINEAR's -wi. Balanced weighs classes that Weights don't
	// name by what makes up for their sizes, as scikit-learn's class_weight='balanced': by n / (classes · nₖ) for
	// nₖ of n documents; a label's machine by (n - nₖ) / nₖ. Models don't keep them. Default: 1.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`

	// Intercept is B, the value that every document has for a term of its own, whose weight times B
	// is b. Default 1, as LIBLINEAR -B 1 and scikit-learn's intercept_scaling have it.
	Intercept float64 `param:"bias" default:"1" above:"0" max:"3.4e38" help:"value that stands for the bias"`
	NoBias    bool    `param:"origin" help:"no bias: hyperplanes go through the origin"` // as LIBLINEAR -B -1

	// Tolerance ends training when P - D is at most this part of P.
	Tolerance  float64 `param:"tolerance" default:"1e-3" above:"0" below:"1" flag:""`
	Iterations int     `param:"passes" default:"1000" min:"1" help:"passes over the documents at most"`
	Seed       uint64  // of the order of documents
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, error) {
	given := s.Intercept
	err := params.Resolve(&s)
	if s.NoBias {
		s.Intercept = 0
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("linear: %w", err)
	case s.NoBias && given != 0:
		return s, fmt.Errorf("linear: bias=%v with origin=true, expected one of them", given)
	}
	return s, nil
}

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	_, err := s.resolve()
	return err
}

// mostC bounds C times the weight of a document, so that sums over documents stay finite.
const mostC = 1e12

// Options are those of package task.
type Options = task.Options
