package chaos

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/landmarks"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/musttest"
)

var drives = flag.Int("drives", 100, "TestDrives: how many schedules")

// TestDrives runs drivers that train with landmarks, up to two at a time, and workers, one
// operation at a time in random order. Drivers may lose lines or stop waiting. Operations may fail,
// processes may die, and stored bytes may change. It checks results as TestSchedules does, and that
//
// - a driver that succeeds has written the model of a single process, and other drivers no model,
// - all drivers request the same passes,
// - a driver that is restarted after each failure succeeds.
func TestDrives(t *testing.T) {
	d := newDriveJob(t)
	var models, passes, deaths atomic.Int64
	n := scheduled(t, *drives, func(seed uint64, log func(string, ...any)) error {
		w := &driveWorld{world: newWorld(seed, log), driveJob: d}
		defer func() { models.Add(int64(w.models)); deaths.Add(int64(w.deaths)); passes.Add(int64(w.handed)) }()
		return w.run()
	})
	t.Logf("%d schedules of %d passes, handed out %d times; %d processes died, %d models were written", n, len(d.jobs),
		passes.Load(), deaths.Load(), models.Load())
	if n > 1 && (deaths.Load() < int64(n) || models.Load() < 3*int64(n)/2) {
		t.Error("too few deaths or models for a test")
	}
}

type driveJob struct {
	documents *corpus.Corpus
	dir       string
	want      []byte            // expected model
	jobs      []string          // names of descriptions
	results   map[string][]byte // results, indexed by name
}

var driveFlags = strings.Fields("-landmarks 5 -loss logistic -tasks 2 -kernel linear -tolerance 0.1")

func newDriveJob(t *testing.T) *driveJob {
	t.Helper()
	c, err := corpus.Read(t.Context(), "synthetic:docs=530,terms=40,length=5,classes=2,seed=5", corpus.Options{})
	musttest.NoError(t, err)
	d := &driveJob{documents: c, dir: t.TempDir(), results: map[string][]byte{}}
	m := &storetest.MemoryBucket{}
	h, path := host(store.New(m)), filepath.Join(d.dir, "model")
	here := &work.Dispatcher{
		RunTasks: func(ctx context.Context, j *job.Job, tasks []int) error {
			return work.RunLocal(ctx, []job.Kind{landmarks.Kind}, j, tasks, t.Errorf)
		},
		Logf: t.Errorf, OnStart: func(*job.Job, int, int) {},
	}
	musttest.NoError(t, d.drive(h, path, here))
	d.want = musttest.Get(os.ReadFile(path))(t)
	for _, key := range m.Keys() {
		name, _ := strings.CutSuffix(key, ".a0")
		switch {
		case strings.HasPrefix(name, job.DescriptionPrefix):
			d.jobs = append(d.jobs, name)
		case strings.HasPrefix(name, job.ResultsPrefix):
			d.results[name] = musttest.Get(h.Store.Get(t.Context(), name, nil))(t)
		}
	}
	// in one process, without jobs
	s := landmark.Settings{
		Landmarks: 5, Loss: landmark.Logistic, Kernel: "linear", Tolerance: 0.1, C: 1, Iterations: 100, Seed: 1,
	}
	one := musttest.Get(landmark.Train(t.Context(), c, s, landmark.Options{ISA: "generic", Workers: 1}))(t)
	var text bytes.Buffer
	musttest.NoError(t, one.Write(t.Context(), &text))
	if !bytes.Equal(text.Bytes(), d.want) || len(d.results) != 2*len(d.jobs) || len(d.jobs) < 3 {
		t.Fatalf("%d passes and %d results make a model of %d bytes, one machine another of %d", len(d.jobs), len(d.results),
			len(d.want), text.Len())
	}
	return d
}

// drive runs the driver as `gramcluster drive` does.
func (d *driveJob) drive(h *job.Host, path string, hand *work.Dispatcher) error {
	ctx := context.Background()
	f := flag.NewFlagSet("drive", flag.ContinueOnError)
	p := landmarks.Kind.DeclareFlags(f)
	if err := f.Parse(driveFlags); err != nil {
		return err
	}
	digest, err := shards.Write(ctx, h.Store, d.documents)
	if err != nil {
		return err
	}
	return p.(job.Driver).Drive(ctx, &job.DriveArgs{
		PlanArgs: job.PlanArgs{Host: h, Corpus: d.documents, CorpusDigest: digest}, ISA: "generic",
		Output: &job.Output{Path: path}, RunJob: hand.Run,
	})
}

type driveWorld struct {
	*world
	*driveJob
	models, handed int
}

func (w *driveWorld) run() error {
	w.kinds = []job.Kind{landmarks.Kind}
	maps.Copy(w.world.results, w.driveJob.results)
	w.rate = []float64{0, 0.002, 0.01, 0.05}[w.rng.IntN(4)]
	w.mortal = []float64{0, 0.003, 0.01}[w.rng.IntN(3)]
	drivers := []*process{}
	for born := 0; w.wrong == nil; w.step() {
		drivers = slices.DeleteFunc(drivers, func(p *process) bool { return !slices.Contains(w.running, p) })
		if born < 4 && len(drivers) < 2 {
			drivers = append(drivers, w.start("driver", w.driver))
			w.running = append(w.running, drivers[len(drivers)-1])
			born++
		}
		if len(w.running) == 0 {
			break
		}
	}
	_ = w.end(0.01, func(p *process) {
		for tries := 0; w.wrong == nil && w.drives(p, func(j *job.Job, tasks []int) { w.work(p, j.Digest, tasks) }) != nil; {
			if tries++; tries == 500 {
				w.fail("the training isn't done after %d tries", tries)
			}
		}
	})
	for _, key := range w.store.Keys() {
		name, _, _ := strings.Cut(key, ".a")
		if strings.HasPrefix(name, job.DescriptionPrefix) && !slices.Contains(w.jobs, name) {
			w.fail("%s is a pass that one machine doesn't take", name)
		}
	}
	return w.wrong
}

// driver passes lines to up to two workers, and waits for several steps.
func (w *driveWorld) driver(p *process) {
	err := w.drives(p, func(j *job.Job, tasks []int) {
		var workers []*process
		for half := range slices.Chunk(tasks, 1+w.rng.IntN(len(tasks))) {
			if w.rng.IntN(10) == 0 {
				continue // the line is lost
			}
			workers = append(workers, w.start("worker", func(p *process) { w.work(p, j.Digest, half) }))
		}
		w.running = append(w.running, workers...)
		for patience := w.rng.IntN(200); patience > 0 && p.wait(); patience-- {
			if !slices.ContainsFunc(workers, func(p *process) bool { return !p.ended }) {
				return
			}
		}
	})
	w.log("a driver ends: %v", err)
}

var errInjected = errors.New("injected")

// drives runs a driver whose tasks are run by other processes.
func (w *driveWorld) drives(p *process, out func(j *job.Job, tasks []int)) error {
	f, err := os.CreateTemp(w.dir, "model")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		w.fail("%v", err)
		return nil
	}
	defer os.Remove(f.Name())
	err = w.drive(p.host, f.Name(), &work.Dispatcher{
		RunTasks: func(_ context.Context, j *job.Job, tasks []int) error {
			w.handed++
			out(j, tasks)
			return []error{nil, errInjected}[w.rng.IntN(2)] // the driver ignores the error
		},
		Logf: w.log, OnStart: func(*job.Job, int, int) {},
	})
	b, missing := os.ReadFile(f.Name())
	switch {
	case err == nil && !bytes.Equal(b, w.want):
		w.fail("a model of %d bytes is another than that of one machine, error %v", len(b), missing)
	case err != nil && missing == nil:
		w.fail("a driver has failed, %v, and left a model", err)
	case err == nil:
		w.models++
	}
	return err
}
