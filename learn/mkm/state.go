package mkm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/archive"
)

// State is where a training was interrupted: what was chosen, level by level, and the layers that are
// fitted, to the documents that choosing is fitted to or, once all is chosen, to all. Training goes on
// from it by Options.Resume, for the same corpus, settings, classifiers and Options.ISA, and makes the
// same model, where processor and memory are the same, too. It is immutable.
type State struct {
	key     [sha256.Size]byte
	choices []Choice
	prices  []float64 // C of machines, 0 for none
	all     bool      // layers are fitted to all documents
	layers  []*Layer  // before features are selected
}

var stateForm = archive.Format[State]{
	Package: "mkm", Name: Form + "state ", Version: "1", Validate: (*State).validate,
	Describe: func(f *archive.File, s *State) {
		key := s.key[:]
		f.Key("key", &key)
		if len(key) != sha256.Size {
			f.Check(fmt.Errorf("a key of %d bytes, expected %d", len(key), sha256.Size))
			return
		}
		s.key = [sha256.Size]byte(key)
		f.Key("choices", &s.choices)
		f.Key("prices", &s.prices)
		f.Key("all", &s.all)
		describeLayers(f, &s.layers)()
	},
}

func (s *State) validate() error {
	if s == nil {
		return errors.New("no state, expected one")
	}
	if len(s.choices) != len(s.prices) || len(s.choices) > MostLayers+1 || len(s.layers) > MostLayers {
		return fmt.Errorf("%d choices, %d prices and %d layers, expected at most %d layers, and as many choices as prices",
			len(s.choices), len(s.prices), len(s.layers), MostLayers)
	}
	for i, c := range s.choices {
		if c.Width < 1 || c.K < 0 || c.Steps < 0 || !(s.prices[i] >= 0 && s.prices[i] <= math.MaxFloat64) {
			return fmt.Errorf("level %d: %d features, %d neighbours, %d steps, C %v, expected features and no negative numbers",
				i, c.Width, c.K, c.Steps, s.prices[i])
		}
	}
	for i, l := range s.layers {
		if err := l.validate(0); err != nil {
			return fmt.Errorf("layer %d: %w", i+1, err)
		}
	}
	return nil
}

// Write writes the state. Errors: a state that no training made, those of w and of ctx.
func (s *State) Write(ctx context.Context, w io.Writer) error { return stateForm.Write(ctx, w, s) }

// ReadState reads what [State.Write] wrote, and checks its checksum. It reads to the end of r.
func ReadState(ctx context.Context, r io.Reader) (*State, error) { return stateForm.Read(ctx, r) }

// String says how far the training is.
func (s *State) String() string {
	if s == nil {
		return "nothing"
	}
	if s.all {
		return fmt.Sprintf("all choices and %d fitted layers", len(s.layers))
	}
	return fmt.Sprintf("the choices of %d levels", len(s.choices))
}

// clone has lists of its own.
func (s *State) clone() State {
	return State{s.key, slices.Clone(s.choices), slices.Clone(s.prices), s.all, slices.Clone(s.layers)}
}

// key identifies all that the bits of a model depend on, but for processor and memory.
func (t *training) key() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%x %+v %v %d %q %d", t.digest, t.s, t.finals, t.from, t.o.ISA, len(t.rows)))
}

// resume takes what an earlier training has finished.
func (t *training) resume() {
	t.state = State{key: t.key(), all: !t.chooses()}
	s := t.o.Resume
	if s == nil || s.validate() != nil || s.key != t.state.key || len(s.choices) > len(t.choices) ||
		len(s.layers) > len(t.kernels) || s.all && t.chooses() && len(s.choices) < len(t.choices) {
		return
	}
	for i, l := range s.layers {
		if l.Kernel != t.kernels[i].String() || l.Width() > t.s.Components {
			return
		}
	}
	t.state = s.clone()
	copy(t.choices, s.choices)
	copy(t.prices, s.prices)
}

// keep hands the state over.
func (t *training) keep() error {
	if t.o.Save == nil || time.Since(t.begin) < run.LeastKept || len(t.state.choices)+len(t.state.layers) == 0 {
		return nil
	}
	s := t.state.clone()
	return run.Guard("mkm: Options.Save", func() error { return t.o.Save(&s) })
}
