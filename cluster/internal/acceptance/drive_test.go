//go:build unix

package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gramengine/gram/cluster/internal/servers"
	"github.com/gramengine/gram/internal/musttest"
)

// driving is a training with landmarks, with a few passes of three tasks each.
var driving = &kind{"landmarks", []string{"-landmarks", "40", "-loss", "logistic", "-tasks", "3"},
	"landmarks.model", []string{"train", "-type", "landmark:m=40,loss=logistic"},
	"synthetic:docs=1300,terms=900,length=40,classes=3,seed=5"}

// drive returns the driver's command; with is the shell command for workers.
func drive(store, out, with string) *exec.Cmd {
	args := append([]string{"drive", "landmarks", "-q", "-store", store, "-in", driving.source(), "-o", out, "-wait", "0s",
		"-with", with}, driving.plan...)
	return exec.Command("gramcluster", args...)
}

// driven runs drive to its end and compares the model with that of gram.
func driven(t *testing.T, store, with string) (log string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), driving.out)
	out, err := drive(store, path, with).CombinedOutput()
	if err != nil {
		t.Fatalf("drive: %v\n%s", err, out)
	}
	if !bytes.Equal(read(t, driving.name, path), want(t, driving)) {
		t.Error("the model isn't what gram writes")
	}
	return string(out)
}

const here = `gramcluster work -store "$GRAM_STORE" -workers 1`

// TestDriveKilled runs two drivers on the same store, and kills both at random times, up to three
// times, and most of their workers. Then one driver finishes: acknowledged results exist, and the
// model equals that of gram.
func TestDriveKilled(t *testing.T) {
	n := max(*kills/5, 1)
	begin := time.Now()
	driven(t, filepath.Join(t.TempDir(), "store"), here)
	span := time.Since(begin)
	// Workers live for 10 to 130 ms.
	const mortal = `timeout --foreground -s KILL 0.$(printf %03d $(($(od -An -N1 -tu1 /dev/urandom) / 2 + 10))) ` + here
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 6)) // times still vary between runs
		dir := t.TempDir()
		store := filepath.Join(dir, "store")
		var logs [2]bytes.Buffer
		for round := range 3 {
			var wg sync.WaitGroup
			for w := range logs {
				path := filepath.Join(dir, fmt.Sprint(w, ".model"))
				cmd, delay := drive(store, path, mortal), time.Duration((0.1+rng.Float64()/2)*float64(span))
				cmd.Stderr = &logs[w] // workers that outlive the driver write to it, too
				wg.Go(func() {
					killAfter(t, cmd, delay)
					if b, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(b, want(t, driving)) {
						t.Errorf("run %d, round %d: a driver left %d bytes, error %v", i, round, len(b), err)
					}
				})
			}
			wg.Wait()
		}
		var lines strings.Builder
		count := 0
		for _, line := range strings.SplitAfter(logs[0].String()+logs[1].String(), "\n") {
			var r struct {
				Job, State string
				Task       int
			}
			if json.Unmarshal([]byte(line), &r) == nil && (r.State == "done" || r.State == "there") {
				fmt.Fprintf(&lines, "{\"job\":%q,\"task\":%d}\n", r.Job, r.Task)
				count++
			}
		}
		if count > 0 { // on a slow computer, all may be killed before the store exists
			found := states(t, run(t, lines.String(), "gramcluster", "work", "-store", store))
			if found["there"] != count {
				t.Errorf("run %d: %d tasks were acknowledged, of which are %v", i, count, found)
			}
		}
		driven(t, store, here)
	}
	t.Logf("%d runs, %d processes killed in this test and those before", n, killed.Load())
}

// TestDriveXargs, TestDriveParallel, TestDriveSlurm and TestDriveSpark use schedulers' scripts.
func TestDriveXargs(t *testing.T) {
	dir := t.TempDir()
	driven(t, filepath.Join(dir, "store"), "cat >"+dir+"/pass && ../../parallel/xargs.sh $GRAM_STORE "+dir+"/pass 2")
}

func TestDriveParallel(t *testing.T) {
	servers.Need(t)
	dir := t.TempDir()
	driven(t, filepath.Join(dir, "store"), "cat >"+dir+"/pass && ../../parallel/parallel.sh $GRAM_STORE "+dir+"/pass 2")
}

func TestDriveSlurm(t *testing.T) {
	dir := t.TempDir()
	// This sbatch supports only --wait and runs elements in sequence, without standard input.
	sbatch := "#!/bin/sh\ntest \"$1\" = --wait || exit 2\n" +
		"for i in 0 1 2; do SLURM_ARRAY_TASK_ID=$i bash $2 </dev/null || exit; done\n"
	musttest.Do(t, os.WriteFile(filepath.Join(dir, "sbatch"), []byte(sbatch), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("GRAM_SHARDS", "3")
	driven(t, filepath.Join(dir, "store"), "sbatch --wait ../../slurm/gram.sbatch")
}

// TestDriveSpark runs drive on a Spark cluster of two workers, and kills the first process.
func TestDriveSpark(t *testing.T) {
	c := servers.Spark(t, 2)
	dir := t.TempDir()
	path, program, once := filepath.Join(dir, driving.out), filepath.Join(dir, "program"), filepath.Join(dir, "killed")
	script := fmt.Sprintf("#!/bin/sh\ntest $1 = work && mkdir %s 2>/dev/null && kill -9 $$\n"+
		"exec gramcluster \"$@\"\n", once)
	musttest.Do(t, os.WriteFile(program, []byte(script), 0o755))
	store := filepath.Join(dir, "store")
	args := append([]string{program, "landmarks", "-store", store, "-in", driving.source(), "-o", path}, driving.plan...)
	if out, log, err := c.Submit("../../spark/drive.py", args...); err != nil {
		t.Fatalf("spark-submit: %v\n%s\n%s", err, out, log)
	}
	if !bytes.Equal(read(t, driving.name, path), want(t, driving)) {
		t.Error("the model isn't what gram writes")
	}
	if _, err := os.Stat(once); err != nil {
		t.Errorf("no process was killed: %v", err)
	}
	driven(t, store, "exit 3") // all results exist
}
