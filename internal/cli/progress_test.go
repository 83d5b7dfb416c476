package cli

import (
	"strings"
	"testing"
)

// A detail is omitted completely if it doesn't fit.
func TestDetailsFit(t *testing.T) {
	parts := []string{"gap 0.012", "123 k steps", "1,000 of 1,131 active", "88% of rows at hand"}
	whole := appendDetails("training", parts, 1000)
	for room := range len(whole) + 1 {
		line := appendDetails("training", parts, room)
		if len(line) > max(room, len("training")) || !strings.HasPrefix(whole+", ", line+", ") {
			t.Errorf("%d columns: %q", room, line)
		}
	}
	if appendDetails("training", parts, len(whole)) != whole || !strings.Contains(whole, "rows at hand") {
		t.Errorf("with room for all it says %q", whole)
	}
}
