package mkm

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/run"
)

// The memory computed in advance suffices for training and prediction, with any number of layers
// and classifiers. With one byte less, training and prediction fail before they begin.
func TestMemoryIsKnownBefore(t *testing.T) {
	c := drawn(t, 300, 40, 5, 3)
	two := []string{"arccos:n=1", "rbf:gamma=1"}
	all := []FinalClassifier{FinalLMNN, FinalKNN, FinalSVM}
	for name, q := range map[string]struct {
		s      Settings
		finals []FinalClassifier
		from   int
	}{
		"auto":       {Settings{Layers: two, BaseSize: 200}, []FinalClassifier{FinalLMNN}, 2},
		"path":       {Settings{Layers: two, BaseSize: 200, MaxComponents: 60}, all, 0},
		"widths":     {Settings{Layers: two, Widths: []int{30, 5, 40}, Steps: 2}, []FinalClassifier{FinalLMNN}, 2},
		"whole":      {Settings{Layers: two[:1], KeepAllFeatures: true, MaxComponents: 20}, []FinalClassifier{FinalSVM}, 1},
		"no layers":  {Settings{Widths: []int{7}}, all, 0},
		"few to fit": {Settings{Layers: two, BaseSize: 10, K: 1, Widths: []int{300}}, []FinalClassifier{FinalKNN}, 2},
	} {
		at := func(bytes int64) (models []*Model, begun bool, memory *run.MemoryError) {
			models, err := TrainPath(t.Context(), c, q.s, q.finals, q.from, Options{
				MemoryBytes: bytes, Workers: 2, Progress: func(run.Progress) { begun = true },
			})
			if err != nil && !errors.As(err, &memory) {
				t.Errorf("%s in %d bytes: %v", name, bytes, err)
			}
			return models, begun, memory
		}
		_, begun, memory := at(1)
		if memory == nil || begun {
			t.Fatalf("%s begins in a byte: %v", name, memory)
		}
		if _, begun, _ := at(memory.NeedBytes - 1); begun || !memory.IsTotalNeed {
			t.Errorf("%s begins with a byte less", name)
		}
		models, _, again := at(memory.NeedBytes)
		if again != nil || models == nil {
			t.Errorf("%s: %d bytes are not enough: %v", name, memory.NeedBytes, again)
			continue
		}
		predict := func(bytes int64) error {
			_, err := PredictAll(t.Context(), models, c.Documents, Options{MemoryBytes: bytes, Workers: 2})
			return err
		}
		if err := predict(1); !errors.As(err, &memory) || !strings.Contains(err.Error(), "predicting 300 documents") {
			t.Errorf("%s is predicted in a byte: %v", name, err)
		} else if err := predict(memory.NeedBytes); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := predict(memory.NeedBytes - 1); err == nil {
			t.Errorf("%s is predicted in a byte less", name)
		}
	}
}

// The heap of a training run stays within its computed memory. At this size, data dominate the
// heap.
func TestMemoryIsEnough(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := drawn(t, 2000, 60, 5, 3)
	s := Settings{Layers: []string{"arccos:n=1", "arccos:n=1"}, MaxComponents: 50, BaseSize: 1500, Steps: 3}
	var memory *run.MemoryError
	if _, err := Train(t.Context(), c, s, Options{MemoryBytes: 1, Workers: 2}); !errors.As(err, &memory) {
		t.Fatal(err)
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most, stages := int64(0), map[string]bool{}
	_, err := Train(t.Context(), c, s, Options{MemoryBytes: memory.NeedBytes, Workers: 2, Progress: func(p run.Progress) {
		runtime.GC() // count reachable memory only, because the amount of garbage varies
		runtime.ReadMemStats(&now)
		most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
		stages[p.Stage] = true
	}})
	if err != nil || !stages["level 1: components"] || !stages["level 2: metric"] {
		t.Fatalf("%v, stages %v", err, stages)
	}
	if t.Logf("%d bytes, of %d", most, memory.NeedBytes); most > memory.NeedBytes {
		t.Errorf("%d bytes are held, %d were said to be enough", most, memory.NeedBytes)
	}
}
