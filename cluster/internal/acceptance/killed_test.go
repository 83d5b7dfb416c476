//go:build unix

package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

var kills = flag.Int("kills", 10, "TestKilled: how many runs")

// long has 42 tasks that take several milliseconds each.
var long = &kind{"gram", []string{"-kernel", "diffusion:t=0.5", "-block-rows", "128", "-block-columns", "256"}, "K.npy",
	[]string{"matrix", "-kernel", "diffusion:t=0.5"}, "synthetic:docs=1500,terms=9000,length=400,classes=4,seed=5"}

// TestKilled kills two processes that run the same tasks, up to three times at random times, and
// then gather. Acknowledged results must exist. The final matrix must equal gram's matrix.
func TestKilled(t *testing.T) {
	n := *kills
	planned := filepath.Join(t.TempDir(), "planned")
	j := plan(t, planned, long)
	lines := slices.Collect(strings.Lines(j.tasks))
	back := slices.Clone(lines)
	slices.Reverse(back)
	tasks := []string{j.tasks, strings.Join(back, "")}
	first := *j
	first.store = filepath.Join(t.TempDir(), "store")
	copied(t, planned, first.store)
	begin := time.Now() // delays are fractions of the time of an undisturbed process
	run(t, j.tasks, "gramcluster", "work", "-store", first.store, "-workers", "1")
	span := time.Since(begin)
	first.check(t)
	cut := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 5)) // times still vary between runs
		own := *j
		own.store = filepath.Join(t.TempDir(), "store")
		copied(t, planned, own.store)
		acknowledged := map[int]bool{}
		for range 3 {
			done := make(chan map[int]bool)
			for w := range tasks {
				delay := time.Duration((0.25 + rng.Float64()/2) * float64(span))
				go func() { done <- workUntil(t, own.store, tasks[w], delay) }()
			}
			for range tasks {
				found := <-done
				for task := range found {
					acknowledged[task] = true
				}
			}
			if len(acknowledged) > 0 && len(acknowledged) < len(lines) {
				cut++
			}
			// check now, because the next round may repair a loss
			for line := range strings.Lines(run(t, "", "gramcluster", "gather", "-missing", "-store", own.store)) {
				var missing struct{ Task int }
				musttest.NoError(t, json.Unmarshal([]byte(line), &missing))
				if acknowledged[missing.Task] {
					t.Errorf("run %d: task %d was acknowledged, and is missing", i, missing.Task)
				}
			}
		}
		run(t, j.tasks, "gramcluster", "work", "-store", own.store, "-workers", "1")
		path := filepath.Join(t.TempDir(), "killed.npy")
		gather := exec.Command("gramcluster", "gather", "-q", "-store", own.store, "-o", path)
		killAfter(t, gather, time.Duration(20+rng.IntN(40))*time.Millisecond)
		own.check(t)
		b, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(b, want(t, long)) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("run %d: gather was killed and left %d bytes, error %v", i, len(b), err)
		}
		os.RemoveAll(own.store)
	}
	if n >= 100 && cut == 0 { // about four of a hundred rounds stop in between
		t.Error("nothing was cut between the first and the last task: processes end too early or too late")
	}
	t.Logf("%d runs, %d processes killed, %d times with some of the tasks done", n, killed.Load(), cut)
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	musttest.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

// workUntil runs work and kills it after delay. It returns the acknowledged tasks.
func workUntil(t *testing.T, store, tasks string, delay time.Duration) map[int]bool {
	cmd := exec.Command("gramcluster", "work", "-store", store, "-workers", "1")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = strings.NewReader(tasks), &out
	killAfter(t, cmd, delay)
	found := map[int]bool{}
	for line := range strings.Lines(out.String()) {
		var r struct {
			Task  int
			State string
		}
		if !strings.HasSuffix(line, "\n") {
			break
		}
		musttest.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.State == "failed" {
			t.Error(line)
		}
		found[r.Task] = true
	}
	return found
}

var killed atomic.Int64

func killAfter(t *testing.T, cmd *exec.Cmd, delay time.Duration) {
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	if !cmd.ProcessState.Exited() {
		killed.Add(1)
	}
}
