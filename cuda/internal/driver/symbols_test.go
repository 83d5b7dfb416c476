package driver

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// slots.h is what gen.sh makes of symbols.txt.
func TestSlots(t *testing.T) {
	list, err := os.ReadFile("symbols.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	slices.Sort(names)
	var want strings.Builder
	i := 0
	for _, name := range slices.Compact(names) {
		if name != "cuInit" {
			fmt.Fprintf(&want, "F(%d,%s)\n", i, name)
			i++
		}
	}
	have, err := os.ReadFile("slots.h")
	if err != nil || string(have) != want.String() {
		t.Errorf("slots.h isn't that of symbols.txt; gen.sh writes it anew (error %v)", err)
	}
}
