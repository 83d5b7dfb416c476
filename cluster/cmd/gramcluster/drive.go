package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
)

type driveFlags struct {
	planFlags
	out, shellCommand string
	wait              time.Duration
}

func driveCommand() *cli.Command {
	return &cli.Command{
		Name: "drive", Summary: "run a computation of several jobs: " + strings.Join(kindNames("drive"), ", "),
		Help: kindHelp("drive", `
Plans a computation of several jobs, each from the results of those before, has a command of yours
do their tasks, and writes what comes of it. Killed and started again with the same flags, it goes
on.`),
		NoJSON: true,
		Setup: func(f *cli.Flags) cli.RunFunc {
			d := &driveFlags{}
			d.planFlags.declare(f)
			f.StartGroup("Output", "")
			f.OutputVar(&d.out, "o", "write to `FILE`")
			f.StartGroup("Computing", "")
			f.StringVar(&d.shellCommand, "with", "",
				"shell `COMMAND` that runs the tasks on standard input (default: this process)")
			f.DurationVar(&d.wait, "wait", 10*time.Minute, "wait up to `TIME` for another result after COMMAND ends")
			f.AddCheck(d.check)
			selectKind(f, "drive", "-store URL -in SOURCE -o FILE [-with COMMAND] [flags]", d.setKind)
			return d.run
		},
	}
}

func (d *driveFlags) check() error {
	switch {
	case d.out == "":
		return cli.Usagef("-o FILE is required")
	case d.documents.Source == "":
		return cli.Usagef("-in SOURCE is required")
	case d.wait < 0:
		return cli.Usagef("-wait must be nonnegative, got %v", d.wait)
	case d.out == "-":
		return cli.Usagef("-o must be a file, not standard output")
	}
	return nil
}

func (d *driveFlags) run(ctx context.Context, e *cli.Env) error {
	h, planning, err := d.prepare(ctx, e)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	if _, _, err := d.planner.Plan(ctx, planning); err != nil {
		return err
	}
	if planning.CorpusDigest, err = shards.Write(ctx, h.Store, planning.Corpus); err != nil {
		return err
	}
	// Use the host's copy of the documents, which the tasks in this process share.
	if planning.Corpus, err = h.Corpus(ctx, planning.CorpusDigest); err != nil {
		return err
	}
	failed := func(format string, args ...any) { logMessage(e, format, args...) }
	hand := &work.Dispatcher{
		RunTasks: func(ctx context.Context, j *job.Job, tasks []int) error {
			if d.shellCommand == "" {
				return work.RunLocal(ctx, jobs.Kinds, j, tasks, failed)
			}
			if err := d.command(ctx, e, j, tasks); err != nil {
				return err
			}
			return d.await(ctx, j)
		},
		Logf: func(format string, args ...any) { failed("gramcluster: "+format, args...) },
		OnStart: func(j *job.Job, n, tasks int) {
			logUnlessQuiet(e, "job %d, %.12s: %d of %d tasks left", n, j.Digest, tasks, j.NumTasks)
		},
	}
	return d.planner.(job.Driver).Drive(ctx, &job.DriveArgs{
		PlanArgs: *planning, ISA: d.isa, RunJob: hand.Run,
		Output: &job.Output{Path: d.out, Progress: func(int64, int64) {},
			Logf: func(format string, args ...any) { logUnlessQuiet(e, format, args...) }},
	})
}

// command runs the shell command of -with. The shell command reads the tasks from standard input,
// one line per task. Its environment variables GRAM_STORE and GRAM_JOB hold the store's address and
// the job's digest. Output goes to standard error. When ctx is done, the shell receives SIGTERM.
func (d *driveFlags) command(ctx context.Context, e *cli.Env, j *job.Job, tasks []int) error {
	var lines bytes.Buffer
	for _, t := range tasks {
		fmt.Fprintln(&lines, job.TaskLine{Job: j.Digest, Task: t})
	}
	c := exec.CommandContext(ctx, "sh", "-c", d.shellCommand)
	c.Stdin, c.Stdout, c.Stderr = &lines, e.Stderr, e.Stderr
	c.Env = append(os.Environ(), "GRAM_STORE="+d.store, "GRAM_JOB="+j.Digest)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = cli.GracePeriod / 2
	if err := c.Run(); err != nil {
		return fmt.Errorf("-with: %w", err)
	}
	return nil
}

// await waits until all results exist, or until no result has arrived for the duration d.wait.
func (d *driveFlags) await(ctx context.Context, j *job.Job) error {
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
