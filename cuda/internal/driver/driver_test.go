//go:build cuda && cgo && linux

package driver

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Why there is no driver is the same whenever it is asked for, also after the end of the thread
// that looked for one, which takes the dynamic linker's own words with it.
func TestReasonStays(t *testing.T) {
	first := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if syscall.Gettid() != os.Getpid() {
			first <- Open()
			return
		}
		go func() { // the process's first thread never ends
			runtime.LockOSThread()
			first <- Open()
		}()
		time.Sleep(time.Second / 10)
	}()
	err := <-first
	if err == nil {
		t.Skip("there is a driver")
	}
	if !strings.HasPrefix(err.Error(), "no CUDA driver: libcuda.so.1: ") {
		t.Skipf("a driver without a device: %v", err)
	}
	for range 50 {
		time.Sleep(time.Millisecond)
		if again := Open(); again == nil || again.Error() != err.Error() {
			t.Fatalf("found %q, expected %q", again, err)
		}
	}
}
