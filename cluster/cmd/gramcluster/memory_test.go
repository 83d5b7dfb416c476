//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The peak memory of a process, as measured by the system, stays within the minimum -m that its
// error names. With less memory, the process fails before the work. If the CPUs are busy, Go's
// garbage collector may run late, so two runs may exceed the limit by up to a quarter.
func TestMemory(t *testing.T) {
	dir, program := t.TempDir(), binary(t)
	// runs returns a command's output, whether it succeeded, and its peak memory in bytes.
	runs := func(stdin string, args ...string) (out string, ok bool, peak int64) {
		t.Helper()
		debug.FreeOSMemory() // a child process inherits the parent's peak
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			t.Log(err)
		}
		c := exec.CommandContext(t.Context(), program, args...)
		var b bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &b, &b
		err := c.Run()
		if c.ProcessState == nil {
			t.Fatal(err)
		}
		return b.String(), err == nil, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	needs := regexp.MustCompile(`needs ([0-9.]+) MiB of memory.*(?:-m allows|limit is) ([0-9.]+) MiB`)
	// within runs a command with the minimum -m that its error names, and checks the peak memory.
	// done is a folder of results to remove before a retry.
	within := func(what, done, stdin string, args ...string) string {
		t.Helper()
		limit := int64(64 << 20)
		for above := 0; ; {
			with := append([]string{args[0]}, append(args[1:], "-m", fmt.Sprint(float64(limit)/(1<<20)))...)
			out, ok, peak := runs(stdin, with...)
			if ok {
				t.Logf("%s: peak %.0f MiB of %.0f MiB", what, float64(peak)/(1<<20), float64(limit)/(1<<20))
				if peak <= limit {
					return out
				}
				if above++; above > 2 || peak > limit+limit/4 {
					t.Errorf("%s: peak %d bytes, -m allows %d", what, peak, limit)
					return out
				}
				musttest.NoError(t, os.RemoveAll(done))
				continue
			}
			found := needs.FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("%s with -m of %d bytes: %s, expected what is needed", what, limit, out)
			}
			need, err := strconv.ParseFloat(found[1], 64)
			allowed, err2 := strconv.ParseFloat(found[2], 64)
			if err != nil || err2 != nil || need < allowed {
				t.Fatalf("%s with -m of %d bytes: %s", what, limit, out)
			}
			limit += int64((1.01*(need-allowed) + 1) * (1 << 20)) // 1% more, because the message has only three digits
			if limit > 1<<30 {
				t.Fatalf("%s: each answer asks for more", what)
			}
		}
	}
	const many = "synthetic:docs=12000,terms=60000,length=150,classes=20,seed=1"
	model := filepath.Join(dir, "model")
	tasks, _, _ := runs("", "plan", "train", "-q", "-store", dir+"/few", "-in",
		"synthetic:docs=2000,terms=60000,length=150,classes=4,seed=1", "-kernel", "diffusion:t=0.5", "-tasks", "1")
	if out, ok, _ := runs(tasks, "work", "-store", dir+"/few"); !ok {
		t.Fatal(out)
	}
	if out, ok, _ := runs("", "gather", "-store", dir+"/few", "-o", model); !ok {
		t.Fatal(out)
	}
	for _, c := range []struct {
		flags, out string
		tasks      int // number of tasks to run; 0 for all, which gather needs
	}{
		{"gram", "K.npy", 0}, {"neighbours", "near.tsv", 0}, {"predict -model " + model, "labels.txt", 0},
		{"train -kernel linear -tasks 4", "", 1}, // search divides memory like train
	} {
		kind, _, _ := strings.Cut(c.flags, " ")
		store := filepath.Join(dir, kind)
		plan := append([]string{"plan"}, strings.Fields(c.flags)...)
		plan = append(plan, "-q", "-store", store, "-in", many, "-workers", "2")
		within("plan "+kind, "", "", plan...)
		tasks, _, _ := runs("", plan...)
		if c.tasks > 0 {
			tasks = strings.Join(strings.SplitAfter(tasks, "\n")[:c.tasks], "")
		}
		within("work "+kind, filepath.Join(store, "results"), tasks, "work", "-store", store, "-workers", "2")
		if c.out != "" {
			within("gather "+kind, "", "", "gather", "-store", store, "-o", filepath.Join(dir, c.out), "-workers", "2")
		}
	}
	const limit = 220
	out, ok, peak := runs("", "drive", "landmarks", "-store", dir+"/drive", "-in", many, "-landmarks", "300", "-m",
		fmt.Sprint(limit), "-o", model)
	if !ok || peak > limit<<20 {
		t.Errorf("drive: peak %d bytes of %d MiB, %s", peak, limit, out)
	}
}
