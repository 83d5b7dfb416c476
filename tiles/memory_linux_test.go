package tiles

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gramengine/gram/internal/musttest"
)

// The kernel has recorded the request: the mapping with the middle of the values has the flag hg.
func TestMakeAsksForLargePages(t *testing.T) {
	probe := musttest.Get(syscall.Mmap(-1, 0, 2*hugePage, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE))(t)
	defer func() { _ = syscall.Munmap(probe) }()
	if err := syscall.Madvise(probe, madvHugepage); err != nil {
		t.Skip("this system has no large pages on request: ", err)
	}
	if !asked(t, &probe[len(probe)/2]) {
		t.Skip("this system doesn't show which mappings asked for large pages (a user-mode emulator doesn't)")
	}
	values := MakeFloats(16 * hugePage)
	if !asked(t, (*byte)(unsafe.Pointer(&values[len(values)/2]))) {
		t.Error("the mapping that holds the values lacks the flag hg")
	}
}

// asked reports whether huge pages were requested for the mapping that contains an address.
func asked(t *testing.T, place *byte) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= uintptr(unsafe.Pointer(place)) && uintptr(unsafe.Pointer(place)) < hi
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			return strings.Contains(" "+strings.TrimSpace(flags)+" ", " hg ")
		}
	}
	t.Fatal("no mapping holds the place")
	return false
}
