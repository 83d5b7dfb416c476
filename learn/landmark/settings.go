package landmark

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// Loss is what a machine pays for a document.
type Loss int

// The losses: ½(y-f)², log(1 + e^(-yf)) and ½ max(0, 1-yf)².
const (
	Square Loss = iota
	Logistic
	Hinge2
)

// String names the loss.
func (l Loss) String() string { return nameOf(int(l), "square", "logistic", "hinge2") }

// Choice says how landmarks are drawn.
type Choice int

const (
	Uniform    Choice = iota // every document as likely as any other
	Stratified               // as many of each class as of any other, as far as there are
	Pivoted                  // randomly pivoted Cholesky: what is far from those before is likelier
)

// String names the choice.
func (c Choice) String() string { return nameOf(int(c), "uniform", "stratified", "pivoted") }

func nameOf(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown (%d)", i)
	}
	return names[i]
}

// DefaultKernel is that of [Settings] without one.
const DefaultKernel = "diffusion:t=0.5"

// MostLandmarks bounds Settings.Landmarks: matrices of m×m float64 are held.
const MostLandmarks = 1 << 17

// Settings say what is trained. The zero value works.
type Settings struct {
	Landmarks int     // their number, at most that of the documents; default 4,096
	Choice    Choice  // default Uniform
	Kernel    string  // specification, as kernel.Parse takes it; default DefaultKernel
	Loss      Loss    // default Square
	C         float64 // price of the losses against ½‖f‖²; default 1
	Scheme    solver.Scheme

	// Tolerance is a part of the objective: a search ends when the objective is at most that above its
	// minimum, and the gradient at most that part of that at f = 0. Default 1e-3.
	Tolerance  float64
	Iterations int    // passes over the documents, at most; default 100
	Seed       uint64 // of the landmarks
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, kernel.Kernel, error) {
	if s.Landmarks == 0 {
		s.Landmarks = 4096
	}
	if s.Kernel == "" {
		s.Kernel = DefaultKernel
	}
	if s.C == 0 {
		s.C = 1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-3
	}
	if s.Iterations == 0 {
		s.Iterations = 100
	}
	if s.Scheme == solver.OneVsOne {
		s.Scheme = solver.OneVsRest
	}
	switch {
	case s.Landmarks < 1 || s.Landmarks > MostLandmarks:
		return s, nil, fmt.Errorf("landmark: %d landmarks, expected from 1 to %d", s.Landmarks, MostLandmarks)
	case s.Choice < Uniform || s.Choice > Pivoted:
		return s, nil, fmt.Errorf("landmark: choice %d, expected Uniform, Stratified or Pivoted", s.Choice)
	case s.Loss < Square || s.Loss > Hinge2:
		return s, nil, fmt.Errorf("landmark: loss %d, expected Square, Logistic or Hinge2", s.Loss)
	case !(s.C > 0) || math.IsInf(s.C, 0):
		return s, nil, fmt.Errorf("landmark: C %v, expected a number above 0", s.C)
	case !(s.Tolerance > 0 && s.Tolerance < 1):
		return s, nil, fmt.Errorf("landmark: Tolerance %v, expected a number above 0 and below 1", s.Tolerance)
	case s.Iterations < 1:
		return s, nil, fmt.Errorf("landmark: Iterations %d, expected at least 1", s.Iterations)
	case s.Scheme != solver.OneVsRest && s.Scheme != solver.Labels:
		return s, nil, fmt.Errorf("landmark: Scheme %d, expected solver.OneVsRest or solver.Labels", s.Scheme)
	}
	k, err := kernel.Parse(s.Kernel)
	if err != nil {
		return s, nil, fmt.Errorf("landmark: kernel: %w", err)
	}
	if kernel.PropertiesOf(k).Definite == kernel.ConditionallyPositive {
		return s, nil, fmt.Errorf("landmark: kernel %s isn't positive definite, only conditionally, expected one that is", k)
	}
	s.Kernel = k.String()
	return s, k, nil
}

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options say how it is computed, not what. The zero value works.
type Options struct {
	ISA         string // instruction set; default the best
	Workers     int    // goroutines; default one a processor. Results don't depend on it
	MemoryBytes int64  // bound on what is held beside the corpus; default what the machine has left
	KeptBytes   int64  // bound on rows and documents kept from pass to pass; default what memory leaves

	// Progress is called with how far the work is, never concurrently. Default: none.
	Progress func(run.Progress)

	// Pass takes passes over the documents in place of this process: it hands the sums of all blocks to
	// add, in their order, as [Passing] makes them. The model has the same bits. Default: none.
	Pass func(ctx context.Context, q *Request, add func(block int, s *Sums) error) error
}
