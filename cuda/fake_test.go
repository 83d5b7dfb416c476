//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
	"github.com/gramengine/gram/internal/musttest"
)

// environment is the variable that selects the driver: "real" for the GPU's driver, set by the
// user, and "fake" for the fake driver, set by the tests.
const environment = "GRAM_CUDA"

func onRealDevice() bool { return os.Getenv(environment) == "real" }

// TestMain builds the fake driver and runs the tests in a new process that loads it, because the
// library path is fixed when a process starts.
func TestMain(m *testing.M) {
	if os.Getenv(environment) != "" {
		os.Exit(m.Run())
	}
	os.Exit(inFake())
}

func inFake() int {
	dir, err := os.MkdirTemp("", "fake-cuda")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("g++", "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC",
		filepath.Join("internal", "fake", "driver.cc"), "-o", filepath.Join(dir, "libcuda.so.1"))
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the fake driver: %v\n%s", err, text)
		return 1
	}
	self := exec.Command(os.Args[0], os.Args[1:]...)
	self.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir+":"+os.Getenv("LD_LIBRARY_PATH"), environment+"=fake")
	self.Stdin, self.Stdout, self.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := self.Run(); err != nil {
		return 1
	}
	return 0
}

// Attributes of the fake device: the number of resources not yet freed, and the numbers of calls
// and failures of the function that FAKE_FAIL names, since it was set.
const (
	liveDevice cu.DeviceAttribute = 1000 + iota
	liveHost
	liveHandles
	liveContexts
	attributeCalls
	attributeFailures
	allocations cu.DeviceAttribute = 2001 // per allocation: low and high word of its address, and its bytes
)

// noLeaks checks at the end of a test that all resources are freed and no goroutine is left.
func noLeaks(t *testing.T) {
	t.Helper()
	if onRealDevice() {
		return // a real driver doesn't count
	}
	goroutines := runtime.NumGoroutine()
	t.Cleanup(func() {
		// a goroutine that has done its work may still be ending
		for wait := time.Millisecond; runtime.NumGoroutine() > goroutines; wait *= 2 {
			if wait > time.Minute {
				t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
				break
			}
			time.Sleep(wait)
		}
		musttest.NoError(t, driver.Open())
		t.Setenv("FAKE_FAIL", "")
		d := musttest.Get(cu.GetDevice(0))(t)
		for a, what := range map[cu.DeviceAttribute]string{
			liveDevice: "allocations of the device", liveHost: "page-locked allocations",
			liveHandles: "modules, streams and events", liveContexts: "contexts",
		} {
			if n, err := d.Attribute(a); n != 0 || err != nil {
				t.Errorf("%d %s are left, error %v", n, what, err)
			}
		}
	})
}

// readSources reads the sources of the fake driver, so that the go command doesn't reuse test
// results for other sources.
var readSources = sync.OnceFunc(func() {
	for _, pattern := range []string{"kernels/*", "internal/fake/*"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			_, _ = os.ReadFile(f)
		}
	}
})

// open opens a device whose tail has the terms of few documents, so that test documents have both a
// head and a tail.
func open(t *testing.T, opt Options) *Device {
	t.Helper()
	readSources()
	d := musttest.Get(Open(opt))(t)
	d.tailShare = 128
	return d
}

// openTiled opens a device whose tiles have at most the given size in bytes.
func openTiled(t *testing.T, bytes int, opt Options) *Device {
	t.Helper()
	d := open(t, opt)
	d.bufferBytes.Store(int64(bytes))
	return d
}
