package linear

import (
	"fmt"

	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// Loss selects the loss as a function of the margin m = y·f(x).
type Loss int

const (
	SquaredHinge Loss = iota // max(0, 1-m)²
	Hinge                    // max(0, 1-m)
)

func (l Loss) String() string {
	if l == Hinge {
		return "hinge"
	}
	return "squared-hinge"
}

// Settings are the parameters of training. The zero value works.
type Settings struct {
	Loss   Loss          `param:"loss" max:"1" help:"loss function"`
	C      float64       `param:"c" default:"1" above:"0" max:"1e12" flag:""` // the maximum keeps sums finite
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights maps a class name to a factor of C for the class's documents in the class's binary
	// classifier, like LIBLINEAR's -wi. With two classes, both weights apply. Balanced weights the
	// classes that Weights doesn't name: a class with nₖ of n documents gets n / (classes · nₖ),
	// like scikit-learn's class_weight='balanced', or (n - nₖ) / nₖ with independent labels. The
	// default weight is 1. Models don't store weights.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`

	// InterceptScaling is B, the value of an additional term of every document. b is the term's
	// weight times B. The default is 1, as for LIBLINEAR -B 1 and scikit-learn's intercept_scaling.
	InterceptScaling float64 `param:"bias" default:"1" above:"0" max:"3.4e38" help:"value of the bias feature"`
	NoBias           bool    `param:"origin" help:"omit the intercept"` // true to set b = 0, as LIBLINEAR -B -1 does

	// Tolerance stops training when the duality gap P - D is at most Tolerance times P, see the
	// package documentation.
	Tolerance  float64 `param:"tolerance" default:"1e-3" above:"0" below:"1" flag:""`
	Iterations int     `param:"passes" default:"1000" min:"1" help:"maximum number of passes"`
	Seed       uint64  // seed for the order of documents
}

func (s Settings) resolve() (Settings, error) {
	given := s.InterceptScaling
	err := params.Resolve(&s)
	if s.NoBias {
		s.InterceptScaling = 0
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("linear: %w", err)
	case s.NoBias && given != 0:
		return s, fmt.Errorf("linear: bias=%v and origin=true cannot be combined", given)
	}
	return s, nil
}

func (s Settings) Validate() error {
	_, err := s.resolve()
	return err
}

// maxC bounds C times a document's weight, so that sums over documents stay finite.
const maxC = 1e12

// Options controls training and predictions, see package task.
type Options = task.Options
