package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ran is how a process ended.
type ran struct {
	status         int // -1 where a signal ended it
	stdout, stderr string
	peak           int64 // greatest resident memory in bytes, by the system's count
	processor      time.Duration
	elapsed        time.Duration
	hung           bool
}

// job is a process to run.
type job struct {
	folder string
	env    []string
	within time.Duration // where it takes longer it hangs; default a minute
	argv   []string
	alone  bool // the peak is that of the process alone, see measure
}

func init() { children["measure"] = measure }

// measure runs a process for [trial.start], and writes its greatest resident memory to a file. The system counts for a
// process what that which starts it had until then, too: so this small one starts it.
func measure(_ context.Context, args []string) error {
	runtime.LockOSThread() // the process ends with the thread that started it
	c := exec.Command(args[1], args[2:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := c.Run()
	if c.ProcessState == nil {
		return err
	}
	peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if err := os.WriteFile(args[0], fmt.Append(nil, peak), 0o600); err != nil {
		return err
	}
	os.Exit(c.ProcessState.ExitCode())
	return nil
}

// start runs a process to its end. An error says that it couldn't be run.
func (t *trial) start(ctx context.Context, j job) (ran, error) {
	if j.within == 0 {
		j.within = time.Minute
	}
	bounded, cancel := context.WithTimeout(ctx, j.within)
	defer cancel()
	peak := filepath.Join(t.scratch, "peak")
	if j.alone {
		self, err := os.Executable()
		if err != nil {
			return ran{}, err
		}
		j.argv = append([]string{self, "child", "measure", peak}, j.argv...)
	}
	c := exec.CommandContext(bounded, j.argv[0], j.argv[1:]...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = j.folder, append(os.Environ(), j.env...), &out, &errs
	c.WaitDelay = 10 * time.Second
	begin := time.Now()
	err := c.Run()
	if ctx.Err() != nil {
		return ran{}, ctx.Err()
	}
	if c.ProcessState == nil {
		return ran{}, err
	}
	r := ran{status: c.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(), elapsed: time.Since(begin)}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	r.peak, r.processor = usage.Maxrss<<10, c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	r.hung = errors.Is(bounded.Err(), context.DeadlineExceeded)
	if j.alone && !r.hung {
		text, err := os.ReadFile(peak)
		if err == nil {
			_, err = fmt.Sscan(string(text), &r.peak)
		}
		return r, err
	}
	return r, nil
}

// child runs a child of this program, which prints a result, and adds that to the trial's. Where it dies, what says
// more about it.
func (t *trial) child(ctx context.Context, folder string, argv []string, what func() string) error {
	r, err := t.start(ctx, job{folder: folder, argv: argv, within: 5 * time.Minute})
	if err != nil {
		return err
	}
	var said result
	if err := json.Unmarshal([]byte(r.stdout), &said); err != nil || r.status != 0 {
		t.find("the process ends, hung: %v, %s: %s", r.hung, what(), r.said())
		return nil
	}
	for what, n := range said.Tried {
		t.count(what, n)
	}
	for what, v := range said.Greatest {
		t.raise(what, v)
	}
	t.raise("peak resident memory in MiB", float64(r.peak)/(1<<20))
	for _, text := range said.Findings {
		t.find("%s", text)
	}
	return nil
}

// build builds a program of a module of the repository into the scratch folder, once.
func (t *trial) build(ctx context.Context, module, pkg string, flags ...string) (string, error) {
	to := filepath.Join(t.scratch, strings.NewReplacer("/", "-", ".", "").Replace(module+pkg+strings.Join(flags, "")))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	args := append([]string{"build", "-o", to}, flags...)
	env := os.Environ()
	if !slices.Contains(flags, "-race") { // as make build; others as make race, which share what they compile
		args, env = append(args, "-trimpath"), append(env, "CGO_ENABLED=0")
	}
	c := exec.CommandContext(ctx, "go", append(args, pkg)...)
	c.Dir, c.Env = filepath.Join(t.root, module), env
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", pkg, err, out)
	}
	return to, nil
}

// crashed reports whether a process ended in a way that no input and no fault excuses.
func (r ran) crashed() bool {
	return r.hung || r.status == 2 && strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "panic:") ||
		strings.Contains(r.stderr, "fatal error:")
}

// said returns the end of what a process wrote to standard error.
func (r ran) said() string {
	text := strings.TrimSpace(r.stderr)
	return fmt.Sprintf("exit status %d: %s", r.status, text[max(0, len(text)-400):])
}
