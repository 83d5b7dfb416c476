package landmark

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gramengine/gram/solver/internal/archive"
)

// State is where a training was interrupted: its landmarks, and how far its searches came. Training
// goes on from it by Options.Resume, for the same corpus and settings but for Tolerance and
// Iterations; it then ends at the same optimum, not with the same bits. It is immutable.
type State struct {
	key    [sha256.Size]byte // of corpus and settings
	passes int
	chosen []int32   // landmarks
	u      []float64 // of each column
	zero   []float64 // gradients at f = 0 by C, zeros where none is known
}

var stateForm = archive.Form{Name: Form + "state ", Version: "1"}

// stateHeader is the second line of a state's file.
type stateHeader struct {
	Key     []byte `json:"key"`
	Passes  int64  `json:"passes"`
	Chosen  int64  `json:"landmarks"`
	Numbers int64  `json:"numbers"`
}

// Passes returns how many passes over the documents the training had taken.
func (s *State) Passes() int {
	if s == nil {
		return 0
	}
	return s.passes
}

// Write writes the state. Errors: a state that no training made, those of w and of ctx.
func (s *State) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil || s == nil {
		return errors.New("landmark: a nil context, writer or state, expected all of them")
	}
	out, err := archive.NewWriter(ctx, w, stateForm,
		&stateHeader{s.key[:], int64(s.passes), int64(len(s.chosen)), int64(len(s.u))})
	if err != nil {
		return fmt.Errorf("landmark: %w", err)
	}
	archive.Numbers(out, s.chosen)
	archive.Numbers(out, s.u)
	archive.Numbers(out, s.zero)
	if err := out.Close(); err != nil {
		return fmt.Errorf("landmark: writing: %w", err)
	}
	return nil
}

// ReadState reads what [State.Write] wrote, and checks its checksum. It reads to the end of r.
func ReadState(ctx context.Context, r io.Reader) (*State, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("landmark: a nil context or reader, expected both")
	}
	s, err := archive.Read(ctx, r, -1, stateForm, &stateHeader{}, nil)
	if err != nil {
		return nil, fmt.Errorf("landmark: state: %w", err)
	}
	return s, nil
}

// Model implements archive.Header.
func (h *stateHeader) Model() (*State, error) {
	if len(h.Key) != sha256.Size {
		return nil, fmt.Errorf("a key of %d bytes, expected %d", len(h.Key), sha256.Size)
	}
	return &State{key: [sha256.Size]byte(h.Key), passes: int(h.Passes)}, nil
}

// Sections implements archive.Header.
func (h *stateHeader) Sections() ([]archive.Section, error) {
	err := archive.Limit(1<<38, archive.Count{Of: "passes", N: h.Passes}, archive.Count{Of: "landmarks", N: h.Chosen},
		archive.Count{Of: "numbers", N: h.Numbers})
	return []archive.Section{{Name: "landmarks", Bytes: 4 * h.Chosen}, {Name: "numbers", Bytes: 16 * h.Numbers}}, err
}

// Take implements archive.Header.
func (h *stateHeader) Take(s *State, d *archive.Arrays) error {
	s.chosen = archive.Array[int32](d, h.Chosen)
	s.u, s.zero = archive.Array[float64](d, h.Numbers), archive.Array[float64](d, h.Numbers)
	for _, v := range s.u {
		if !finite(v) {
			return fmt.Errorf("a number that is %v, expected a finite one", v)
		}
	}
	return nil
}

// key identifies corpus and settings.
func (t *training) key() [sha256.Size]byte {
	s := t.s
	s.Tolerance, s.Iterations, s.C = 0, 0, 0
	digest := t.c.Digest()
	return sha256.Sum256(fmt.Appendf(nil, "%x %+v %v %d", digest, s, t.prices, len(t.rows)))
}

// resumes returns the state that training goes on from, nil for none or for one of another training.
func (t *training) resumes() *State {
	s := t.opt.Resume
	if s == nil || s.key != t.key() || len(s.chosen) == 0 || len(s.u)%len(s.chosen) != 0 || len(s.zero) != len(s.u) {
		return nil
	}
	for _, at := range s.chosen {
		if at < 0 || int(at) >= len(t.rows) {
			return nil
		}
	}
	return s
}

// restore puts columns where a state has them.
func (s *State) restore(columns []*column) {
	if len(columns) == 0 || len(s.u) != len(columns)*len(columns[0].u) {
		return
	}
	m := len(columns[0].u)
	for i, c := range columns {
		copy(c.u, s.u[i*m:])
		for _, v := range s.zero[i*m : (i+1)*m] {
			if v != 0 {
				c.zero = s.zero[i*m : (i+1)*m]
				break
			}
		}
	}
}

// keepEvery is the time between two states that are handed over, and leastKept how long a training
// must have taken for its end to be worth one.
const (
	keepEvery = time.Minute
	leastKept = 10 * time.Second
)

// keep hands the state over, from time to time, or at the end.
func (t *training) keep(atEnd bool) error {
	if t.opt.Save == nil || t.passes == 0 || time.Since(t.begin) < t.opt.saveAfter() ||
		!atEnd && time.Since(t.kept) < keepEvery {
		return nil
	}
	t.kept = time.Now()
	s := &State{key: t.key(), passes: t.passes}
	for _, at := range t.chosen {
		s.chosen = append(s.chosen, int32(at))
	}
	for _, c := range t.all {
		s.u = append(s.u, c.u...)
		if c.zero != nil {
			s.zero = append(s.zero, c.zero...)
		} else {
			s.zero = append(s.zero, make([]float64, len(c.u))...)
		}
	}
	var err error
	if panicked := guarded("Options.Save", func() { err = t.opt.Save(s) }); panicked != nil {
		return panicked
	}
	return err
}

func (o Options) saveAfter() time.Duration {
	if o.saveSoon {
		return 0
	}
	return leastKept
}
