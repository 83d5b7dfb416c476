package bench

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Lists of workers may double, and end with all.
func TestWorkerList(t *testing.T) {
	for text, want := range map[string]string{"1,2,...,16": "1,2,4,8,16", "1,…,5": "1,2,4,5", "3": "3", "2,1": "2,1"} {
		var l workerList
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%s: %s, %v, expected %s", text, &l, err, want)
		}
	}
	var all, zero workerList
	if all.Set("1,...,all") != nil || zero.Set("0") != nil || all[len(all)-1] != zero[0] {
		t.Errorf("all are %v and %v", all, zero)
	}
	for _, wrong := range []string{"...", "1,...", "1,1", "x", "-1", ""} {
		var l workerList
		musttest.WantError(l.Set(wrong))(t, wrong)
	}
}
