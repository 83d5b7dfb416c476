package backend

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/run"
)

// The budget is -m within the process limits, or three quarters of the minimum for the host,
// control groups and process limits. Errors name the limit, which is read once.
func TestBudget(t *testing.T) {
	none := run.MemoryLimit{}
	machine := run.MemoryLimit{FreeBytes: 4000 << 20, Source: "the machine"}
	group := run.MemoryLimit{FreeBytes: 400 << 20, Source: "memory.max of a control group", TotalBytes: 500 << 20}
	process := run.MemoryLimit{FreeBytes: 200 << 20, Source: "ulimit -v", TotalBytes: 2 << 30}
	short := run.MemoryLimit{FreeBytes: -1, Source: "ulimit -v", TotalBytes: 1 << 30}
	for name, c := range map[string]struct {
		m            cli.ByteSize
		all, process run.MemoryLimit
		want         int64
		says         string
	}{
		"nothing known":        {0, none, none, 0, ""},
		"the machine":          {0, machine, none, 3000 << 20, "75% of the free memory is 2.93 GiB (use -m"},
		"a group":              {0, group, none, 300 << 20, "memory.max of a control group leaves is 300 MiB (use -m"},
		"a limit":              {0, process, process, 150 << 20, "75% of the memory that ulimit -v leaves is 150 MiB"},
		"-m":                   {1 << 30, group, none, 1 << 30, "-m allows 1 GiB"},
		"-m within a limit":    {100 << 20, process, process, 100 << 20, "-m allows 100 MiB"},
		"-m beyond a limit":    {1 << 30, process, process, 200 << 20, "ulimit -v leaves 200 MiB"},
		"a limit of nothing":   {0, short, short, 1, "75% of the memory that ulimit -v leaves is 1 B"},
		"-m, and nothing":      {1 << 30, short, short, 1, "ulimit -v leaves 0 B"},
		"-m, nothing is known": {1 << 30, none, none, 1 << 30, "-m allows 1 GiB"},
	} {
		asked := 0
		l := Limits{Memory: c.m}
		l.DeclareMemory(cli.NewFlags("test"))
		l.Memory = c.m
		l.systemLimits = func() (all, process run.MemoryLimit) { asked++; return c.all, c.process }
		if got := l.Budget(); got != c.want {
			t.Errorf("%s: a budget of %d bytes, expected %d", name, got, c.want)
		}
		err := l.CheckMemory("a matrix", 5000<<20)
		if (err == nil) != (c.want == 0) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, expected %q in it", name, err, c.says)
		}
		if err := l.CheckMemory("a matrix", c.want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if asked == 0 {
			t.Errorf("%s: nobody was asked", name)
		}
	}
	l := Limits{}
	l.DeclareMemory(cli.NewFlags("test"))
	if a, b := l.Budget(), l.Budget(); a != b {
		t.Errorf("the budget is %d bytes, then %d", a, b)
	}
}
