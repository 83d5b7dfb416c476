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
	ISA       asm.ISA       // instruction set; default the fastest
	Workers   []int         // numbers of workers; the result has a row per workload and number of workers
	Bound     time.Duration // time limit of the rounds
	Workloads []*Workload   // workloads to measure; default all
	Stage     func(string)  // called with the current stage; default none
}

const (
	precision = 0.02 // maximum relative distance of a confidence interval's ends from the median
	minRounds = 24
)

// Run measures the workloads in rounds. It stops after at least 24 rounds when each confidence
// interval is within 2% of its median, or at the time limit. If ctx is done after the first pass,
// Run returns the measurements so far, marked as incomplete, with the cause. A wrong result is an
// error. While Run prepares, it changes the cache sizes of package asm (asm.UseCaches), so no other
// engine may be made at that time.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Stage == nil {
		o.Stage = func(string) {}
	}
	if o.Workloads == nil {
		o.Workloads = Workloads
	}
	if o.ISA == "" {
		o.ISA = asm.Best().ISA
	}
	r := &Result{ISA: o.ISA}
	m := &measuring{result: r}
	if err := m.prepare(ctx, &o); err != nil {
		return nil, err
	}
	err := m.rounds(ctx, &o)
	for i, row := range r.Rows {
		var digest uint64
		if err == nil {
			o.Stage("bits after the rounds")
			digest, err = m.jobs[i].digest(ctx)
		}
		if after := hex(digest); err == nil && after != row.Digest {
			err = fmt.Errorf("%s: digest changed during the rounds, from %s to %s; run grambench soak to find the faulty core",
				row, row.Digest, after)
		}
	}
	if ctx.Err() != nil {
		err, r.Partial = context.Cause(ctx), true
		r.Rows = slices.DeleteFunc(r.Rows, func(row *Row) bool { return len(row.Seconds) == 0 })
	}
	if err != nil && (!r.Partial || len(r.Rows) == 0) {
		return nil, err
	}
	return r, err
}

type measuring struct {
	result *Result
	jobs   []*job // prepared workloads, one per row
}

func hex(digest uint64) string { return fmt.Sprintf("%016x", digest) }

//go:embed digests.json
var digestsFile []byte

// KnownDigests maps each DigestName (name, version, instruction set) to its digest, on amd64 with
// KnownCaches.
var KnownDigests = func() (known map[string]string) {
	if err := json.Unmarshal(digestsFile, &known); err != nil {
		panic(err)
	}
	return known
}()

// KnownCaches are the cache sizes for KnownDigests. Cache sizes determine which terms are in the
// head, and so the rounding.
var KnownCaches = asm.Caches{L1: 32 << 10, L2: 1 << 20}

// DigestName returns the key of a workload in KnownDigests.
func DigestName(w *Workload, isa asm.ISA) string { return w.String() + "/" + string(isa) }

// KnownDigest computes the digest of a workload with the cache sizes KnownCaches.
func KnownDigest(ctx context.Context, w *Workload, isa asm.ISA, workers int) (string, error) {
	own := asm.UsedCaches()
	asm.UseCaches(KnownCaches)
	defer asm.UseCaches(own)
	j, err := w.prepare(ctx, newDocuments(workers), setting{isa, workers})
	if err != nil {
		return "", err
	}
	digest, err := j.digest(ctx)
	return hex(digest), err
}

// prepare prepares the workloads, checks their results, and adds the rows.
func (m *measuring) prepare(ctx context.Context, o *Options) error {
	d := newDocuments(slices.Max(o.Workers))
	for _, w := range o.Workloads {
		o.Stage("checking " + w.Name)
		known, err := KnownDigest(ctx, w, o.ISA, d.workers)
		want, have := KnownDigests[DigestName(w, o.ISA)]
		have = have && runtime.GOARCH == "amd64" // on other architectures the compiler may fuse multiply-adds
		if err == nil && have && known != want {
			err = fmt.Errorf("digest on %s is %s, but must be %s as on other computers; "+
				"run grambench soak to find the faulty core", o.ISA, known, want)
		}
		for _, workers := range o.Workers {
			row := &Row{Workload: w.Name, Version: w.Version, Workers: workers, Unit: w.Unit, Known: have}
			if err == nil {
				err = m.add(ctx, d, w, row)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return nil
}

// add adds a row, after checking that errors are within tolerance and that the digest doesn't
// depend on the number of workers.
func (m *measuring) add(ctx context.Context, d *documents, w *Workload, row *Row) error {
	j, err := w.prepare(ctx, d, setting{m.result.ISA, row.Workers})
	if err != nil {
		return err
	}
	digest, err := j.digest(ctx)
	worst, err2 := j.worst(ctx)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !(worst.Part <= 1) {
		return fmt.Errorf("the largest error of %d values is %.3g times the tolerance", worst.Values, worst.Part)
	}
	row.Units, row.Error, row.Digest = j.units, worst, hex(digest)
	for _, other := range m.result.Rows {
		if other.Workload == row.Workload && other.Digest != row.Digest {
			return fmt.Errorf("results depend on -workers: digest %s with %d, but %s with %d", other.Digest, other.Workers,
				row.Digest, row.Workers)
		}
	}
	m.jobs, m.result.Rows = append(m.jobs, j), append(m.result.Rows, row)
	return nil
}

// rounds measures until the medians are precise.
func (m *measuring) rounds(ctx context.Context, o *Options) error {
	begin, r := time.Now(), m.result
	for ctx.Err() == nil {
		o.Stage(fmt.Sprintf("round %d, %s of at most %s", r.Rounds+1, report.Wait(time.Since(begin)), report.Wait(o.Bound)))
		precise := true
		for i, row := range r.Rows {
			if err := row.measure(ctx, m.jobs[i]); err != nil {
				return err
			}
			precise = precise && row.Precise
		}
		r.Rounds++
		if took := time.Since(begin); precise && r.Rounds >= minRounds || took+took/time.Duration(r.Rounds) > o.Bound {
			break
		}
	}
	return context.Cause(ctx)
}

// measure runs a pass of the job and adds its time to the row.
func (r *Row) measure(ctx context.Context, j *job) error {
	runtime.GC() // otherwise the pass would collect earlier garbage
	begin := time.Now()
	if err := j.pass(ctx); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	r.Seconds = append(r.Seconds, max(time.Since(begin).Seconds(), 1e-9))
	r.Rate = medianOf(r.rates())
	r.Precise = r.Rate.within(precision, len(r.Seconds))
	return nil
}
