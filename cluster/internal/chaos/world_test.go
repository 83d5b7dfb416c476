package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
)

// world is a store with its processes: coroutines that run one store operation per step.
type world struct {
	rng     *rand.Rand
	log     func(string, ...any)
	rate    float64 // probability of a fault per operation
	rot     float64 // probability that a stored byte changes after a step
	mortal  float64 // probability that a process dies instead of taking a step
	store   storetest.MemoryBucket
	kinds   []job.Kind
	results map[string][]byte // expected results, indexed by name
	running []*process
	wrong   error

	changed      bool            // since the last check
	acknowledged map[string]bool // names of acknowledged results
	rotten       map[string]bool // keys of damaged objects
	deaths       int
}

func host(s *store.Store) *job.Host { return &job.Host{Store: s, Workers: 1} }

func newWorld(seed uint64, log func(string, ...any)) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 21)), log: log, mortal: 0.03, results: map[string][]byte{},
		acknowledged: map[string]bool{}, rotten: map[string]bool{}}
	w.rot = []float64{0, 0, 0.02}[w.rng.IntN(3)]
	return w
}

// process is a process in a world. After it is stopped, its operations have no effect.
type process struct {
	next func() (struct{}, bool)
	stop func()

	host  *job.Host
	dead  bool
	ended bool
	yield func(struct{}) bool
}

// wait is a step without effect. It reports whether the process is still alive.
func (p *process) wait() bool {
	p.dead = p.dead || !p.yield(struct{}{})
	return !p.dead
}

// start creates a process that runs when step or end resumes it.
func (w *world) start(name string, main func(p *process)) *process {
	p := &process{}
	decide := func(op, key string) storetest.Fault {
		if p.dead {
			return storetest.FailBefore
		}
		fault := storetest.NoFault
		if w.rng.Float64() < w.rate {
			all := storetest.Faults(op)
			fault = all[w.rng.IntN(len(all))]
		}
		alive := p.wait()
		w.changed = w.changed || op == storetest.OpCreate
		if !alive {
			w.log("%s dies at %s %s", name, op, key)
			if op == storetest.OpCreate { // the operation may still take effect
				return []storetest.Fault{storetest.FailBefore, storetest.FailAfter, storetest.Truncate}[w.rng.IntN(3)]
			}
			return storetest.FailBefore
		}
		w.log("%s: %s %s, fault %d", name, op, key, fault)
		return fault
	}
	p.host = host(store.New(&storetest.FaultyBucket{Bucket: &w.store, Decide: decide}))
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		main(p)
	})
	return p
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// step lets a random process take a step or die; a stored byte may change.
func (w *world) step() {
	i := w.rng.IntN(len(w.running))
	if p := w.running[i]; w.rng.Float64() < w.mortal {
		w.deaths++
		p.stop()
	} else if _, ok := p.next(); ok {
		if w.rng.Float64() < w.rot {
			w.rots()
		}
		w.check()
		return
	}
	w.running[i].ended = true
	w.running = append(w.running[:i], w.running[i+1:]...)
}

// end stops all processes, and runs a last process to its end, with faults at up to the given rate.
func (w *world) end(rate float64, main func(p *process)) error {
	for _, p := range w.running {
		p.stop()
	}
	w.rate = min(w.rate, rate)
	for last := w.start("last", main); ; {
		if _, ok := last.next(); !ok {
			return w.wrong
		}
		w.check()
	}
}

// rots changes a byte of a stored object permanently.
func (w *world) rots() {
	keys := w.store.Keys()
	if len(keys) == 0 {
		return
	}
	key := keys[w.rng.IntN(len(keys))]
	if b := w.store.Get(key); len(b) > 0 {
		w.log("%s rots", key)
		w.rotten[key], w.changed = true, true
		b[w.rng.IntN(len(b))] ^= 3 << w.rng.IntN(7) // two bits, because the fault CorruptByte could undo a change of one bit
		w.store.Set(key, b)
	}
}

func (w *world) hasRotted(name string) bool {
	for key := range w.rotten {
		if strings.HasPrefix(key, name+".a") {
			return true
		}
	}
	return false
}

// work runs tasks in a process, as `gramcluster work` does.
func (w *world) work(p *process, digest string, tasks []int) {
	said := writer(func(line []byte) error {
		var r work.TaskReport
		if err := json.Unmarshal(line, &r); err != nil {
			w.fail("report %s: %v", line, err)
		}
		w.log("reports %s", strings.TrimSpace(string(line)))
		if !p.dead && r.State != work.StateFailed {
			w.acknowledged[resultName(digest, r.Task)], w.changed = true, true
		}
		return nil
	})
	r := work.NewRunner(p.host, w.kinds, said)
	defer r.Close()
	for _, task := range tasks {
		if err := r.Run(context.Background(), job.TaskLine{Job: digest, Task: task}); err != nil {
			w.fail("%v", err)
		}
		if p.dead {
			break
		}
	}
}

func resultName(digest string, task int) string {
	j := job.Job{Digest: digest}
	return j.ResultName(task)
}

type writer func([]byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }

// check checks that acknowledged results exist.
func (w *world) check() {
	if !w.changed {
		return
	}
	w.changed = false
	s := store.New(&w.store)
	for name := range w.acknowledged {
		b, err := s.Get(context.Background(), name, nil)
		switch {
		case err == nil && !bytes.Equal(b, w.results[name]):
			w.fail("%s has the result %q, expected %q", name, b, w.results[name])
		case err != nil && !w.hasRotted(name):
			w.fail("%s was acknowledged and is lost: %v", name, err)
		case err != nil:
			delete(w.acknowledged, name) // damaged, so the task must run again
		}
	}
}
