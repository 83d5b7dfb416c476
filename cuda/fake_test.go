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

// environment says which driver the dynamic linker finds: "real" for that of a GPU, which whoever
// runs the tests sets, and "fake" for that of the tests, which they set themselves.
const environment = "GRAM_CUDA"

func onRealDevice() bool { return os.Getenv(environment) == "real" }

// TestMain builds the fake driver and runs the tests in a process that finds it: where libraries
// are looked for is settled when a process starts.
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

// Attributes of the fake device that count what hasn't been given back, and calls of the function
// that FAKE_FAIL names since it was set, and how many of them failed.
const (
	liveDevice cu.DeviceAttribute = 1000 + iota
	liveHost
	liveHandles
	liveContexts
	attributeCalls
	attributeFailures
	allocations cu.DeviceAttribute = 2001 // of each in turn its address, low and high, and its bytes
)

// noLeaks holds at the end of a test that all has been given back, and that no goroutine goes on.
func noLeaks(t *testing.T) {
	t.Helper()
	if onRealDevice() {
		return // it doesn't count
	}
	goroutines := runtime.NumGoroutine()
	t.Cleanup(func() {
		// one that has done its work may still be ending
		for wait := time.Millisecond; runtime.NumGoroutine() > goroutines; wait *= 2 {
			if wait > time.Minute {
				t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
				break
			}
			time.Sleep(wait)
		}
		musttest.Do(t, driver.Open())
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

// readSources tells the go command what the fake driver is made of, so that a test isn't taken as
// passed that ran on another one.
var readSources = sync.OnceFunc(func() {
	for _, pattern := range []string{"kernels/*", "internal/fake/*"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			_, _ = os.ReadFile(f)
		}
	}
})

// open opens a device whose tail has the terms of few documents, so that those of tests have both a
// head and a tail.
func open(t *testing.T, opt Options) *Device {
	t.Helper()
	readSources()
	d := musttest.Get(Open(opt))(t)
	d.tailShare = 128
	return d
}

// openTiled opens one whose tiles have no more bytes.
func openTiled(t *testing.T, bytes int, opt Options) *Device {
	t.Helper()
	d := open(t, opt)
	d.tile.Store(int64(bytes))
	return d
}
