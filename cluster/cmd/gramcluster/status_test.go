package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// `status -watch` ends when all tasks are done or at ^C. It prints the number of remaining tasks.
// When tasks have finished, it also prints an estimate of the remaining time.
func TestWatch(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	const in = "synthetic:docs=500,terms=90,length=9,classes=2,seed=4"
	tasks := must(t, "", "plan", "gram", "-q", "-store", store, "-in", in, "-block-rows", "128", "-block-columns", "256")
	lines := strings.SplitAfter(strings.TrimSuffix(tasks, "\n"), "\n")
	n := len(lines)
	watch := func() (out *bufio.Scanner, ended chan int, said *bytes.Buffer) {
		r, w := io.Pipe()
		said, ended = &bytes.Buffer{}, make(chan int, 1)
		go func() {
			args := []string{"status", "-store", store, "-watch", "-every", "100ms"}
			status := run(args, strings.NewReader(""), w, said)
			w.Close()
			ended <- status
		}()
		return bufio.NewScanner(r), ended, said
	}
	until := func(out *bufio.Scanner, done int) {
		t.Helper()
		for want := fmt.Sprintf(" %d of %d tasks ", done, n); out.Scan(); {
			if strings.Contains(out.Text(), want) {
				return
			}
		}
		t.Fatalf("it ends before %d of %d tasks are done", done, n)
	}
	out, ended, said := watch()
	until(out, 0)
	must(t, strings.Join(lines[:n/2], ""), "work", "-store", store)
	until(out, n/2)
	until(out, n/2) // the same state again
	must(t, strings.Join(lines[n/2:], ""), "work", "-store", store)
	until(out, n)
	if out.Scan() {
		t.Errorf("it goes on, though all is done: %s", out.Text())
	}
	if status := <-ended; status != cli.ExitSuccess {
		t.Errorf("exit status %d, %s", status, said)
	}
	for _, want := range []string{fmt.Sprintf("%d tasks left\n", n), fmt.Sprintf("%d tasks left, about ", n-n/2)} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it says %q, expected %q", said, want)
		}
	}

	must(t, "", "clean", "-store", store, "-job", jobOf(t, tasks))
	must(t, "", "plan", "gram", "-q", "-store", store, "-in", in)
	out, ended, said = watch()
	out.Scan()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	musttest.NoError(t, err)
	for out.Scan() {
	}
	if status := <-ended; status != cli.ExitSignalBase+2 || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("interrupted: exit status %d, %s", status, said)
	}
}

// The estimate assumes the average rate since the first check.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		done, left int
		took       time.Duration
		want       string
	}{
		{0, 7, time.Hour, "7 tasks left"}, {10, 20, time.Minute, "20 tasks left, about 2m0s"},
		{1000, 1, time.Second, "1 tasks left, about 1s"}, {3, 0, time.Minute, "0 tasks left, about 1s"},
	} {
		if got := formatRemaining(c.done, c.left, c.took); got != c.want {
			t.Errorf("%d done in %v, %d left: %s, expected %s", c.done, c.took, c.left, got, c.want)
		}
	}
}
