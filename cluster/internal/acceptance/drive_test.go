//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/cluster/internal/servers"
	"github.com/gramengine/gram/internal/musttest"
)

// driving trains a landmark model, in several passes with three tasks each.
var driving = &kind{"landmarks", []string{"-landmarks", "40", "-loss", "logistic", "-tasks", "3"},
	"landmarks.model", []string{"train", "-type", "landmark:m=40,loss=logistic"},
	"synthetic:docs=1300,terms=900,length=40,classes=3,seed=5"}

// driven runs drive with a shell command for workers, and compares the model with gram's model.
func driven(t *testing.T, store, with string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), driving.out)
	args := append([]string{"drive", "landmarks", "-q", "-store", store, "-in", driving.source(), "-o", path, "-wait",
		"0s", "-with", with}, driving.plan...)
	run(t, "", "gramcluster", args...)
	if !bytes.Equal(read(t, driving.name, path), want(t, driving)) {
		t.Error("the model isn't what gram writes")
	}
}

// TestDriveXargs, TestDriveParallel, TestDriveSlurm and TestDriveSpark use the scripts for these
// schedulers.
func TestDriveXargs(t *testing.T) {
	dir := t.TempDir()
	driven(t, filepath.Join(dir, "store"), "cat >"+dir+"/pass && ../../parallel/xargs.sh $GRAM_STORE "+dir+"/pass 2")
}

func TestDriveParallel(t *testing.T) {
	servers.RequireServers(t)
	dir := t.TempDir()
	driven(t, filepath.Join(dir, "store"), "cat >"+dir+"/pass && ../../parallel/parallel.sh $GRAM_STORE "+dir+"/pass 2")
}

func TestDriveSlurm(t *testing.T) {
	dir := t.TempDir()
	// This sbatch supports only --wait and runs elements in sequence, without standard input.
	sbatch := "#!/bin/sh\ntest \"$1\" = --wait || exit 2\n" +
		"for i in 0 1 2; do SLURM_ARRAY_TASK_ID=$i bash $2 </dev/null || exit; done\n"
	musttest.NoError(t, os.WriteFile(filepath.Join(dir, "sbatch"), []byte(sbatch), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("GRAM_SHARDS", "3")
	driven(t, filepath.Join(dir, "store"), "sbatch --wait ../../slurm/gram.sbatch")
}

// TestDriveSpark runs drive on a Spark cluster of two workers, and kills the first process.
func TestDriveSpark(t *testing.T) {
	c := servers.StartSpark(t, 2)
	dir := t.TempDir()
	path, program, once := filepath.Join(dir, driving.out), filepath.Join(dir, "program"), filepath.Join(dir, "killed")
	script := fmt.Sprintf("#!/bin/sh\ntest $1 = work && mkdir %s 2>/dev/null && kill -9 $$\n"+
		"exec gramcluster \"$@\"\n", once)
	musttest.NoError(t, os.WriteFile(program, []byte(script), 0o755))
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
