package instrument

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/host"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
)

// Options are the options of [Run].
type Options struct {
	ISA       asm.ISA       // instruction set; default the fastest
	Workers   []int         // numbers of workers; each gives a row per workload
	Pin       bool          // pin workers to CPUs in the order of host.Machine.Order
	Bound     time.Duration // time limit of the rounds
	Workloads []*Workload   // default all
	Program   string        // program version, for the file
	Stage     func(string)  // called with the current stage; default none
}

const (
	precision = 0.02 // required width of the medians' intervals
	minRounds = batches * minBatch
)

// root is the file tree in which the system describes itself.
var root = os.DirFS("/")

// Run measures the workloads in turn, round by round, for at least 24 rounds and until the interval
// of each median is within 2%, or until the time limit. If ctx is done after the first pass, Run
// returns the measurements so far, marked as incomplete, with the cause. A wrong result is an
// error. While Run prepares, it changes the cache sizes of package asm (asm.UseCaches), so no other
// engine may be made.
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
	table, err := asm.For(o.ISA)
	if err != nil {
		return nil, err
	}
	r := &Result{Schema: Schema, Date: time.Now().UTC().Format(time.RFC3339), Program: o.Program, Go: runtime.Version(),
		Machine: host.Describe(root, host.Hypervisor()), ISA: o.ISA, Caches: asm.UsedCaches(), Costs: asm.CostOrigin,
		Pinned: o.Pin, Bound: o.Bound.Seconds()}
	gpu, err := cuda.Probe()
	if r.GPU = gpu.Name + ", driver for CUDA " + gpu.Driver + "; clocks, power limit and ECC unknown"; err != nil {
		r.GPU = err.Error()
	}
	m := &measuring{result: r, order: r.Machine.Order(), pin: o.Pin, table: table}
	if err := m.prepare(ctx, &o); err != nil {
		return nil, err
	}
	defer m.confine(len(m.order))
	err = m.rounds(ctx, &o)
	for i, row := range r.Rows {
		var digest uint64
		if err == nil {
			o.Stage("bits after the rounds")
			digest, err = m.jobs[i].digest(ctx)
		}
		if after := hex(digest); err == nil && after != row.Digest {
			err = fmt.Errorf("%s: the digest is %s after the rounds and was %s before them: expected the same bits; "+
				"soak looks for the core", row, after, row.Digest)
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

// measuring is a running measurement.
type measuring struct {
	result *Result
	order  []host.CPU
	pin    bool
	table  *asm.Kernels
	jobs   []*job    // jobs by row
	others []float64 // CPU seconds of other programs, by row
	took   []float64 // seconds of the passes, by row
	buffer []float32
}

func hex(digest uint64) string { return fmt.Sprintf("%016x", digest) }

//go:embed digests.json
var digestsFile []byte

// KnownDigests are digests of workloads by name, version and instruction set, on amd64 with
// KnownCaches.
var KnownDigests = func() (known map[string]string) {
	if err := json.Unmarshal(digestsFile, &known); err != nil {
		panic(err)
	}
	return known
}()

// KnownCaches are the cache sizes for KnownDigests, because the head, and so the bits, depend on
// them.
var KnownCaches = asm.Caches{L1: 32 << 10, L2: 1 << 20}

// DigestName returns the key of a workload in KnownDigests.
func DigestName(w *Workload, isa asm.ISA) string { return w.String() + "/" + string(isa) }

// KnownDigest computes the digest of a workload with KnownCaches.
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

// prepare makes the rows and checks results.
func (m *measuring) prepare(ctx context.Context, o *Options) error {
	d := newDocuments(slices.Max(o.Workers))
	for _, w := range o.Workloads {
		o.Stage("checking " + w.Name)
		known, err := KnownDigest(ctx, w, o.ISA, d.workers)
		want, have := KnownDigests[DigestName(w, o.ISA)]
		have = have && runtime.GOARCH == "amd64" // on other architectures the compiler may fuse multiply-adds
		if err == nil && have && known != want {
			err = fmt.Errorf("the digest on %s is %s, expected %s as on other machines; "+
				"soak looks for the core", o.ISA, known, want)
		}
		for _, workers := range o.Workers {
			row := &Row{Workload: w.Name, Version: w.Version, Workers: workers, Unit: w.Unit, Known: have,
				RunToRun: w.RunToRun}
			if err == nil {
				err = m.add(ctx, d, w, row)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	m.others, m.took = make([]float64, len(m.jobs)), make([]float64, len(m.jobs))
	m.buffer = make([]float32, MemoryFloats())
	Touch(m.buffer)
	for _, w := range o.Workers {
		m.result.Roofs = append(m.result.Roofs, &Roof{Workers: w})
	}
	return nil
}

// add adds a row, after checking that values are within tolerance, and that the bits don't depend
// on the number of workers.
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
		return fmt.Errorf("a value of %d differs from the reference by %.3g times the tolerance", worst.Values, worst.Part)
	}
	row.Units, row.Error, row.Digest = j.units, worst, hex(digest)
	for _, other := range m.result.Rows {
		if other.Workload == row.Workload && other.Digest != row.Digest {
			return fmt.Errorf("digest %s with %d workers, %s with %d, expected the same bits", other.Digest, other.Workers,
				row.Digest, row.Workers)
		}
	}
	m.jobs, m.result.Rows = append(m.jobs, j), append(m.result.Rows, row)
	return nil
}

// rounds measures until the medians are precise.
func (m *measuring) rounds(ctx context.Context, o *Options) error {
	begin, r := time.Now(), m.result
	roofs := make([][]Bandwidth, len(r.Roofs))
	defer func() {
		for i, roof := range r.Roofs {
			if len(roofs[i]) > 0 {
				roof.Bandwidth = Medians(roofs[i])
			}
		}
	}()
	for ctx.Err() == nil {
		o.Stage(fmt.Sprintf("round %d, %s of at most %s", r.Rounds+1, report.Wait(time.Since(begin)), report.Wait(o.Bound)))
		if r.Rounds < 5 { // enough for roofs, which take as long as all workloads
			probe := &Probe{asm.Best(), m.buffer}
			for i, roof := range r.Roofs {
				m.confine(roof.Workers)
				roof.Peak = max(roof.Peak, probe.Peak(m.table, roof.Workers))
				roofs[i] = append(roofs[i], probe.Bandwidth(roof.Workers))
			}
		}
		precise := true
		for i := range r.Rows {
			if err := m.pass(ctx, i); err != nil {
				return err
			}
			precise = precise && r.Rows[i].Precise
		}
		r.Rounds++
		if took := time.Since(begin); precise && r.Rounds >= minRounds || took+took/time.Duration(r.Rounds) > o.Bound {
			break
		}
	}
	return context.Cause(ctx)
}

// confine restricts the process to as many CPUs as workers, the first in order.
func (m *measuring) confine(workers int) {
	if !m.pin {
		return
	}
	if len(m.order) == 0 { // the system doesn't list CPUs
		m.pin, m.result.Pinned = false, false
		return
	}
	var ids []int
	for _, c := range m.order[:min(workers, len(m.order))] {
		ids = append(ids, c.ID)
	}
	if host.Confine(ids) != nil {
		m.pin, m.result.Pinned = false, false // forbidden in some containers; recorded in the file
	}
}

// pinned runs each worker on a CPU of its own, and counts workers in due.
func (m *measuring) pinned(ctx context.Context, due *dueTime) context.Context {
	return run.OnWorker(ctx, func(w int) func() {
		release := func() {}
		if m.pin {
			release, _ = host.Pin(m.order[w%len(m.order)].ID) // if this fails, the worker is still confined
		}
		due.add(1)
		return func() { due.add(-1); release() }
	})
}

// dueTime sums the CPU time that a pass needs if each worker has a CPU: the time with at most one
// worker, and the time with more workers times their number.
type dueTime struct {
	mu      sync.Mutex
	workers int
	since   time.Time
	seconds float64
}

// add adds workers, or removes them if workers is negative.
func (d *dueTime) add(workers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.seconds += float64(max(d.workers, 1)) * now.Sub(d.since).Seconds()
	d.workers, d.since = d.workers+workers, now
}

// enough is the minimum share of its due CPU time that a pass must get. Otherwise it is repeated once.
const enough = 0.8

// once is a single measurement of a pass.
type once struct {
	mhz, seconds, due float64
	before, after     host.Counters
	did               engine.Stats
}

// short reports whether workers had to wait for CPUs.
func (o *once) short() bool {
	took := o.after.Processor - o.before.Processor
	return o.after.Processor > 0 && took < enough*o.due
}

// once measures a pass of a row.
func (m *measuring) once(ctx context.Context, row *Row, j *job) (o once, err error) {
	o.mhz, _ = meanMHz(m.pinned(ctx, &dueTime{since: time.Now()}), row.Workers)
	runtime.GC() // so that the pass doesn't pay for earlier garbage
	if j.engine != nil {
		o.did = j.engine.Stats()
	}
	o.before = host.ReadCounters(root)
	begin := time.Now()
	due := &dueTime{since: begin}
	if err := j.pass(m.pinned(ctx, due)); err != nil {
		return o, fmt.Errorf("%s: %w", row, err)
	}
	o.seconds = max(time.Since(begin).Seconds(), 1e-9)
	due.add(0)
	o.due, o.after = due.seconds, host.ReadCounters(root)
	if j.engine != nil {
		o.did = j.engine.Stats().Sub(o.did)
	}
	return o, nil
}

// pass measures a row. It repeats the measurement once if workers had to wait for CPUs.
func (m *measuring) pass(ctx context.Context, i int) error {
	row, j := m.result.Rows[i], m.jobs[i]
	m.confine(row.Workers)
	o, err := m.once(ctx, row, j)
	if err == nil && o.short() {
		if o, err = m.once(ctx, row, j); o.short() {
			row.Short++
		}
	}
	if err != nil {
		return err
	}
	if o.mhz > 0 {
		row.MHz = append(row.MHz, o.mhz)
	}
	seconds, before, after := o.seconds, o.before, o.after
	row.Seconds, m.took[i] = append(row.Seconds, seconds), m.took[i]+seconds
	if row.Others = -1; after.Load != nil && before.Load != nil {
		m.others[i] += after.Load.Others(*before.Load)
		row.Others = max(m.others[i]/m.took[i], 0)
	}
	if after.Processor > 0 {
		row.Processor = append(row.Processor, after.Processor-before.Processor)
	}
	if j.engine != nil {
		work := NewWork(o.did, m.table.Panel, 0, 0)
		row.Work = &work
	}
	row.Rate = medianOf(row.rates())
	row.Precise = row.Rate.within(precision, len(row.Seconds))
	return nil
}

// meanMHz returns the mean frequency of the workers' cores when all of them are busy.
func meanMHz(ctx context.Context, workers int) (mean float64, known bool) {
	all := make([]float64, workers)
	err := run.Tasks(ctx, workers, workers, func(_ context.Context, _, task int) error {
		all[task], _ = host.MHz()
		return nil
	})
	mean = stat.Mean(all, nil)
	return mean, err == nil && mean > 0
}
