package landmark

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/params"
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
func (l Loss) String() string {
	names := []string{"square", "logistic", "hinge2"}
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("unknown (%d)", int(l))
	}
	return names[l]
}

// MostLandmarks bounds Settings.Landmarks: matrices of m×m float64 are held.
const MostLandmarks = 1 << 17

// Settings say what is trained. The zero value works.
type Settings struct {
	Landmarks int           `param:"m" default:"4096" min:"1" max:"131072" auto:"-1" help:"landmarks"`
	Loss      Loss          `param:"loss" max:"2" help:"loss; logistic gives probabilities"`
	Kernel    string        `param:"kernel" default:"diffusion:t=0.5" flag:""` // as kernel.Parse takes it
	C         float64       `param:"c" default:"1" above:"0" flag:""`          // of the losses against ½‖f‖²
	Scheme    solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Tolerance is a part of the objective: a search ends when the objective is at most that above its
	// minimum, and the gradient at most that part of that at f = 0.
	Tolerance  float64 `param:"tolerance" default:"1e-3" above:"0" below:"1" flag:""`
	Iterations int     `param:"passes" default:"100" min:"1" help:"passes over the documents at most"`
	Seed       uint64  // of the landmarks
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, kernel.Kernel, error) {
	if err := params.Resolve(&s); err != nil {
		return s, nil, fmt.Errorf("landmark: %w", err)
	}
	if s.Landmarks < 0 {
		return s, nil, fmt.Errorf("landmark: %d landmarks, expected at least 1", s.Landmarks)
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
