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

// Open always returns the same error, also after the thread of the first call has ended and its
// dynamic linker message is freed.
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
