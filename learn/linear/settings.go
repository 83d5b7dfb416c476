package linear

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
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
	Loss   Loss
	C      float64       // price of the losses; default 1
	Scheme solver.Scheme // OneVsRest or Labels; OneVsOne stands for OneVsRest

	// Weights multiply C, by name of the class, for the documents of the class in the machine that tells it from
	// others, and of two classes for those of both: LIBLINEAR's -wi. Balanced weighs classes that Weights don't
	// name by what makes up for their sizes, as scikit-learn's class_weight='balanced': by n / (classes · nₖ) for
	// nₖ of n documents; a label's machine by (n - nₖ) / nₖ. Models don't keep them. Default: 1.
	Weights  map[string]float64
	Balanced bool

	// Intercept is B, the value that every document has for a term of its own, whose weight times B
	// is b. Default 1, as LIBLINEAR -B 1 and scikit-learn's intercept_scaling have it.
	Intercept float64
	NoBias    bool // b = 0, as LIBLINEAR -B -1

	Tolerance  float64 // training ends when P - D is at most this part of P; default 1e-3
	Iterations int     // passes over the documents, at most; default 1,000
	Seed       uint64  // of the order of documents
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, error) {
	if s.C == 0 {
		s.C = 1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-3
	}
	if s.Iterations == 0 {
		s.Iterations = 1000
	}
	if s.Scheme == solver.OneVsOne {
		s.Scheme = solver.OneVsRest
	}
	if s.Intercept == 0 && !s.NoBias {
		s.Intercept = 1
	}
	switch {
	case s.Loss != SquaredHinge && s.Loss != Hinge:
		return s, fmt.Errorf("linear: Loss %d, expected SquaredHinge or Hinge", s.Loss)
	case !(s.C > 0 && s.C <= mostC):
		return s, fmt.Errorf("linear: C %v, expected a number above 0 and at most %v", s.C, mostC)
	case s.NoBias && s.Intercept != 0:
		return s, fmt.Errorf("linear: Intercept %v with NoBias, expected one of them", s.Intercept)
	case !s.NoBias && !(s.Intercept > 0 && s.Intercept <= math.MaxFloat32):
		return s, fmt.Errorf("linear: Intercept %v, expected a number above 0", s.Intercept)
	case !(s.Tolerance > 0 && s.Tolerance < 1):
		return s, fmt.Errorf("linear: Tolerance %v, expected a number above 0 and below 1", s.Tolerance)
	case s.Iterations < 1:
		return s, fmt.Errorf("linear: Iterations %d, expected at least 1", s.Iterations)
	case s.Scheme != solver.OneVsRest && s.Scheme != solver.Labels:
		return s, fmt.Errorf("linear: Scheme %d, expected solver.OneVsRest or solver.Labels", s.Scheme)
	}
	return s, nil
}

// mostC bounds C, so that sums over documents stay finite.
const mostC = 1e12

// Options say how it is computed, not what. The zero value works.
type Options struct {
	Workers     int   // goroutines; default one a processor. Results don't depend on it
	MemoryBytes int64 // bound on what training or prediction holds beside the corpus; default none

	// Progress is called with how far the work is, never concurrently. Default: none.
	Progress func(run.Progress)
}
