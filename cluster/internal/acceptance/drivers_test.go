//go:build unix

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/internal/servers"
	"github.com/gramengine/gram/internal/musttest"
)

// TestSpark runs all kinds of jobs on a Spark cluster of two workers, and kills the first process.
func TestSpark(t *testing.T) {
	servers.RequireServers(t) // before planning
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	var jobs []*job
	var tasks strings.Builder
	for i, k := range kinds {
		jobs = append(jobs, plan(t, store, k))
		tasks.WriteString(jobs[i].tasks)
	}
	lines := filepath.Join(dir, "tasks.jsonl")
	musttest.NoError(t, os.WriteFile(lines, []byte(tasks.String()), 0o644))
	program, once := filepath.Join(dir, "program"), filepath.Join(dir, "killed")
	script := fmt.Sprintf("#!/bin/sh\nmkdir %s 2>/dev/null && kill -9 $$\nexec gramcluster \"$@\"\n", once)
	musttest.NoError(t, os.WriteFile(program, []byte(script), 0o755))
	c := servers.StartSpark(t, 2)
	out, log, err := c.Submit("../../spark/gram.py", store, lines, program)
	if err != nil {
		t.Fatalf("spark-submit: %v\n%s\n%s", err, out, log)
	}
	if _, err := os.Stat(once); err != nil || !strings.Contains(log, "Lost task") {
		t.Errorf("no process was killed: %v", err)
	}
	if want := fmt.Sprintf(`{"done": %d}`, strings.Count(tasks.String(), "\n")); strings.TrimSpace(out) != want {
		t.Errorf("gram.py prints %s, expected %s", out, want)
	}
	for _, j := range jobs {
		j.check(t)
	}
}
