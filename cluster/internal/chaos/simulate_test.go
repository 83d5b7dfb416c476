package chaos

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

var (
	schedules = flag.Int("schedules", 5_000, "TestSchedules: how many")
	seed      = flag.Uint64("seed", 0, "run the schedule of this seed alone, and log it")
)

// TestSchedules runs workers, planners and gatherers on one store, one operation at a time in
// random order. Operations may fail, processes may die, and stored bytes may change. It checks that
//
// - gathered output is correct,
// - an acknowledged result can be read unless its bytes change,
// - a second attempt of an object is made only after a damaged one,
// - the job finishes if a worker stays alive, although operations still fail.
func TestSchedules(t *testing.T) {
	var gathered, deaths atomic.Int64
	n := scheduled(t, *schedules, func(seed uint64, log func(string, ...any)) error {
		w := &toyWorld{world: newWorld(seed, log)}
		defer func() { gathered.Add(int64(w.gathers)); deaths.Add(int64(w.deaths)) }()
		return w.run()
	})
	t.Logf("%d schedules, %d processes died, %d results were gathered", n, deaths.Load(), gathered.Load())
	if n > 1 && (gathered.Load() < int64(n) || deaths.Load() < int64(n)) {
		t.Error("too few deaths or gathered results for a test")
	}
}

// scheduled runs n schedules, or fewer with -short, and returns their number. With -seed it runs
// only one.
func scheduled(t *testing.T, n int, run func(seed uint64, log func(string, ...any)) error) int {
	t.Helper()
	if *seed != 0 {
		musttest.NoError(t, run(*seed, t.Logf))
		return 1
	}
	if testing.Short() {
		n = max(n/10, 1)
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !t.Failed() {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				if err := run(uint64(i), func(string, ...any) {}); err != nil {
					t.Errorf("schedule %d: %v; repeat it by go test -run %s -seed %d -v", i, err, t.Name(), i)
				}
			}
		})
	}
	wg.Wait()
	return n
}

type toyWorld struct {
	*world
	job     *toyJob
	gathers int
}

func (w *toyWorld) run() error {
	w.job, w.kinds = newToyJob(1+w.rng.IntN(5)), []job.Kind{toy{}.kind()}
	for task, b := range w.job.results {
		w.results[resultName(w.job.digest, task)] = b
	}
	w.rate = []float64{0, 0.05, 0.2, 0.5}[w.rng.IntN(4)]

	w.running = []*process{w.start("planner 0", w.planner)}
	for born := 1; len(w.running) > 0 && w.wrong == nil; w.step() {
		if born < 8 && len(w.running) < 4 {
			main, name := w.worker, "worker"
			switch w.rng.IntN(6) {
			case 0:
				main, name = w.planner, "planner"
			case 1:
				main, name = w.gatherer, "gatherer"
			}
			w.running = append(w.running, w.start(fmt.Sprint(name, " ", born), main))
			born++
		}
	}
	return w.finish()
}

func (w *toyWorld) planner(p *process) {
	if err := w.job.plan(context.Background(), p.host); err != nil {
		w.log("planning: %v", err)
	}
}

// worker runs several tasks in random order, some of them twice.
func (w *toyWorld) worker(p *process) {
	var tasks []int
	for range 1 + w.rng.IntN(2*w.job.job.NumTasks) {
		tasks = append(tasks, w.rng.IntN(w.job.job.NumTasks))
	}
	w.work(p, w.job.digest, tasks)
}

func (w *toyWorld) gatherer(p *process) { _ = w.gather(p.host) }

func (w *toyWorld) gather(h *job.Host) error {
	j, err := h.Load(context.Background(), w.job.digest)
	if err != nil {
		return err
	}
	var all []byte
	if err = work.Gather(context.Background(), []job.Kind{toy{&all}.kind()}, j, &job.Output{}); err != nil {
		w.log("gather: %v", err)
		return err
	}
	w.gathers++
	if want := bytes.Join(w.job.results, nil); !bytes.Equal(all, want) {
		w.fail("gathered %q, expected %q", all, want)
	}
	return nil
}

// finish starts one process that plans and works until no operation fails, and checks the output.
func (w *toyWorld) finish() error {
	all := run.Range(0, w.job.job.NumTasks)
	left, passes, planned := all, 0, false
	_ = w.end(0.2, func(p *process) {
		for ; passes < 500 && w.wrong == nil; passes++ {
			switch {
			case !planned:
				planned = w.job.plan(context.Background(), p.host) == nil
			case len(left) > 0:
				w.work(p, w.job.digest, left)
				left = slices.DeleteFunc(slices.Clone(all), func(task int) bool {
					return w.acknowledged[resultName(w.job.digest, task)]
				})
			case w.gather(p.host) == nil:
				return
			}
		}
		w.fail("the job isn't done after %d passes", passes)
	})
	if err := w.gather(host(store.New(&w.store))); err != nil {
		w.fail("all tasks are acknowledged, and gather says: %v", err)
	}
	for _, key := range w.store.Keys() {
		w.needless(key)
	}
	return w.wrong
}

// needless fails if an attempt was repeated although nothing can have been damaged.
func (w *toyWorld) needless(key string) {
	if w.rate > 0 || len(w.rotten) > 0 || w.deaths > 0 {
		return
	}
	if !strings.HasSuffix(key, ".a0") {
		w.fail("%s is stored, and nothing was damaged", key)
	}
}
