package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
)

var (
	schedules = flag.Int("schedules", 20_000, "TestSchedules: how many")
	seed      = flag.Uint64("seed", 0, "TestSchedules: run the schedule of this seed alone, and log it")
)

// TestSchedules runs workers, planners and gatherers against one store, one operation at a time, in an order drawn by
// the seed. Any operation may fail in any way, any process may end before or within it, and stored bytes may rot.
// It checks that
//
//   - what is gathered is right,
//   - what a worker has acknowledged can be read from then on, unless it rots,
//   - nothing is stored twice without need: a second attempt follows a damaged one only,
//   - the job ends when a worker stays up, though operations go on failing.
func TestSchedules(t *testing.T) {
	if *seed != 0 {
		if err := simulate(*seed, t.Logf); err != nil {
			t.Fatal(err)
		}
		return
	}
	n := *schedules
	if testing.Short() {
		n = min(n, 2000)
	}
	var wg sync.WaitGroup
	var next, gathered, deaths atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !t.Failed() {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				w := &world{rng: rand.New(rand.NewPCG(uint64(i), 21)), log: func(string, ...any) {}}
				if err := w.run(); err != nil {
					t.Errorf("schedule %d: %v; repeat it by go test -run Schedules -seed %d -v", i, err, i)
				}
				gathered.Add(int64(w.gathers))
				deaths.Add(int64(w.deaths))
			}
		})
	}
	wg.Wait()
	t.Logf("%d schedules, %d processes died, %d results were gathered", n, deaths.Load(), gathered.Load())
	if gathered.Load() < int64(n) || deaths.Load() < int64(n) {
		t.Error("too few deaths or gathered results for a test")
	}
}

func simulate(seed uint64, log func(string, ...any)) error {
	w := &world{rng: rand.New(rand.NewPCG(seed, 21)), log: log}
	return w.run()
}

// world is a store and the processes that use it. Processes are coroutines: each operation of the store is a step.
type world struct {
	rng   *rand.Rand
	log   func(string, ...any)
	rate  float64 // of faults
	store storetest.Memory
	job   *toyJob
	wrong error

	changed      bool // since the last check
	acknowledged map[int]bool
	rotten       map[string]bool // keys
	gathers      int
	deaths       int
}

// process is one of a world. It ends by itself or by stop, after which no operation of it has an effect.
type process struct {
	next func() (struct{}, bool)
	stop func()
}

// start makes a process, which takes its first step when it is asked to.
func (w *world) start(name string, main func(h *job.Host, alive func() bool)) *process {
	p := &process{}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		dead := false
		decide := func(op, key string) storetest.Fault {
			if dead {
				return storetest.Before
			}
			fault := storetest.None
			if w.rng.Float64() < w.rate {
				all := storetest.Faults(op)
				fault = all[w.rng.IntN(len(all))]
			}
			dead = !yield(struct{}{})
			w.changed = w.changed || op == storetest.Create
			if dead {
				w.log("%s dies at %s %s", name, op, key)
				if op == storetest.Create { // the operation may be on its way
					return []storetest.Fault{storetest.Before, storetest.After, storetest.Torn}[w.rng.IntN(3)]
				}
				return storetest.Before
			}
			w.log("%s: %s %s, fault %d", name, op, key, fault)
			return fault
		}
		h := &job.Host{Store: store.New(&storetest.Faulty{Bucket: &w.store, Decide: decide}), Workers: 1}
		main(h, func() bool { return !dead })
	})
	return p
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// run is a whole schedule.
func (w *world) run() error {
	w.job = newToyJob(1 + w.rng.IntN(5))
	w.acknowledged, w.rotten = map[int]bool{}, map[string]bool{}
	w.rate = []float64{0, 0.05, 0.2, 0.5}[w.rng.IntN(4)]
	rot := []float64{0, 0, 0.02}[w.rng.IntN(3)]

	running := []*process{w.start("planner 0", w.planner)}
	for born := 1; len(running) > 0 && w.wrong == nil; {
		if born < 8 && len(running) < 4 {
			main, name := w.worker, "worker"
			switch w.rng.IntN(6) {
			case 0:
				main, name = w.planner, "planner"
			case 1:
				main, name = w.gatherer, "gatherer"
			}
			running = append(running, w.start(fmt.Sprint(name, " ", born), main))
			born++
		}
		i := w.rng.IntN(len(running))
		if w.rng.Float64() < 0.03 {
			w.deaths++
			running[i].stop()
		} else if _, ok := running[i].next(); ok {
			if w.rng.Float64() < rot {
				w.rot()
			}
			w.check()
			continue
		}
		running = append(running[:i], running[i+1:]...)
	}
	for _, p := range running {
		p.stop()
	}
	return w.finish()
}

// rot changes a byte of a stored object for good.
func (w *world) rot() {
	keys := w.store.Keys()
	if len(keys) == 0 {
		return
	}
	key := keys[w.rng.IntN(len(keys))]
	if b := w.store.Get(key); len(b) > 0 {
		w.log("%s rots", key)
		w.rotten[key], w.changed = true, true
		b[w.rng.IntN(len(b))] ^= 3 << w.rng.IntN(7) // two bits: Flip, which turns one, can't mend it
		w.store.Set(key, b)
	}
}

func (w *world) planner(h *job.Host, alive func() bool) {
	if err := w.job.plan(context.Background(), h); err != nil {
		w.log("planning: %v", err)
	}
}

// worker does some tasks, in any order, some twice.
func (w *world) worker(h *job.Host, alive func() bool) {
	var tasks []int
	for range 1 + w.rng.IntN(2*w.job.job.Tasks) {
		tasks = append(tasks, w.rng.IntN(w.job.job.Tasks))
	}
	w.work(h, alive, tasks)
}

// work does tasks as gramcluster work does.
func (w *world) work(h *job.Host, alive func() bool, tasks []int) {
	said := writer(func(line []byte) error {
		var r work.Report
		if err := json.Unmarshal(line, &r); err != nil {
			w.fail("report %s: %v", line, err)
		}
		w.log("reports %s", strings.TrimSpace(string(line)))
		if alive() && r.State != work.Failed {
			w.acknowledged[r.Task], w.changed = true, true
		}
		return nil
	})
	r := work.NewRunner(h, []job.Kind{toy{}}, said)
	for _, task := range tasks {
		if err := r.Do(context.Background(), job.Line{Job: w.job.digest, Task: task}); err != nil {
			w.fail("%v", err)
		}
		if !alive() {
			break
		}
	}
}

type writer func([]byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }

func (w *world) gatherer(h *job.Host, alive func() bool) { _ = w.gather(h) }

// gather gathers and checks what it gets.
func (w *world) gather(h *job.Host) error {
	j, err := h.Load(context.Background(), w.job.digest)
	if err != nil {
		return err
	}
	var all []byte
	if err = work.Gather(context.Background(), []job.Kind{toy{&all}}, j, &job.Output{}); err != nil {
		w.log("gather: %v", err)
		return err
	}
	w.gathers++
	if want := bytes.Join(w.job.results, nil); !bytes.Equal(all, want) {
		w.fail("gathered %q, expected %q", all, want)
	}
	return nil
}

// check checks that what was acknowledged is there.
func (w *world) check() {
	if !w.changed {
		return
	}
	w.changed = false
	s := store.New(&w.store)
	j := job.Job{Description: w.job.job, Digest: w.job.digest}
	for task := range w.acknowledged {
		name := j.ResultName(task)
		b, err := s.Get(context.Background(), name, nil)
		switch {
		case err == nil && !bytes.Equal(b, w.job.results[task]):
			w.fail("task %d has the result %q, expected %q", task, b, w.job.results[task])
		case err != nil && !w.rots(name):
			w.fail("task %d was acknowledged and is lost: %v", task, err)
		case err != nil:
			delete(w.acknowledged, task) // it has rotted, and is to be done again
		}
	}
}

// rots says whether an attempt of an object has rotted.
func (w *world) rots(name string) bool {
	for key := range w.rotten {
		if strings.HasPrefix(key, name+".a") {
			return true
		}
	}
	return false
}

// finish has one process stay up: it plans and works until nothing fails, and what is gathered then is right.
func (w *world) finish() error {
	all := make([]int, w.job.job.Tasks)
	for i := range all {
		all[i] = i
	}
	w.rate = min(w.rate, 0.2)
	left, passes := all, 0
	last := w.start("last", func(h *job.Host, alive func() bool) {
		planned := false
		for ; passes < 500 && w.wrong == nil; passes++ {
			switch {
			case !planned:
				planned = w.job.plan(context.Background(), h) == nil
			case len(left) > 0:
				w.work(h, alive, left)
				left = slices.DeleteFunc(slices.Clone(all), func(task int) bool { return w.acknowledged[task] })
			case w.gather(h) == nil:
				return
			}
		}
		w.fail("the job isn't done after %d passes", passes)
	})
	for {
		if _, ok := last.next(); !ok {
			break
		}
		w.check()
	}
	h := &job.Host{Store: store.New(&w.store)}
	if err := w.gather(h); err != nil {
		w.fail("all tasks are acknowledged, and gather says: %v", err)
	}
	for _, key := range w.store.Keys() {
		w.needless(key)
	}
	return w.wrong
}

// needless checks that an attempt was made for a reason: another before it isn't whole, or wasn't when it was read.
func (w *world) needless(key string) {
	if w.rate > 0 || len(w.rotten) > 0 || w.deaths > 0 {
		return
	}
	if !strings.HasSuffix(key, ".a0") {
		w.fail("%s is stored, and nothing was damaged", key)
	}
}
