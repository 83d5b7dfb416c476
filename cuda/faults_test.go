//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// path is a use of a device with n documents, which may be repeated.
type path struct {
	name string
	n    int
	set  func(*Device)
	use  func(cols *columns) (work func() (any, error))
}

// begin prepares the path. It returns the work, and a function that frees all resources.
func (p *path) begin(t *testing.T) (work func() (any, error), end func() error, err error) {
	if p.n == 0 {
		return func() (any, error) { return Probe() }, func() error { return nil }, nil
	}
	var taken []func() error
	giveBack := func() (err error) {
		for _, f := range slices.Backward(taken) {
			err = errors.Join(err, f())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, giveBack())
		}
	}()
	d, err := Open(Options{})
	if err != nil {
		return nil, nil, err
	}
	taken = append(taken, d.Close)
	d.bufferBytes.Store(16 << 10)
	p.set(d)
	cols, err := d.Load(context.Background(), embedded(t, zipf(p.n, 100, 8, 3)))
	if err != nil {
		return nil, nil, err
	}
	taken = append(taken, cols.Close)
	return p.use(cols.(*columns)), giveBack, nil
}

// values returns the values of the requests' rows.
func values(cols *columns, requests ...*device.Request) (all []float32, err error) {
	for _, r := range requests {
		err := cols.ComputeRows(context.Background(), r, func(b *device.Tile) error {
			for i := range b.Rows {
				all = append(all, b.Row(i)...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rooted is c times the square root of a norm.
var rooted = &device.Program{
	Instructions: ops(device.OpC, device.OpX, device.OpMul),
	Attributes:   []func(float64) float64{math.Sqrt},
}

// paths returns the uses of a device: rows and their reductions.
func paths(t *testing.T) []path {
	return []path{
		{name: "probe"},
		// rows of the documents, and twice rows of other documents
		{"rows", 70, func(*Device) {}, func(cols *columns) func() (any, error) {
			y := musttest.Get(cols.x.Embedder.Transform(zipf(70, 100, 8, 4)))(t)
			return func() (any, error) {
				return values(cols, &device.Request{RowIndices: run.Range(0, 70), Hi: 70},
					&device.Request{Program: rooted, RowDocuments: y, RowIndices: run.Range(0, 70), Hi: 70},
					&device.Request{Program: rooted, RowDocuments: y, RowIndices: []int{3, 5}, Hi: 70})
			}
		}},
		{"times", 20, func(d *Device) { d.timer.enabled = true }, func(cols *columns) func() (any, error) {
			return func() (any, error) {
				_, err := values(cols, &device.Request{RowIndices: run.Range(0, 20), Hi: 20})
				return len(cols.d.KernelTimes()), err
			}
		}},
		// few documents, because matrix products are slow on the fake device
		{"tensor", 9, func(d *Device) { d.denseShare = everyTerm }, func(cols *columns) func() (any, error) {
			if cols.layout.dense == 0 {
				t.Error("no term is in the dense end")
			}
			return func() (any, error) { return values(cols, &device.Request{RowIndices: []int{2, 8}, Hi: 9}) }
		}},
		{"reduce", 90, func(d *Device) { d.tileRows = 40 }, func(cols *columns) func() (any, error) {
			return func() (any, error) {
				r := &device.Request{Program: rooted, RowIndices: run.Range(0, 90), Hi: 90}
				value, sum, by := make([]float32, 2*90), make([]float64, 90), slices.Repeat([]float64{1}, 90)
				digest, err := cols.Digest(context.Background(), r)
				return []any{digest, value, sum}, errors.Join(err,
					cols.FindSmallest(context.Background(), r, 2, make([]int32, 2*90), value),
					cols.Multiply(context.Background(), r, by, 1, sum))
			}
		}},
	}
}

// driverFunctions returns the functions of the fake driver, except cuInit, which is called once,
// and functions that no computation calls.
func driverFunctions(t *testing.T) []string {
	text := musttest.Get(os.ReadFile(filepath.Join("internal", "fake", "driver.cc")))(t)
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^API (cu\w+)\(`).FindAllSubmatch(text, -1) {
		if name := string(m[1]); name != "cuInit" && name != "cuGetErrorName" {
			all = append(all, name)
		}
	}
	return all
}

// counted returns how often the function that FAKE_FAIL names was called since it was set, and how
// often it failed.
func counted(t *testing.T) (calls, failures int) {
	t.Helper()
	musttest.NoError(t, driver.Open())
	calls = musttest.Get(cu.Device(0).Attribute(attributeCalls))(t)
	failures = musttest.Get(cu.Device(0).Attribute(attributeFailures))(t)
	return calls, failures
}

// attempt runs a path once and returns its results. If the work fails and again is set, it repeats
// the work with a driver that doesn't fail.
func (p *path) attempt(t *testing.T, again bool) (first, second any, failures int, err error) {
	work, end, err := p.begin(t)
	if err == nil {
		first, err = work()
		if err != nil && again {
			_, failures = counted(t)
			t.Setenv("FAKE_FAIL", "")
			var e error
			if second, e = work(); e != nil {
				t.Errorf("again on the same device: error %v", e)
			}
		}
		err = errors.Join(err, end())
	}
	if second == nil {
		_, failures = counted(t)
	}
	return first, second, failures, err
}

// everyCall is the maximum number of calls of a function for which each call is made to fail; with
// -short, only some calls are.
const everyCall = 50

// hold makes calls of each driver function fail that the path calls: each call if there are at most
// everyCall, otherwise the first, the second and some later calls. A call fails alone or with all
// following calls. hold checks that the error names the function, that nothing leaks, and that the
// process continues: after a single failure the work has the correct result on the same device,
// otherwise the whole path has it. It returns the called functions.
func (p *path) hold(t *testing.T) map[string]bool {
	called := map[string]bool{}
	for _, call := range driverFunctions(t) {
		t.Setenv("FAKE_FAIL", call+":0:0") // counts
		want, _, _, err := p.attempt(t, false)
		musttest.NoError(t, err)
		most, _ := counted(t)
		if most == 0 {
			continue
		}
		called[call] = true
		places := []int{1, min(2, most), (most + 1) / 2, most}
		if !testing.Short() {
			places = append(places, min(3, most), (most+3)/4, (3*most+3)/4, max(most-1, 1))
			for at := 1; at <= most && most <= everyCall; at++ {
				places = append(places, at)
			}
		}
		slices.Sort(places)
		for _, at := range slices.Compact(places) {
			for _, mode := range []string{"", ":once"} {
				if call == "cuCtxSetCurrent" && mode == "" && at > 1 {
					continue // then resources can't be freed
				}
				t.Run(fmt.Sprintf("path=%s/call=%s/at=%dof%d%s", p.name, call, at, most, mode), func(t *testing.T) {
					noLeaks(t)
					t.Setenv("FAKE_FAIL", fmt.Sprintf("%s:%d:%d%s", call, at, cu.LaunchFailed, mode))
					_, second, failures, err := p.attempt(t, mode != "")
					if failures == 0 {
						t.Error("nothing failed")
					}
					if failure := (*DeviceError)(nil); !errors.As(err, &failure) {
						t.Errorf("error %v, expected a Failure", err)
					}
					musttest.WantError(err)(t, call, strings.TrimSuffix(call, "_v2"))
					if second != nil && !reflect.DeepEqual(second, want) {
						t.Error("again on the same device: another result")
					}
					t.Setenv("FAKE_FAIL", "")
					if second != nil {
						return
					}
					got, _, _, err := p.attempt(t, false)
					if same := reflect.DeepEqual(got, want); err != nil || !same {
						t.Errorf("again on a new device: error %v, another result: %v", err, !same)
					}
				})
			}
		}
	}
	return called
}

// If any driver call for rows or reductions fails, the caller gets an error, without other effects.
func TestErrors(t *testing.T) {
	called := map[string]bool{}
	for _, p := range paths(t) {
		maps.Copy(called, p.hold(t))
	}
	for _, call := range driverFunctions(t) {
		if !called[call] {
			t.Errorf("no path calls %s", call)
		}
	}
}

// A temporary lack of memory leads to smaller tiles or an error, and all values are correct.
func TestPassingLackOfMemory(t *testing.T) {
	tried := map[string]int{}
	for _, p := range paths(t) {
		if p.n == 0 || p.name == "times" {
			continue
		}
		for _, call := range []string{"cuMemAlloc_v2", "cuMemHostAlloc"} {
			t.Setenv("FAKE_FAIL", call+":0:0")
			want, _, _, err := p.attempt(t, false)
			musttest.NoError(t, err)
			most, _ := counted(t)
			tried[call] += most
			for at := 1; at <= most; at++ {
				t.Run(fmt.Sprintf("path=%s/call=%s/at=%d", p.name, call, at), func(t *testing.T) {
					noLeaks(t)
					t.Setenv("FAKE_FAIL", fmt.Sprintf("%s:%d:%d:once", call, at, cu.OutOfMemory))
					first, second, failures, err := p.attempt(t, true)
					if failures == 0 {
						t.Error("nothing failed")
					}
					got := first
					if err != nil {
						got = second
						if !errors.Is(err, cu.OutOfMemory) ||
							!strings.Contains(err.Error(), strings.TrimSuffix(call, "_v2")) {
							t.Errorf("error %v, want one of memory with the name of the call", err)
						}
					}
					if got != nil && !reflect.DeepEqual(got, want) {
						t.Errorf("error %v and another result", err)
					}
				})
			}
		}
	}
	if tried["cuMemAlloc_v2"] == 0 || tried["cuMemHostAlloc"] == 0 {
		t.Errorf("calls tried: %v, want some of each", tried)
	}
}
