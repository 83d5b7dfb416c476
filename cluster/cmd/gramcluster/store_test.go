package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
)

// Only plan creates a store, after all other checks. Other commands report a missing store.
func TestMistypedStore(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "mistyped")
	for args, want := range map[string]string{
		"work": "there is no store in " + none, "work -job 0": "there is no store in " + none,
		"gather -o x": "there is no store in " + none, "gather -missing": "there is no store in " + none,
		"status": "there is no store in " + none, "clean -unused": "there is no store in " + none,
		"plan gram -in /nowhere": "/nowhere", "plan gram -in synthetic:docs=20 -kernel nonsense": "nonsense",
		"plan train -in synthetic:docs=20 -tasks 0":                       "-tasks must be positive, got 0",
		"drive landmarks -in synthetic:docs=20 -o " + dir + "/x -tasks 0": "-tasks must be positive, got 0",
		"plan gram": "-in SOURCE is required",
	} {
		status, stdout, stderr := cluster(t, "", append(strings.Fields(args), "-store", none)...)
		if status != cli.ExitFailure || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s%s, expected %s", args, status, stdout, stderr, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	must(t, "", "plan", "gram", "-in", "synthetic:docs=20", "-store", none)
	if _, stdout, _ := cluster(t, "", "status", "-store", none); !strings.Contains(stdout, "0 of 1 tasks") {
		t.Errorf("status: %s", stdout)
	}
	// If the list of missing tasks can't be written, the command fails.
	var errs bytes.Buffer
	if status := run([]string{"gather", "-missing", "-store", none}, nil, full{}, &errs); status != cli.ExitFailure {
		t.Errorf("status %d, %s", status, &errs)
	}
}

// At the end of a pipe, `gramcluster work` waits until plan has created the store.
func TestPipe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	lines, planned := io.Pipe()
	done := make(chan string)
	go func() {
		var out, errs bytes.Buffer
		run([]string{"work", "-store", dir}, lines, &out, &errs)
		lines.Close()
		done <- out.String() + errs.String()
	}()
	tasks := must(t, "", "plan", "gram", "-in", "synthetic:docs=20", "-store", dir)
	if _, err := io.WriteString(planned, tasks); err != nil {
		t.Errorf("work ended before: %v", err)
	}
	planned.Close()
	if out := <-done; !strings.Contains(out, `"state":"done"`) {
		t.Errorf("work: %s", out)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Misplaced credentials aren't printed.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	must(t, "", "plan", "gram", "-in", "synthetic:docs=20", "-store", dir)
	for _, args := range []string{
		"status s3://me:hushhush@bucket", "s3://me:hushhush@bucket", "work -store s3://me:hushhush@bucket",
		"work -store me:hushhush@bucket", "gather -store DIR -o x -job s3://me:hushhush@bucket",
		"work -store DIR -job sig=hushhush", "plan gram -store DIR -in s3://me:hushhush@bucket/x",
		"plan gram -store DIR -in https://host/x?sig=hushhush", "plan predict -store DIR -in x -model s3://me:hushhush@b/m",
		"status -every s3://me:hushhush@bucket", "plan s3://me:hushhush@bucket", "help s3://me:hushhush@bucket",
		"plan gram -store DIR -in synthetic:docs=20 -kernel s3://me:hushhush@b", "drive s3://me:hushhush@bucket",
	} {
		status, stdout, stderr := cluster(t, "", strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)
		if status == cli.ExitSuccess || strings.Contains(stdout+stderr, "hushhush") {
			t.Errorf("%s: status %d, %s%s", args, status, stdout, stderr)
		}
	}
	lines := "s3://me:hushhush@bucket\n{\"job\":\"sig=hushhush\",\"task\":0}\n"
	status, stdout, _ := cluster(t, lines, "work", "-store", dir)
	if status == cli.ExitSuccess || strings.Contains(stdout, "hushhush") {
		t.Errorf("task lines: status %d, %s", status, stdout)
	}
}
