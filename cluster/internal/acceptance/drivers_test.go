//go:build unix

package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/internal/servers"
	"github.com/gramengine/gram/internal/musttest"
)

// TestSpark runs all kinds of jobs on a Spark cluster of two workers, and kills the first process.
func TestSpark(t *testing.T) {
	servers.Need(t) // before planning
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	var jobs []*job
	var tasks strings.Builder
	for i, k := range kinds {
		jobs = append(jobs, plan(t, store, k))
		tasks.WriteString(jobs[i].tasks)
	}
	lines := filepath.Join(dir, "tasks.jsonl")
	musttest.Do(t, os.WriteFile(lines, []byte(tasks.String()), 0o644))
	program, once := filepath.Join(dir, "program"), filepath.Join(dir, "killed")
	script := fmt.Sprintf("#!/bin/sh\nmkdir %s 2>/dev/null && kill -9 $$\nexec gramcluster \"$@\"\n", once)
	musttest.Do(t, os.WriteFile(program, []byte(script), 0o755))
	c := servers.Spark(t, 2)
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

// TestSlurm runs the array's script as Slurm does for --array=1-4, except for one element, which is
// submitted again alone.
func TestSlurm(t *testing.T) {
	j := plan(t, filepath.Join(t.TempDir(), "store"), kinds[0])
	element := func(i int) {
		cmd := exec.Command("bash", "../../slurm/gram.sbatch")
		cmd.Env = append(os.Environ(), "GRAM_STORE="+j.store, "GRAM_JOB="+j.digest[:12], "GRAM_SHARDS=4",
			fmt.Sprint("SLURM_ARRAY_TASK_ID=", i), "SLURM_CPUS_PER_TASK=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("element %d: %v\n%s", i, err, out)
		}
	}
	for i := 1; i <= 3; i++ {
		element(i)
	}
	missing := run(t, "", "gramcluster", "status", "-store", j.store, "-json")
	tasks := strings.Count(j.tasks, "\n")
	if want := fmt.Sprintf(`"stored":%d,`, tasks-(tasks+3)/4); !strings.Contains(missing, want) { // all but 0, 4, …
		t.Errorf("3 of 4 elements have done %s, expected %s of %d", missing, want, tasks)
	}
	element(4)
	j.check(t)
}

// TestXargs and TestParallel run the scripts for a single computer.
func TestXargs(t *testing.T) { script(t, "../../parallel/xargs.sh") }

func TestParallel(t *testing.T) {
	servers.Need(t)
	out, err := exec.Command("parallel", "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "GNU parallel") {
		t.Fatalf("no GNU parallel: %v", err)
	}
	script(t, "../../parallel/parallel.sh")
}

func script(t *testing.T, path string) {
	dir := t.TempDir()
	j := plan(t, filepath.Join(dir, "store"), kinds[0])
	lines := filepath.Join(dir, "tasks.jsonl")
	musttest.Do(t, os.WriteFile(lines, []byte(j.tasks), 0o644))
	if count := states(t, run(t, "", path, j.store, lines, "2")); count["done"] != strings.Count(j.tasks, "\n") ||
		len(count) != 1 {
		t.Errorf("%v, expected all tasks to be done", count)
	}
	j.check(t)
}
