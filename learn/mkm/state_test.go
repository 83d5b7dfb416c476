package mkm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/archive/archivetest"
)

func init() { run.LeastKept = 0 } // a training of milliseconds is kept, too

// interrupted trains until Progress has been called so often, and returns the last state, after a file.
func interrupted(t testing.TB, s Settings, o Options, calls int) (*State, bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last *State
	o.Save = func(s *State) error { last = s; return nil }
	o.Progress = func(run.Progress) {
		if calls--; calls == 0 {
			cancel()
		}
	}
	_, err := Train(ctx, drawn(t, 120, 12, 3, 2), s, o)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if last == nil {
		return nil, err != nil
	}
	var file bytes.Buffer
	musttest.Do(t, last.Write(t.Context(), &file))
	if last, err = ReadState(t.Context(), &file); err != nil {
		t.Fatal(err)
	}
	return last, calls <= 0
}

// A training that ends anywhere goes on from its last state, makes the same model to the bit, and fits no
// layer twice. A state of other settings has no part.
func TestResume(t *testing.T) {
	c := drawn(t, 120, 12, 3, 2)
	for _, s := range []Settings{
		{Layers: []string{"arccos:n=1", "rbf:gamma=1"}, Components: 20, Base: 60, Seed: 9},
		{Layers: []string{"arccos:n=0"}, Components: 20, Final: Machines},
		{Layers: []string{"arccos:n=1", "arccos:n=0"}, Widths: []int{8}, Components: 20, Final: Neighbours, K: 3},
	} {
		var stages []string // of all calls of Progress
		whole := musttest.Get(Train(t.Context(), c, s, Options{Progress: func(p run.Progress) {
			stages = append(stages, p.Stage)
		}}))(t)
		want, kinds := archivetest.Bytes(t, form, whole), map[string]bool{}
		for calls := 1; calls <= len(stages); calls++ {
			if calls > 1 && stages[calls-1] == stages[calls-2] { // the first call of a stage stands for all
				continue
			}
			state, ended := interrupted(t, s, Options{}, calls)
			if !ended {
				break
			}
			kinds[state.String()] = true
			searched := map[string]int{}
			o := Options{Resume: state, Progress: func(p run.Progress) {
				if strings.HasSuffix(p.Stage, "components") && p.Done == 0 {
					searched[p.Stage]++
				}
			}}
			got := musttest.Get(Train(t.Context(), c, s, o))(t)
			if !bytes.Equal(archivetest.Bytes(t, form, got), want) {
				t.Errorf("%v: after call %d, %s, from %s: another model", s, calls, stages[calls-1], state)
			}
			if state != nil && state.all {
				for l := range state.layers {
					if searched[fmt.Sprintf("level %d: components", l+1)] > 0 {
						t.Errorf("%v: layer %d is fitted again from %s", s, l+1, state)
					}
				}
			}
			other := s
			other.Seed = 10
			if calls%5 == 0 && state != nil {
				alone := musttest.Get(Train(t.Context(), c, other, Options{}))(t)
				with, err := Train(t.Context(), c, other, Options{Resume: state})
				if err != nil || !bytes.Equal(archivetest.Bytes(t, form, with), archivetest.Bytes(t, form, alone)) {
					t.Errorf("a state of other settings has a part: %v", err)
				}
			}
		}
		if len(kinds) < 3 {
			t.Errorf("%v: states %v", s, kinds)
		}
	}
}

func TestStateFile(t *testing.T) {
	s := Settings{Layers: []string{"arccos:n=1"}, Components: 9, Base: 40}
	var states []*State
	for calls := 3; calls < 60; calls += 20 {
		if state, _ := interrupted(t, s, Options{}, calls); state != nil {
			states = append(states, state)
		}
	}
	archivetest.Check(t, stateForm, false, states...)
	full := errors.New("full")
	_, err := Train(t.Context(), drawn(t, 120, 12, 3, 2), s, Options{
		Save: func(*State) error { return full },
	})
	if !errors.Is(err, full) {
		t.Errorf("a state that can't be kept: %v", err)
	}
}

// A training that has taken less than run.LeastKept hands nothing over.
func TestShortTrainingIsNotKept(t *testing.T) {
	defer func(d time.Duration) { run.LeastKept = d }(run.LeastKept)
	run.LeastKept = time.Hour
	s := Settings{Layers: []string{"arccos:n=1"}, Components: 5, Base: 30}
	if state, _ := interrupted(t, s, Options{}, 40); state != nil {
		t.Error("it is kept")
	}
}

func FuzzReadState(f *testing.F) {
	state, _ := interrupted(f, Settings{Layers: []string{"arccos:n=1"}, Components: 5, Base: 30}, Options{}, 40)
	c := drawn(f, 30, 6, 2, 1)
	archivetest.Fuzz(f, stateForm, func(t *testing.T, s *State) {
		other := Settings{Widths: []int{3}, Final: Neighbours, K: 1}
		if _, err := Train(t.Context(), c, other, Options{Resume: s}); err != nil {
			t.Fatal(err)
		}
	}, state)
}
