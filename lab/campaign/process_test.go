//go:build campaign

package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

type job struct {
	folder string
	env    []string
	within time.Duration // time limit; default one minute
	argv   []string
	alone  bool // measure the peak memory of this process only
}

type ran struct {
	status         int // -1 if a signal ended it
	stdout, stderr string
	peak           int64 // largest resident memory in bytes
	cpu            time.Duration
	hung           bool
}

func (t *trial) start(j job) ran {
	if j.within == 0 {
		j.within = time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), j.within)
	defer cancel()
	peak := filepath.Join(t.scratch, "peak")
	if j.alone {
		j.argv = append([]string{os.Args[0], "child", "measure", peak}, j.argv...)
	}
	c := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = j.folder, append(os.Environ(), j.env...), &out, &errs
	c.WaitDelay = 10 * time.Second
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	r := ran{status: c.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(),
		cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), hung: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	if j.alone && !r.hung {
		_, err := fmt.Sscan(string(musttest.Get(os.ReadFile(peak))(t)), &r.peak)
		musttest.NoError(t, err)
	}
	return r
}

// measure runs a process for [trial.start] and writes the process's peak resident memory to a file.
// Before exec, Linux counts the memory of the parent process, so a small process must be the
// parent.
func measure(args []string) {
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends
	c := exec.Command(args[1], args[2:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Run(); c.ProcessState == nil {
		must(err)
	}
	must(os.WriteFile(args[0], fmt.Append(nil, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10), 0o600))
	os.Exit(c.ProcessState.ExitCode())
}

func (t *trial) succeed(j job) ran {
	t.Helper()
	r := t.start(j)
	if r.status != 0 {
		t.Fatalf("%q: %s", j.argv, r.said())
	}
	return r
}

// build builds a program once, like make build, but with fault injection in tiles/atomicfile.
func (t *trial) build(pkg string, flags ...string) string {
	to := filepath.Join(binaries, filepath.Base(pkg)+strings.ReplaceAll(strings.Join(flags, ""), "/", "-"))
	if _, err := os.Stat(to); err == nil {
		return to
	}
	argv := append([]string{"go", "build", "-trimpath", "-tags=campaign", "-o", to}, append(flags, pkg)...)
	t.succeed(job{folder: root, argv: argv, env: []string{"CGO_ENABLED=0"}, within: 30 * time.Minute})
	return to
}

// crashed reports whether a process hung, panicked or ended with a fatal error of the runtime.
func (r ran) crashed() bool {
	return r.hung || r.status == 2 && strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "panic:") ||
		strings.Contains(r.stderr, "fatal error:")
}

func (r ran) said() string {
	text := strings.TrimSpace(r.stderr)
	return fmt.Sprintf("exit status %d: %s", r.status, text[max(0, len(text)-400):])
}

// folder replaces the contents of the work folder by files.
func (t *trial) folder(files map[string][]byte) string {
	folder := filepath.Join(t.scratch, "work")
	musttest.NoError(t, os.RemoveAll(folder))
	musttest.NoError(t, os.Mkdir(folder, 0o777))
	for name, data := range files {
		musttest.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o666))
	}
	return folder
}

// varying matches times, and charts of times.
var varying = regexp.MustCompile(`(?s)<svg.*?</svg>|[0-9.]+`)

// contents returns the files of a folder, without the numbers in HTML pages.
func contents(folder string) map[string][]byte {
	files := map[string][]byte{}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			if files[name], _ = os.ReadFile(path); filepath.Ext(name) == ".html" {
				files[name] = varying.ReplaceAll(files[name], nil)
			}
		}
		return nil
	})
	return files
}
