package instrument

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/report"
)

// Options are the options of [Run].
type Options struct {
	ISA          asm.ISA       // instruction set; default the fastest
	WorkerCounts []int         // numbers of workers; the result has a row per workload and number of workers
	TimeLimit    time.Duration // time limit of the rounds
	Workloads    []*Workload   // workloads to measure; default all
	OnStage      func(string)  // called with the current stage; default none
}

const (
	intervalTolerance = 0.02 // maximum relative distance of a confidence interval's ends from the median
	minRounds         = 24
)

// Run measures the workloads in rounds. It stops after at least 24 rounds when each confidence
// interval is within 2% of its median, or at the time limit. If ctx is done after the first pass,
// Run returns the measurements so far, marked as incomplete, with the cause. A wrong result is an
// error. During its preparation, Run changes the cache sizes of package asm ([asm.SetCaches]), so
// no other engine may be made at that time.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.OnStage == nil {
		o.OnStage = func(string) {}
	}
	if o.Workloads == nil {
		o.Workloads = Workloads
	}
	if o.ISA == "" {
		o.ISA = asm.BestKernels().ISA
	}
	r := &Result{ISA: o.ISA}
	m := &measurement{result: r}
	if err := m.prepare(ctx, &o); err != nil {
		return nil, err
	}
	err := m.runRounds(ctx, &o)
	for i, row := range r.Rows {
		var digest uint64
		if err == nil {
			o.OnStage("bits after the rounds")
			digest, err = m.jobs[i].digest(ctx)
		}
		if after := formatDigest(digest); err == nil && after != row.Digest {
			err = fmt.Errorf("%s: digest changed during the rounds, from %s to %s; run grambench soak to find the faulty core",
				row, row.Digest, after)
		}
	}
	if ctx.Err() != nil {
		err, r.Incomplete = context.Cause(ctx), true
		r.Rows = slices.DeleteFunc(r.Rows, func(row *Row) bool { return len(row.Seconds) == 0 })
	}
	if err != nil && (!r.Incomplete || len(r.Rows) == 0) {
		return nil, err
	}
	return r, err
}

type measurement struct {
	result *Result
	jobs   []*job // prepared workloads, one per row
}

func formatDigest(digest uint64) string { return fmt.Sprintf("%016x", digest) }

//go:embed digests.json
var digestsFile []byte

// KnownDigests maps each DigestName (name, version, instruction set) to its digest, on amd64 with
// ReferenceCaches.
var KnownDigests = func() (known map[string]string) {
	if err := json.Unmarshal(digestsFile, &known); err != nil {
		panic(err)
	}
	return known
}()

// ReferenceCaches are the cache sizes for KnownDigests. Cache sizes determine which terms an engine
// puts in the head of its documents, and so the rounding.
var ReferenceCaches = asm.Caches{L1: 32 << 10, L2: 1 << 20}

// DigestName returns the key of a workload in KnownDigests.
func DigestName(w *Workload, isa asm.ISA) string { return w.String() + "/" + string(isa) }

// ComputeDigest computes the digest of a workload with the cache sizes ReferenceCaches.
func ComputeDigest(ctx context.Context, w *Workload, isa asm.ISA, workers int) (string, error) {
	own := asm.CurrentCaches()
	asm.SetCaches(ReferenceCaches)
	defer asm.SetCaches(own)
	j, err := w.prepare(ctx, newDocumentCache(workers), setting{isa, workers})
	if err != nil {
		return "", err
	}
	digest, err := j.digest(ctx)
	return formatDigest(digest), err
}

// prepare prepares workloads, checks their results, and adds a row per workload and worker count.
func (m *measurement) prepare(ctx context.Context, o *Options) error {
	d := newDocumentCache(slices.Max(o.WorkerCounts))
	for _, w := range o.Workloads {
		o.OnStage("checking " + w.Name)
		known, err := ComputeDigest(ctx, w, o.ISA, d.workers)
		want, have := KnownDigests[DigestName(w, o.ISA)]
		have = have && runtime.GOARCH == "amd64" // on other architectures the compiler may fuse multiply-adds
		if err == nil && have && known != want {
			err = fmt.Errorf("digest with %s is %s, but must be %s as on other computers; "+
				"run grambench soak to find the faulty core", o.ISA, known, want)
		}
		for _, workers := range o.WorkerCounts {
			row := &Row{Workload: w.Name, Version: w.Version, Workers: workers, Unit: w.Unit, HasKnownDigest: have}
			if err == nil {
				err = m.addRow(ctx, d, w, row)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return nil
}

// addRow adds a row, after checking that errors are within tolerance and that the digest doesn't
// depend on the number of workers.
func (m *measurement) addRow(ctx context.Context, d *documentCache, w *Workload, row *Row) error {
	j, err := w.prepare(ctx, d, setting{m.result.ISA, row.Workers})
	if err != nil {
		return err
	}
	digest, err := j.digest(ctx)
	worst, err2 := j.maxError(ctx)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !(worst.ToleranceRatio <= 1) {
		return fmt.Errorf("the largest error of %d values is %.3g times the tolerance", worst.ValueCount,
			worst.ToleranceRatio)
	}
	row.UnitCount, row.Error, row.Digest = j.unitCount, worst, formatDigest(digest)
	for _, other := range m.result.Rows {
		if other.Workload == row.Workload && other.Digest != row.Digest {
			return fmt.Errorf("results depend on -workers: digest %s with %d workers, but %s with %d", other.Digest,
				other.Workers, row.Digest, row.Workers)
		}
	}
	m.jobs, m.result.Rows = append(m.jobs, j), append(m.result.Rows, row)
	return nil
}

// runRounds measures until the medians are precise or the time limit is reached.
func (m *measurement) runRounds(ctx context.Context, o *Options) error {
	begin, r := time.Now(), m.result
	for ctx.Err() == nil {
		o.OnStage(fmt.Sprintf("round %d, %s of at most %s", r.Rounds+1, report.FormatWait(time.Since(begin)),
			report.FormatWait(o.TimeLimit)))
		precise := true
		for i, row := range r.Rows {
			if err := row.measure(ctx, m.jobs[i]); err != nil {
				return err
			}
			precise = precise && row.IsPrecise
		}
		r.Rounds++
		if took := time.Since(begin); precise && r.Rounds >= minRounds || took+took/time.Duration(r.Rounds) > o.TimeLimit {
			break
		}
	}
	return context.Cause(ctx)
}

func (r *Row) measure(ctx context.Context, j *job) error {
	runtime.GC() // otherwise the pass would collect earlier garbage
	begin := time.Now()
	if err := j.pass(ctx); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	r.Seconds = append(r.Seconds, max(time.Since(begin).Seconds(), 1e-9))
	r.Rate = medianOf(r.rates())
	r.IsPrecise = r.Rate.isWithin(intervalTolerance, len(r.Seconds))
	return nil
}
