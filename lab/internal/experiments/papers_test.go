package experiments

import (
	"strings"
	"testing"
)

// Every experiment says what the list and the help promise.
func TestExperiments(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Experiments {
		if seen[e.Name] || e.Name == "" || e.Paper == "" || e.Data == "" {
			t.Errorf("%+v: a name twice, or something is missing", e)
		}
		seen[e.Name] = true
		if (e.Waits == "") != (e.Setup != nil) || e.Waits == "" && (e.Time == "" || e.Help == "") {
			t.Errorf("%s: either it waits or it has a protocol, a time and a help text", e.Name)
		}
		if found, ok := Find(e.Name); !ok || found.Name != e.Name || !strings.Contains(Names(), e.Name) {
			t.Errorf("%s isn't found", e.Name)
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("what isn't there is found")
	}
}
