// Package soak detects CPU cores that compute wrong results. Computations of this module are
// bit-for-bit reproducible on every core, so a different bit means a faulty core or faulty memory.
// Sources: Hochschild and others, Cores that don't count, HotOS 2021; Dixit and others, Silent data
// corruptions at scale, 2021.
//
// [Run] repeats tasks on all cores at once, and for a fraction of the time on a single core. It
// compares each value with the first result. Tasks (work.go) compute tiles, maps and panels with
// every instruction set. One corpus is larger than the last-level cache.
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

// Options are the options of [Run].
type Options struct {
	For    time.Duration // duration; 0 for no limit
	Turns  int           // maximum number of turns; in a turn every core runs all tasks; 0 for no limit
	Alone  float64       // fraction of the time with a single busy core, below 1; default 0
	Corpus int64         // size of the largest corpus in bytes; default larger than the last-level cache
	ISAs   []asm.ISA     // instruction sets; default all available
	Cores  []int         // logical CPUs; default all that the process may use
	Seed   uint64        // seed of the documents
	Stage  func(string)  // called with the current stage, not concurrently; default none

	corrupt func(core int, values []float32) // modifies computed values in tests; default none
}

// Report is the result of [Run].
type Report struct {
	Began           string       `json:"began"`
	Seconds         float64      `json:"seconds"`
	Interrupted     bool         `json:"interrupted"`
	Turns           int          `json:"turns"` // number of started turns
	Pinned          bool         `json:"pinned"`
	Alone           float64      `json:"alone_share"`  // fraction of the time with a single busy core
	Corpus          int64        `json:"corpus_bytes"` // size of the largest corpus
	Cache           int64        `json:"cache_bytes"`  // size of the last-level cache; 0 if unknown
	Cores           []Core       `json:"cores"`
	DifferenceCount int          `json:"differences"`
	Differences     []Difference `json:"first_differences"`
}

// Core holds the test results of a CPU core.
type Core struct {
	ID          int   `json:"core"`
	Tasks       int   `json:"tasks"`
	Values      int64 `json:"values"` // number of compared values
	Differences int   `json:"differences"`
}

// Difference is a value that differs from the first result, or an error.
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

	// The task is repeated three times on the same core and on another core, Other. Again and
	// Elsewhere count the repetitions with differences.
	Again     int `json:"again_here"`
	Elsewhere int `json:"again_elsewhere"`
	Other     int `json:"elsewhere_core"`
}

// Idle returns an error if the run was so short that a CPU compared no value.
func (r *Report) Idle() error {
	for _, c := range r.Cores {
		if c.Values == 0 {
			return fmt.Errorf("processor %d compared no value", c.ID)
		}
	}
	return nil
}

const (
	maxListed = 50 // maximum number of listed differences, whose tasks are repeated
	tries     = 3
)

type state struct {
	o     Options
	tasks []*task
	cores []*core
	pin   bool
	begin time.Time

	together, alone time.Duration // time with all cores busy and with a single busy core
	passes          int           // number of passes by single cores

	mu     sync.Mutex
	report *Report
}

// Run repeats the tasks until the time is over or ctx is done. It sets Report.Interrupted if ctx is
// done.
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

// goes reports whether the run continues: the time limit isn't reached and ctx isn't done.
func (s *state) goes(ctx context.Context) bool {
	return ctx.Err() == nil && (s.o.For == 0 || time.Since(s.begin) < s.o.For)
}

// choose selects the cores, and checks whether goroutines can be pinned.
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
			return fmt.Errorf("soak: CPU %d is not available to the process; available CPUs are %v", id, all)
		}
	}
	release, err := pin(s.cores[0].ID)
	release()
	if err != nil {
		s.pin, s.report.Pinned = false, false
	}
	return nil
}

// first computes each task on the first core and again on the last core, so that a wrong first
// result is detected.
func (s *state) first(ctx context.Context) error {
	for i, t := range s.tasks {
		s.o.Stage(fmt.Sprintf("first results, %d of %d", i+1, len(s.tasks)))
		t.want = make([]float32, t.values)
		if err := s.cores[0].compute(ctx, s.pin, t, t.want); err != nil {
			return fmt.Errorf("soak: %s on processor %d: %w", t, s.cores[0].ID, err)
		}
		s.do(ctx, s.cores[len(s.cores)-1], t)
	}
	return ctx.Err()
}

// turn runs all tasks on all cores at once. Cores start with different tasks, so that they share no
// cached blocks of the largest corpus. Then single cores run all tasks, for the fraction Alone of
// the time.
func (s *state) turn(ctx context.Context) {
	s.o.Stage(fmt.Sprintf("turn %d, all cores, %d differences", s.report.Turns+1, s.report.DifferenceCount))
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
		s.o.Stage(fmt.Sprintf("turn %d, processor %d, %d differences", s.report.Turns+1, c.ID, s.report.DifferenceCount))
		begin := time.Now()
		var one atomic.Int64
		s.through(ctx, c, s.passes, &one)
		s.alone, s.passes = s.alone+time.Since(begin), s.passes+1
	}
}

// through runs all tasks on a core, and repeats tasks until all other cores have run all tasks.
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

// do runs a task on a core, and compares the values with the first result.
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

// note records a difference, and repeats the task on the same core and on another core.
func (s *state) note(ctx context.Context, c *core, t *task, d Difference) {
	c.Differences++
	s.mu.Lock()
	s.report.DifferenceCount++
	found := s.report.DifferenceCount
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

// again repeats a task on a core, and returns the number of repetitions with differences.
func (s *state) again(ctx context.Context, c *core, t *task) (differs int) {
	got := make([]float32, t.values)
	for range tries {
		if err := c.compute(ctx, s.pin, t, got); ctx.Err() == nil && (err != nil || len(differences(t.want, got)) > 0) {
			differs++
		}
	}
	return differs
}

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
