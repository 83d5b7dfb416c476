package landmark

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// Loss selects the loss function.
type Loss int

// The losses: ½(y-f)², log(1 + e^(-yf)) and ½ max(0, 1-yf)².
const (
	SquaredError Loss = iota
	Logistic
	SquaredHinge
)

func (l Loss) String() string {
	names := []string{"square", "logistic", "hinge2"}
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("unknown (%d)", int(l))
	}
	return names[l]
}

// MaxLandmarks bounds Settings.Landmarks, because m×m float64 matrices must fit into memory.
const MaxLandmarks = 1 << 17

// Settings are the parameters of training. The zero value works.
type Settings struct {
	Landmarks int           `param:"m" default:"4096" min:"1" max:"131072" help:"number of landmarks"`
	Loss      Loss          `param:"loss" max:"2" help:"loss; logistic gives probabilities"`
	Kernel    string        `param:"kernel" default:"diffusion:t=0.5" flag:""` // specification for kernel.Parse
	C         float64       `param:"c" default:"1" above:"0" flag:""`          // regularization parameter
	Scheme    solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Tolerance stops training when the duality gap is at most Tolerance times the objective and
	// the gradient norm is at most Tolerance times the norm at f = 0.
	Tolerance  float64 `param:"tolerance" default:"1e-3" above:"0" below:"1" flag:""`
	Iterations int     `param:"passes" default:"100" min:"1" help:"maximum number of passes"`
	Seed       uint64  // seed for choosing landmarks
}

func (s Settings) resolve() (Settings, kernel.Kernel, error) {
	if err := params.Resolve(&s); err != nil {
		return s, nil, fmt.Errorf("landmark: %w", err)
	}
	k, err := kernel.Parse(s.Kernel)
	if err != nil {
		return s, nil, fmt.Errorf("landmark: kernel: %w", err)
	}
	if kernel.PropertiesOf(k).Definiteness == kernel.ConditionallyPositiveDefinite {
		return s, nil, fmt.Errorf("landmark: kernel must be positive definite, but %s is only conditionally so", k)
	}
	s.Kernel = k.String()
	return s, k, nil
}

func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options controls training and predictions. ISA affects rounding. The other options don't affect
// results. The zero value works.
type Options struct {
	ISA         string // instruction set; default the fastest
	Workers     int    // number of goroutines; default one per CPU
	MemoryBytes int64  // memory limit in addition to the corpus; default the available memory

	// Progress is called with the progress, never concurrently. Default: none.
	Progress func(run.Progress)

	// RunPass, if not nil, replaces the passes of this process. It must call add for all blocks in
	// order, with the sums that [PassWorker] computes. The model stays bit-identical.
	RunPass func(ctx context.Context, q *Request, add func(block int, s *Sums) error) error
}
