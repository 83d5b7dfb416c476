package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/gramengine/gram/cluster/corpus"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// drive is one run of drive.
type drive struct {
	plan
	out, with string
	wait      time.Duration
}

func driveCommand(k job.Kind) *command {
	return &command{
		name: "drive " + k.Name(), args: "-store URL -in SOURCE -o FILE [-with COMMAND] [flags]",
		summary: k.Summary(), help: k.Help(),
		setup: func(f *flag.FlagSet) func(context.Context, *env) error {
			d := &drive{plan: plan{kind: k}}
			d.plan.declare(f)
			f.BoolVar(&d.quiet, "q", false, "say errors alone")
			f.StringVar(&d.out, "o", "", "write to `FILE`")
			f.StringVar(&d.with, "with", "", "have the shell's `COMMAND` do the task lines that it reads (default: here)")
			f.DurationVar(&d.wait, "wait", 10*time.Minute, "after COMMAND, wait as long as a result comes within `TIME`")
			return d.run
		},
	}
}

func (d *drive) run(ctx context.Context, e *env) error {
	switch {
	case d.out == "":
		return usagef("-o FILE is missing")
	case d.in == "":
		return usagef("-in SOURCE is missing")
	case d.wait < 0:
		return usagef("-wait %v is below 0", d.wait)
	case d.out == "-":
		return usagef("-o -, expected a file, which is there when all of it is")
	case sameFile(d.out, d.in):
		return usagef("-o %s would replace what -in reads, expected another file", d.out)
	}
	f, err := atomicfile.Create(d.out, "") // hours later is late to hear that there can't be one
	if err != nil {
		return err
	}
	f.Abort()
	h, planning, isa, err := d.prepare(ctx, e)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	if _, _, err := d.planner.Plan(ctx, planning); err != nil {
		return err
	}
	if planning.Digest, err = corpus.Write(ctx, h.Store, planning.Corpus); err != nil {
		return err
	}
	if planning.Corpus, err = h.Corpus(ctx, planning.Digest); err != nil { // which tasks done here share
		return err
	}
	hand := &work.Hand{
		Out: func(ctx context.Context, j *job.Job, tasks []int) error {
			if d.with == "" {
				return work.Here(ctx, jobs.Kinds, j, tasks, e.say)
			}
			if err := d.command(ctx, e, j, tasks); err != nil {
				return err
			}
			return d.await(ctx, j)
		},
		Say: func(format string, args ...any) { e.say("gramcluster: "+format, args...) },
		Begin: func(j *job.Job, n, tasks int) {
			if !d.quiet {
				e.say("job %.12s: number %d, %d of %d tasks to do", j.Digest, n, tasks, j.Tasks)
			}
		},
	}
	return d.planner.(job.Driver).Drive(ctx, &job.Driving{
		Planning: *planning, ISA: isa, Output: &job.Output{Path: d.out, Say: e.say, Progress: func(int64, int64) {}},
		Do: hand.Do,
	})
}

// sameFile says whether two paths are the same file, which is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

// command has a command do tasks, whose store and job its environment names. What it prints is printed
// to standard error. It is asked to end when ctx does.
func (d *drive) command(ctx context.Context, e *env, j *job.Job, tasks []int) error {
	var lines bytes.Buffer
	for _, t := range tasks {
		fmt.Fprintln(&lines, job.Line{Job: j.Digest, Task: t})
	}
	c := exec.CommandContext(ctx, "sh", "-c", d.with)
	c.Stdin, c.Stdout, c.Stderr = &lines, e.stderr, e.stderr
	c.Env = append(os.Environ(), "GRAM_STORE="+d.store, "GRAM_JOB="+j.Digest)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = grace / 2
	if err := c.Run(); err != nil {
		return fmt.Errorf("-with: %w", err)
	}
	return nil
}

// await waits for results that are still to come, as long as some come.
func (d *drive) await(ctx context.Context, j *job.Job) error {
	last, since := -1, time.Now()
	for {
		s, err := work.StatusOf(ctx, j, false, nil)
		if err != nil || len(s.Missing()) == 0 {
			return err
		}
		if len(s.Missing()) != last {
			last, since = len(s.Missing()), time.Now()
		}
		if time.Since(since) >= d.wait {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(time.Second, d.wait)):
		}
	}
}
