//go:build cuda && cgo && linux

package cuda

import (
	"cmp"
	"errors"
	"slices"

	"gorgonia.org/cu"
)

// timesVariable is the environment variable that turns on kernel timing if set to 1.
const timesVariable = "GRAM_CUDA_TIMES"

// times sums the durations of kernels and copies per name. Events before and after each launch
// measure its duration. Device.mu guards all fields.
type times struct {
	on      bool
	spare   []cu.Event
	running []launched
	sum     map[string]KernelTime
}

// launched is work that was started on a stream and is not yet in the sums.
type launched struct {
	name          string
	before, after cu.Event
}

// around calls start, which starts work on a stream. If timing is on, it records events before and
// after the work.
func (t *times) around(name string, stream cu.Stream, start func() error) error {
	if !t.on {
		return start()
	}
	before, err := t.record(stream)
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		t.spare = append(t.spare, before)
		return err
	}
	after, err := t.record(stream)
	if err != nil {
		t.spare = append(t.spare, before)
		return err
	}
	t.running = append(t.running, launched{name, before, after})
	return nil
}

// record records an unused event, or a new event, on a stream.
func (t *times) record(stream cu.Stream) (cu.Event, error) {
	if len(t.spare) == 0 {
		e, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return e, failed("cuEventCreate", err)
		}
		t.spare = append(t.spare, e)
	}
	last := len(t.spare) - 1
	e := t.spare[last]
	if err := e.Record(stream); err != nil {
		return e, failed("cuEventRecord", err) // the event stays unused
	}
	t.spare = t.spare[:last]
	return e, nil
}

// collect waits for the started work and adds its durations to the sums.
func (t *times) collect() (err error) {
	for _, l := range t.running {
		t.spare = append(t.spare, l.before, l.after)
		if err != nil {
			continue
		}
		if e := l.after.Synchronize(); e != nil {
			err = failed("cuEventSynchronize", e)
			continue
		}
		milliseconds, e := l.before.Elapsed(l.after)
		if e != nil {
			err = failed("cuEventElapsedTime", e)
			continue
		}
		if t.sum == nil {
			t.sum = map[string]KernelTime{}
		}
		s := t.sum[l.name]
		t.sum[l.name] = KernelTime{l.name, s.Launches + 1, s.Seconds + milliseconds/1e3}
	}
	t.running = t.running[:0]
	return err
}

// drop discards started work: its durations aren't added to the sums, and its events can be reused.
func (t *times) drop() {
	for _, l := range t.running {
		t.spare = append(t.spare, l.before, l.after)
	}
	t.running = t.running[:0]
}

func (t *times) close() (err error) {
	t.drop()
	for i := range t.spare {
		err = errors.Join(err, failed("cuEventDestroy", cu.DestroyEvent(&t.spare[i])))
	}
	t.spare = nil
	return err
}

// KernelTimes returns the total time per kernel since the device was opened, in descending order.
// Without GRAM_CUDA_TIMES=1 it returns nil. It waits for a computation in progress. Failed
// computations aren't counted.
func (d *Device) KernelTimes() []KernelTime {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []KernelTime
	for _, k := range d.times.sum {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b KernelTime) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Kernel, b.Kernel))
	})
	return all
}
