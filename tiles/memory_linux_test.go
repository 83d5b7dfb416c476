package tiles

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// The system knows of the wish: the mapping that holds the middle of the values has the flag hg.
func TestMakeAsksForLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this kernel has no large pages: ", err)
	}
	values := Make(16 * hugePage)
	middle := uintptr(unsafe.Pointer(&values[len(values)/2]))
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= middle && middle < hi
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			if !strings.Contains(" "+strings.TrimSpace(flags)+" ", " hg ") {
				t.Errorf("the mapping has the flags%s expected hg among them", flags)
			}
			return
		}
	}
	t.Error("no mapping holds the values")
}
