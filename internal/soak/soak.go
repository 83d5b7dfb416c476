// Package soak looks for cores that compute wrong bits. Results of this module have the same bits from any core, any
// number of workers and on any day, so a core that computes another bit than the first time is at fault, or the memory
// behind it (Hochschild and others, Cores that don't count, HotOS 2021; Dixit and others, Silent data corruptions at
// scale, 2021).
//
// [Run] has all cores at once, and for a part of the time one core alone, compute tiles of several sizes,
// maps and panels on all instruction sets, and compares every value with that of the first time. One corpus is
// larger than the last-level cache. work.go has what is computed, core.go how a core does it.
package soak

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

// Options say how long and where.
type Options struct {
	For    time.Duration // how long; 0 for as many turns as Turns says
	Turns  int           // max. turns, in each of which all cores do all tasks at once; 0 for no bound
	Alone  float64       // part of the time for one core at a time, below 1; default none
	Corpus int64         // bytes of the largest corpus; default larger than the last-level cache
	ISAs   []asm.ISA     // default all that the processor can run
	Cores  []int         // logical processors; default all that the process may use
	Seed   uint64        // of what is computed
	Stage  func(string)  // is told what is under way, by one call at a time; default none

	corrupt func(core int, values []float32) // modifies computed values in tests; default none
}

// Report is what was found.
type Report struct {
	Began       string       `json:"began"`
	Seconds     float64      `json:"seconds"`
	Interrupted bool         `json:"interrupted"`
	Turns       int          `json:"turns"` // that were begun
	Pinned      bool         `json:"pinned"`
	Alone       float64      `json:"alone_share"`  // part of the time in which one core computed alone
	Corpus      int64        `json:"corpus_bytes"` // the largest corpus
	Cache       int64        `json:"cache_bytes"`  // the last-level cache; 0 if unknown
	Cores       []Core       `json:"cores"`
	Found       int          `json:"differences"`
	Differences []Difference `json:"first_differences"`
}

// Core is what a core did.
type Core struct {
	ID          int   `json:"core"`
	Tasks       int   `json:"tasks"`
	Values      int64 `json:"values"` // that were compared
	Differences int   `json:"differences"`
}

// Difference is a value that isn't that of the first time, or an error.
type Difference struct {
	Core  int     `json:"core"`
	ISA   asm.ISA `json:"isa"`
	Kind  string  `json:"kind"` // tile, map or panel
	Size  string  `json:"size"`
	Place string  `json:"place"`
	Want  uint32  `json:"want_bits"`
	Got   uint32  `json:"got_bits"`
	Error string  `json:"error,omitempty"`
	At    float64 `json:"after_seconds"`

	// The task was tried again three times, on the core and elsewhere, and differed so many times.
	Again     int `json:"again_here"`
	Elsewhere int `json:"again_elsewhere"`
	Other     int `json:"elsewhere_core"`
}

// Idle returns an error if a CPU compared no value, because the run was too short.
func (r *Report) Idle() error {
	for _, c := range r.Cores {
		if c.Values == 0 {
			return fmt.Errorf("processor %d compared no value", c.ID)
		}
	}
	return nil
}

const (
	maxListed = 50 // differences, each of which is tried again
	tries     = 3
)

// state is a run under way.
type state struct {
	o     Options
	tasks []*task
	cores []*core
	pin   bool
	begin time.Time

	together, alone time.Duration // with all cores at once, and with one
	passes          int           // of cores alone

	mu     sync.Mutex
	report *Report
}

// Run looks for wrong bits until the time is over or ctx ends, which is no error: the report says so.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Stage == nil {
		o.Stage = func(string) {}
	}
	if len(o.ISAs) == 0 {
		o.ISAs = asm.Available()
	}
	s := &state{o: o, pin: true, begin: time.Now()}
	s.report = &Report{Began: s.begin.UTC().Format(time.RFC3339), Pinned: true, Differences: []Difference{}}
	err := s.choose()
	if err != nil {
		return nil, err
	}
	s.report.Cache = int64(max(cpuid.CPU.Cache.L3, 0))
	s.report.Corpus = corpusBytes(s.report.Cache, run.AvailableBound().Bytes)
	if o.Corpus > 0 {
		s.report.Corpus = o.Corpus
	}
	if s.tasks, err = newTasks(ctx, o.ISAs, s.report.Corpus, o.Seed); err == nil {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(len(s.cores)))
		err = s.first(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	for ; s.goes(ctx) && (o.Turns == 0 || s.report.Turns < o.Turns); s.report.Turns++ {
		s.turn(ctx)
	}
	return s.end(ctx), nil
}

// goes says that there is time left.
func (s *state) goes(ctx context.Context) bool {
	return ctx.Err() == nil && (s.o.For == 0 || time.Since(s.begin) < s.o.For)
}

// choose chooses the cores, and tries to pin a goroutine.
func (s *state) choose() error {
	all, err := allowed()
	if err != nil {
		return err
	}
	for _, id := range all {
		if len(s.o.Cores) == 0 || slices.Contains(s.o.Cores, id) {
			s.cores = append(s.cores, newCore(id))
		}
	}
	for _, id := range s.o.Cores {
		if !slices.Contains(all, id) {
			return fmt.Errorf("soak: processor %d isn't one that the process may use, expected some of %v", id, all)
		}
	}
	release, err := pin(s.cores[0].ID)
	release()
	if err != nil {
		s.pin, s.report.Pinned = false, false
	}
	return nil
}

// first computes each task on the first core, and again on the last: what is wrong from the beginning is noticed where
// cores differ.
func (s *state) first(ctx context.Context) error {
	for i, t := range s.tasks {
		s.o.Stage(fmt.Sprintf("the first time, %d of %d", i+1, len(s.tasks)))
		t.want = make([]float32, t.values)
		if err := s.cores[0].compute(ctx, s.pin, t, t.want); err != nil {
			return fmt.Errorf("soak: %s on processor %d: %w", t, s.cores[0].ID, err)
		}
		s.do(ctx, s.cores[len(s.cores)-1], t)
	}
	return ctx.Err()
}

// turn has all cores at once do all tasks, spread evenly over them, so that no core finds a block of the largest corpus
// in the cache because of another. Then cores take turns alone, as long as their part of the time is not used up.
func (s *state) turn(ctx context.Context) {
	s.o.Stage(fmt.Sprintf("turn %d, all cores, %d differences", s.report.Turns+1, s.report.Found))
	begin := time.Now()
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(s.cores)))
	for k, c := range s.cores {
		all.Go(func() { s.through(ctx, c, k*len(s.tasks)/len(s.cores), &left) })
	}
	all.Wait()
	s.together += time.Since(begin)
	for len(s.cores) > 1 && s.goes(ctx) && float64(s.alone) < s.o.Alone*float64(s.alone+s.together) {
		c := s.cores[s.passes%len(s.cores)]
		s.o.Stage(fmt.Sprintf("turn %d, processor %d, %d differences", s.report.Turns+1, c.ID, s.report.Found))
		begin := time.Now()
		var one atomic.Int64
		s.through(ctx, c, s.passes, &one)
		s.alone, s.passes = s.alone+time.Since(begin), s.passes+1
	}
}

// through has a core do all tasks once, and then more while other cores are left that do so.
func (s *state) through(ctx context.Context, c *core, from int, left *atomic.Int64) {
	for k := 0; s.goes(ctx); k++ {
		if k == len(s.tasks) {
			left.Add(-1)
		}
		if k >= len(s.tasks) && left.Load() <= 0 {
			return
		}
		s.do(ctx, c, s.tasks[(from+k)%len(s.tasks)])
	}
}

// do has a core do a task, and compares every value.
func (s *state) do(ctx context.Context, c *core, t *task) {
	got := c.buffer(t.values)
	err := c.compute(ctx, s.pin, t, got)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.note(ctx, c, t, Difference{Error: err.Error()})
		return
	}
	if s.o.corrupt != nil {
		s.o.corrupt(c.ID, got)
	}
	c.Tasks, c.Values = c.Tasks+1, c.Values+int64(t.values)
	for _, at := range differences(t.want, got) {
		s.note(ctx, c, t, Difference{Place: t.place(at), Want: bitsOf(t.want[at]), Got: bitsOf(got[at])})
	}
}

// note notes a difference, and tries the task again on the core and on another one.
func (s *state) note(ctx context.Context, c *core, t *task, d Difference) {
	c.Differences++
	s.mu.Lock()
	s.report.Found++
	found := s.report.Found
	s.mu.Unlock()
	if found > maxListed {
		return
	}
	other := s.cores[(slices.Index(s.cores, c)+1)%len(s.cores)]
	d.Core, d.ISA, d.Kind, d.Size, d.At = c.ID, t.isa, t.kind, t.size, time.Since(s.begin).Seconds()
	d.Other, d.Again, d.Elsewhere = other.ID, s.again(ctx, c, t), s.again(ctx, other, t)
	s.mu.Lock()
	s.report.Differences = append(s.report.Differences, d)
	s.mu.Unlock()
}

// again returns the number of repetitions of a task on a core whose result differs.
func (s *state) again(ctx context.Context, c *core, t *task) (differs int) {
	got := make([]float32, t.values)
	for range tries {
		if err := c.compute(ctx, s.pin, t, got); ctx.Err() == nil && (err != nil || len(differences(t.want, got)) > 0) {
			differs++
		}
	}
	return differs
}

// end completes the report.
func (s *state) end(ctx context.Context) *Report {
	r := s.report
	r.Seconds, r.Interrupted = time.Since(s.begin).Seconds(), ctx.Err() != nil
	if together := s.together.Seconds(); together > 0 {
		r.Alone = s.alone.Seconds() / (s.alone.Seconds() + together)
	}
	for _, c := range s.cores {
		r.Cores = append(r.Cores, c.Core)
	}
	return r
}
