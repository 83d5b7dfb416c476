package landmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/archive"
	"github.com/gramengine/gram/learn/internal/archive/archivetest"
)

func init() { run.LeastKept = 0 } // a training of milliseconds is kept, too

// A training that has taken less than run.LeastKept hands nothing over.
func TestShortTrainingIsNotKept(t *testing.T) {
	defer func(d time.Duration) { run.LeastKept = d }(run.LeastKept)
	run.LeastKept = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	_, err := TrainPath(ctx, texts(600, 3, 9, false), Settings{Landmarks: 150, Iterations: 1000}, []float64{1}, Options{
		Save: func(*State) error { t.Error("it is kept"); return nil },
		Progress: func(p run.Progress) {
			if strings.HasPrefix(p.Stage, "pass 2") {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A training that is interrupted hands its state over, which survives a file, and goes on from it to
// the optimum, in fewer passes than from the beginning. A state of another training has no part.
func TestResume(t *testing.T) {
	c := texts(600, 3, 9, false)
	for _, loss := range []Loss{Square, Logistic} {
		s := Settings{Landmarks: 150, Loss: loss, Tolerance: 1e-9, Iterations: 1000, Seed: 3}
		prices := []float64{1, 100}
		want, err := TrainPath(t.Context(), c, s, prices, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var state *State
		_, err = TrainPath(ctx, c, s, prices, Options{
			Save: func(s *State) error { state = s; return nil },
			Progress: func(p run.Progress) {
				pass := 0
				_, _ = fmt.Sscanf(p.Stage, "pass %d", &pass)
				if pass > want[1].Passes*3/4 {
					cancel()
				}
			},
		})
		if !errors.Is(err, context.Canceled) || state.Passes() == 0 {
			t.Fatalf("%s: %v, a state after %d passes", loss, err, state.Passes())
		}
		var file bytes.Buffer
		musttest.Do(t, state.Write(t.Context(), &file))
		data := file.Bytes()
		if _, err := ReadState(t.Context(), bytes.NewReader(data[:len(data)-1])); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("a state that isn't complete: %v", err)
		}
		if state, err = ReadState(t.Context(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		s.Tolerance = 1e-8
		got := musttest.Get(TrainPath(t.Context(), c, s, prices, Options{Resume: state}))(t)
		if more := got[1].Passes - state.Passes(); more > want[1].Passes*3/4 {
			t.Errorf("%s: %d more passes after %d, of %d in one go", loss, more, state.Passes(), want[1].Passes)
		}
		for i := range prices {
			for k, machine := range got[i].Machines {
				if d := machine.Objective - want[i].Machines[k].Objective; !(math.Abs(d) <= 1e-8*machine.Objective) {
					t.Errorf("%s: objective %v, expected %v", loss, machine.Objective, want[i].Machines[k].Objective)
				}
			}
		}
		// What was reached is a model after one more pass.
		s.Iterations = 1
		reached, err := TrainPath(t.Context(), c, s, prices, Options{Resume: state})
		if err != nil || reached[0].Validate() != nil {
			t.Errorf("%s: no model of what was reached: %v", loss, err)
		}
		s.Seed, s.Iterations = 4, 1000
		other := musttest.Get(TrainPath(t.Context(), c, s, prices, Options{Resume: state}))(t)
		alone, err := TrainPath(t.Context(), c, s, prices, Options{})
		if err != nil || alone[0].Machines[0].Objective != other[0].Machines[0].Objective {
			t.Errorf("%s: the state of another training has a part: %v", loss, err)
		}
	}
}

// The file of a state, of a training that can then go on, or doesn't need it.
func TestStateFile(t *testing.T) {
	archivetest.Check(t, stateForm, false, small())
}

func FuzzReadState(f *testing.F) {
	archivetest.Fuzz(f, stateForm, func(t *testing.T, s *State) {
		if _, err := Train(t.Context(), texts(30, 2, 1, false), Settings{Landmarks: 5}, Options{Resume: s}); err != nil {
			t.Fatal(err)
		}
	}, small())
}

func small() *State {
	return &State{passes: 3, chosen: []int32{1, 2}, u: []float64{1, 2}, zero: []float64{3, 4}}
}
