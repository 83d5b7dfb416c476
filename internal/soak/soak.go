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
	Duration           time.Duration // duration; 0 for no limit
	MaxRounds          int           // maximum number of rounds; in a round every core runs all tasks; 0 for no limit
	SingleCoreFraction float64       // fraction of the time with a single busy core, below 1; default 0
	CorpusBytes        int64         // size of the largest corpus in bytes; default larger than the last-level cache
	ISAs               []asm.ISA     // instruction sets; default all available
	Cores              []int         // logical CPUs; default all that the process may use
	Seed               uint64        // seed of the documents
	OnStage            func(string)  // called with the current stage, not concurrently; default none

	corrupt func(core int, values []float32) // modifies computed values in tests; default none
}

// Report is the result of [Run].
type Report struct {
	StartTime          string       `json:"began"`
	Seconds            float64      `json:"seconds"`
	Interrupted        bool         `json:"interrupted"`
	Rounds             int          `json:"turns"` // number of started rounds
	Pinned             bool         `json:"pinned"`
	SingleCoreFraction float64      `json:"single_core_share"` // fraction of the time with a single busy core
	CorpusBytes        int64        `json:"corpus_bytes"`      // size of the largest corpus
	CacheBytes         int64        `json:"cache_bytes"`       // size of the last-level cache; 0 if unknown
	Cores              []Core       `json:"cores"`
	DifferenceCount    int          `json:"differences"`
	Differences        []Difference `json:"first_differences"`
}

// Core holds the test results of a CPU core.
type Core struct {
	ID              int   `json:"core"`
	TaskCount       int   `json:"tasks"`
	ValueCount      int64 `json:"values"` // number of compared values
	DifferenceCount int   `json:"differences"`
}

// Difference describes a value that differs from the task's first result, or an error.
type Difference struct {
	CoreID       int     `json:"core"`
	ISA          asm.ISA `json:"isa"`
	Kind         string  `json:"kind"` // tile, map or panel
	Size         string  `json:"size"`
	Position     string  `json:"place"`
	WantBits     uint32  `json:"want_bits"`
	GotBits      uint32  `json:"got_bits"`
	Error        string  `json:"error,omitempty"`
	AfterSeconds float64 `json:"after_seconds"`

	// The task is repeated three times on the same core, and three times on core OtherCoreID.
	// SameCoreRepeats and OtherCoreRepeats count the repetitions with differences.
	SameCoreRepeats  int `json:"again_here"`
	OtherCoreRepeats int `json:"again_elsewhere"`
	OtherCoreID      int `json:"elsewhere_core"`
}

// CheckCoverage returns an error if the run was so short that a CPU compared no value.
func (r *Report) CheckCoverage() error {
	for _, c := range r.Cores {
		if c.ValueCount == 0 {
			return fmt.Errorf("processor %d compared no value", c.ID)
		}
	}
	return nil
}

const (
	maxListedDifferences = 50 // maximum number of listed differences, whose tasks are repeated
	repeatCount          = 3
)

type state struct {
	o         Options
	tasks     []*task
	cores     []*core
	canPin    bool
	startTime time.Time

	allCoresTime, singleCoreTime time.Duration // time with all cores busy and with a single busy core
	singleCorePasses             int           // number of passes by single cores

	mu     sync.Mutex
	report *Report
}

// Run repeats the tasks until a limit in o is reached or ctx is done. It sets Report.Interrupted if
// ctx is done.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.OnStage == nil {
		o.OnStage = func(string) {}
	}
	if len(o.ISAs) == 0 {
		o.ISAs = asm.Available()
	}
	s := &state{o: o, canPin: true, startTime: time.Now()}
	s.report = &Report{StartTime: s.startTime.UTC().Format(time.RFC3339), Pinned: true, Differences: []Difference{}}
	err := s.chooseCores()
	if err != nil {
		return nil, err
	}
	s.report.CacheBytes = int64(max(cpuid.CPU.Cache.L3, 0))
	s.report.CorpusBytes = corpusBytes(s.report.CacheBytes, run.AvailableMemory().FreeBytes)
	if o.CorpusBytes > 0 {
		s.report.CorpusBytes = o.CorpusBytes
	}
	if s.tasks, err = newTasks(ctx, o.ISAs, s.report.CorpusBytes, o.Seed); err == nil {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(len(s.cores)))
		err = s.computeFirst(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	for ; s.isRunning(ctx) && (o.MaxRounds == 0 || s.report.Rounds < o.MaxRounds); s.report.Rounds++ {
		s.runRound(ctx)
	}
	return s.finish(ctx), nil
}

func (s *state) isRunning(ctx context.Context) bool {
	return ctx.Err() == nil && (s.o.Duration == 0 || time.Since(s.startTime) < s.o.Duration)
}

// chooseCores selects the cores, and checks whether goroutines can be pinned.
func (s *state) chooseCores() error {
	all, err := allowedCPUs()
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
	release, err := pinThread(s.cores[0].ID)
	release()
	if err != nil {
		s.canPin, s.report.Pinned = false, false
	}
	return nil
}

// computeFirst computes each task on the first core and again on the last core, so that a wrong
// first result is detected.
func (s *state) computeFirst(ctx context.Context) error {
	for i, t := range s.tasks {
		s.o.OnStage(fmt.Sprintf("first results, %d of %d", i+1, len(s.tasks)))
		t.want = make([]float32, t.values)
		if err := s.cores[0].compute(ctx, s.canPin, t, t.want); err != nil {
			return fmt.Errorf("soak: %s on processor %d: %w", t, s.cores[0].ID, err)
		}
		s.runTask(ctx, s.cores[len(s.cores)-1], t)
	}
	return ctx.Err()
}

// runRound runs all tasks on all cores at once. Cores start with different tasks, so that they
// share no cached blocks of the largest corpus. Then single cores run all tasks, one core at a
// time, for the fraction SingleCoreFraction of the time.
func (s *state) runRound(ctx context.Context) {
	s.o.OnStage(fmt.Sprintf("turn %d, all cores, %d differences", s.report.Rounds+1, s.report.DifferenceCount))
	begin := time.Now()
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(s.cores)))
	for k, c := range s.cores {
		all.Go(func() { s.runTasks(ctx, c, k*len(s.tasks)/len(s.cores), &left) })
	}
	all.Wait()
	s.allCoresTime += time.Since(begin)
	for len(s.cores) > 1 && s.isRunning(ctx) &&
		float64(s.singleCoreTime) < s.o.SingleCoreFraction*float64(s.singleCoreTime+s.allCoresTime) {
		c := s.cores[s.singleCorePasses%len(s.cores)]
		s.o.OnStage(fmt.Sprintf("turn %d, processor %d, %d differences", s.report.Rounds+1, c.ID, s.report.DifferenceCount))
		begin := time.Now()
		var one atomic.Int64
		s.runTasks(ctx, c, s.singleCorePasses, &one)
		s.singleCoreTime, s.singleCorePasses = s.singleCoreTime+time.Since(begin), s.singleCorePasses+1
	}
}

// runTasks runs all tasks on a core, and repeats tasks until all other cores have run all tasks.
func (s *state) runTasks(ctx context.Context, c *core, from int, left *atomic.Int64) {
	for k := 0; s.isRunning(ctx); k++ {
		if k == len(s.tasks) {
			left.Add(-1)
		}
		if k >= len(s.tasks) && left.Load() <= 0 {
			return
		}
		s.runTask(ctx, c, s.tasks[(from+k)%len(s.tasks)])
	}
}

// runTask runs a task on a core, and compares the values with the first result.
func (s *state) runTask(ctx context.Context, c *core, t *task) {
	got := c.buffer(t.values)
	err := c.compute(ctx, s.canPin, t, got)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.recordDifference(ctx, c, t, Difference{Error: err.Error()})
		return
	}
	if s.o.corrupt != nil {
		s.o.corrupt(c.ID, got)
	}
	c.TaskCount, c.ValueCount = c.TaskCount+1, c.ValueCount+int64(t.values)
	for _, at := range differingIndices(t.want, got) {
		s.recordDifference(ctx, c, t, Difference{Position: t.position(at), WantBits: bitsOf(t.want[at]),
			GotBits: bitsOf(got[at])})
	}
}

// recordDifference counts a difference. It also lists each of the first maxListedDifferences
// differences, and repeats its task on the same core and on another core.
func (s *state) recordDifference(ctx context.Context, c *core, t *task, d Difference) {
	c.DifferenceCount++
	s.mu.Lock()
	s.report.DifferenceCount++
	found := s.report.DifferenceCount
	s.mu.Unlock()
	if found > maxListedDifferences {
		return
	}
	other := s.cores[(slices.Index(s.cores, c)+1)%len(s.cores)]
	d.CoreID, d.ISA, d.Kind, d.Size, d.AfterSeconds = c.ID, t.isa, t.kind, t.size, time.Since(s.startTime).Seconds()
	d.OtherCoreID, d.SameCoreRepeats, d.OtherCoreRepeats = other.ID, s.countRepeats(ctx, c, t),
		s.countRepeats(ctx, other, t)
	s.mu.Lock()
	s.report.Differences = append(s.report.Differences, d)
	s.mu.Unlock()
}

// countRepeats repeats a task on a core, and returns the number of repetitions with differences.
func (s *state) countRepeats(ctx context.Context, c *core, t *task) (differs int) {
	got := make([]float32, t.values)
	for range repeatCount {
		if err := c.compute(ctx, s.canPin, t, got); ctx.Err() == nil &&
			(err != nil || len(differingIndices(t.want, got)) > 0) {
			differs++
		}
	}
	return differs
}

func (s *state) finish(ctx context.Context) *Report {
	r := s.report
	r.Seconds, r.Interrupted = time.Since(s.startTime).Seconds(), ctx.Err() != nil
	if together := s.allCoresTime.Seconds(); together > 0 {
		r.SingleCoreFraction = s.singleCoreTime.Seconds() / (s.singleCoreTime.Seconds() + together)
	}
	for _, c := range s.cores {
		r.Cores = append(r.Cores, c.Core)
	}
	return r
}
