package landmark

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/archive"
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

var stateForm = archive.Format[State]{
	Package: "landmark", Name: Form + "state ", Version: "1", Validate: (*State).validate,
	Describe: func(f *archive.File, s *State) {
		key, chosen, numbers := s.key[:], len(s.chosen), len(s.u)
		f.Key("key", &key)
		if len(key) != sha256.Size {
			f.Check(fmt.Errorf("a key of %d bytes, expected %d", len(key), sha256.Size))
			return
		}
		s.key = [sha256.Size]byte(key)
		archive.Count(f, "passes", &s.passes, 1<<38)
		archive.Count(f, "landmarks", &chosen, 1<<38)
		archive.Count(f, "numbers", &numbers, 1<<38)
		archive.Array(f, "landmarks", &s.chosen, chosen)
		archive.Array(f, "numbers", &s.u, numbers)
		archive.Array(f, "numbers", &s.zero, numbers)
	},
}

func (s *State) validate() error {
	if s == nil {
		return errors.New("no state, expected one")
	}
	for _, v := range s.u {
		if !finite(v) {
			return fmt.Errorf("a number that is %v, expected a finite one", v)
		}
	}
	return nil
}

// Passes returns how many passes over the documents the training had taken.
func (s *State) Passes() int {
	if s == nil {
		return 0
	}
	return s.passes
}

// Write writes the state. Errors: a state that no training made, those of w and of ctx.
func (s *State) Write(ctx context.Context, w io.Writer) error { return stateForm.Write(ctx, w, s) }

// ReadState reads what [State.Write] wrote, and checks its checksum. It reads to the end of r.
func ReadState(ctx context.Context, r io.Reader) (*State, error) { return stateForm.Read(ctx, r) }

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

// keepEvery is the time between two states that are handed over.
const keepEvery = time.Minute

// keep hands the state over, from time to time, or at the end.
func (t *training) keep(atEnd bool) error {
	if t.opt.Save == nil || t.passes == 0 || time.Since(t.begin) < run.LeastKept ||
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
	return run.Guard("landmark: Options.Save", func() error { return t.opt.Save(s) })
}
