//go:build cuda && cgo && linux

package cuda

import (
	"cmp"
	"errors"
	"slices"

	"gorgonia.org/cu"
)

// timingVariable is the environment variable that turns on kernel timing if set to 1.
const timingVariable = "GRAM_CUDA_TIMES"

// kernelTimer sums the durations of kernels and copies per name. Events before and after each
// launch measure its duration. Device.mu guards all fields.
type kernelTimer struct {
	enabled    bool
	freeEvents []cu.Event
	pending    []pendingLaunch
	totals     map[string]KernelTime
}

type pendingLaunch struct {
	name          string
	before, after cu.Event
}

// measure calls start, which starts work on the stream. If timing is on, it records events before
// and after the work.
func (t *kernelTimer) measure(name string, stream cu.Stream, start func() error) error {
	if !t.enabled {
		return start()
	}
	before, err := t.record(stream)
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		t.freeEvents = append(t.freeEvents, before)
		return err
	}
	after, err := t.record(stream)
	if err != nil {
		t.freeEvents = append(t.freeEvents, before)
		return err
	}
	t.pending = append(t.pending, pendingLaunch{name, before, after})
	return nil
}

// record records an unused event, or a new event, on a stream.
func (t *kernelTimer) record(stream cu.Stream) (cu.Event, error) {
	if len(t.freeEvents) == 0 {
		e, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return e, driverError("cuEventCreate", err)
		}
		t.freeEvents = append(t.freeEvents, e)
	}
	last := len(t.freeEvents) - 1
	e := t.freeEvents[last]
	if err := e.Record(stream); err != nil {
		return e, driverError("cuEventRecord", err) // the event stays unused
	}
	t.freeEvents = t.freeEvents[:last]
	return e, nil
}

// collect waits for the started work and adds its durations to the sums.
func (t *kernelTimer) collect() (err error) {
	for _, l := range t.pending {
		t.freeEvents = append(t.freeEvents, l.before, l.after)
		if err != nil {
			continue
		}
		if e := l.after.Synchronize(); e != nil {
			err = driverError("cuEventSynchronize", e)
			continue
		}
		milliseconds, e := l.before.Elapsed(l.after)
		if e != nil {
			err = driverError("cuEventElapsedTime", e)
			continue
		}
		if t.totals == nil {
			t.totals = map[string]KernelTime{}
		}
		s := t.totals[l.name]
		t.totals[l.name] = KernelTime{l.name, s.Launches + 1, s.Seconds + milliseconds/1e3}
	}
	t.pending = t.pending[:0]
	return err
}

// discard discards started work: its durations aren't added to the sums, and its events can be
// reused.
func (t *kernelTimer) discard() {
	for _, l := range t.pending {
		t.freeEvents = append(t.freeEvents, l.before, l.after)
	}
	t.pending = t.pending[:0]
}

func (t *kernelTimer) close() (err error) {
	t.discard()
	for i := range t.freeEvents {
		err = errors.Join(err, driverError("cuEventDestroy", cu.DestroyEvent(&t.freeEvents[i])))
	}
	t.freeEvents = nil
	return err
}

// KernelTimes returns the total time per kernel since the device was opened, in descending order of
// time. Without GRAM_CUDA_TIMES=1 it returns nil. It waits for a computation in progress. Failed
// computations aren't counted.
func (d *Device) KernelTimes() []KernelTime {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []KernelTime
	for _, k := range d.timer.totals {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b KernelTime) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Kernel, b.Kernel))
	})
	return all
}
